// How dear it is to bring one action to many followers: the hub's way, one buffer that all share,
// against the plain way, one serialisation for each follower, in one run.
#include "actors/core/channel.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/jsonrpc/message.hpp"
#include "tests/support/bench_report.hpp"

#include <algorithm>
#include <ctime>
#include <memory>
#include <vector>

using namespace ahpd;

namespace {

constexpr int followers = 200;
constexpr int deltas = 1'000;
constexpr int rounds = 5;

/// A socket that takes frames and lets them go.
struct sink : transport::websocket {
  std::uint64_t bytes = 0;
  void send(transport::frame text, transport::message_kind) override { bytes += text->size(); }
  void when_taken(std::function<void()>) override {}
  void grant(std::size_t) override {}
  void close(std::uint16_t, std::string_view) override {}
  std::size_t queued_bytes() const override { return 0; }
};

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

json::value delta() {
  return ahp::build::delta("t", "p", std::string(100, 'x'));
}

json::value chat() {
  auto state = ahp::build::chat_state("ahp-chat:/c", "c", 0, json::object{{"kind", "user"}});
  state.as_object()["activeTurn"] =
    json::object{{"id", "t"}, {"responseParts", {ahp::build::text_part("markdown", "p")}}};
  return state;
}

double shared_buffer(const std::vector<std::shared_ptr<sink>>& sockets) {
  core::sequencer order(0, core::sequencer::block, {});
  core::channel channel(ahp::channel_kind::chat, "ahp-chat:/c", chat());
  for (const auto& s : sockets)
    order.follow(channel, {"ahp-chat:/c", std::make_shared<core::outbox>(s), {}, 0});
  const auto began = cpu_seconds();
  for (int i = 0; i < deltas; ++i)
    order.publish(channel, delta());
  return cpu_seconds() - began;
}

double one_each(const std::vector<std::shared_ptr<sink>>& sockets) {
  auto state = chat();
  const auto began = cpu_seconds();
  for (int i = 0; i < deltas; ++i) {
    const auto action = delta();
    ahp::reduce(ahp::channel_kind::chat, state, action);
    for (const auto& s : sockets)
      s->send(std::make_shared<const std::string>(jsonrpc::notification_frame(
        "action", {{"channel", "ahp-chat:/c"}, {"action", action}, {"serverSeq", i}})));
  }
  return cpu_seconds() - began;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::shared_ptr<sink>> sockets;
  for (int i = 0; i < followers; ++i)
    sockets.push_back(std::make_shared<sink>());
  std::vector<double> ours;
  std::vector<double> theirs;
  for (int i = 0; i < rounds; ++i) {
    ours.push_back(shared_buffer(sockets));
    theirs.push_back(one_each(sockets));
  }
  tests::bench_report report(argc, argv);
  report.at_most("CPU per delivered frame, shared / one each", median(ours) / median(theirs),
                 "ratio", 0.2);
  report.at_most("CPU per delivered frame", median(ours) / (deltas * followers) * 1e9, "ns", 500);
  return report.finish();
}
