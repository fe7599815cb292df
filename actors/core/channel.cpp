#include "actors/core/channel.hpp"

#include "protocol/ahp/builders.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ahpd::core {

// ---- outbox -------------------------------------------------------------------------------------

outbox::outbox(std::shared_ptr<transport::websocket> socket,
               std::function<void(const std::string&)> tap)
    : socket_(std::move(socket)), tap_(std::move(tap)) {}

void outbox::send(transport::websocket& socket, transport::frame frame) {
  if (tap_)
    tap_(*frame);
  socket.send(std::move(frame));
}

void outbox::push(transport::frame frame) {
  std::lock_guard lock(guard_);
  if (holds_ > 0)
    held_.push_back(std::move(frame));
  else if (auto socket = socket_.lock())
    send(*socket, std::move(frame));
}

void outbox::hold() {
  std::lock_guard lock(guard_);
  ++holds_;
}

void outbox::release(transport::frame answer) {
  std::lock_guard lock(guard_);
  answers_.push_back(std::move(answer));
  if (--holds_ > 0)
    return;
  if (auto socket = socket_.lock()) {
    for (auto& frame : answers_)
      send(*socket, std::move(frame));
    for (auto& frame : held_)
      send(*socket, std::move(frame));
  }
  answers_.clear();
  held_.clear();
}

void outbox::close(std::uint16_t code, std::string_view why) {
  if (auto socket = socket_.lock())
    socket->close(code, why);
}

// ---- sequencer ----------------------------------------------------------------------------------

namespace {

using dispatched = std::optional<ahp::build::origin>;

/// An origin as the wire has it.
dispatched on_the_wire(const action_origin& origin) {
  return ahp::build::origin{origin.client_id, origin.client_seq};
}

transport::frame frame_of(std::string_view uri, std::string_view action, std::uint64_t seq,
                          const dispatched& from, std::string_view rejection = {}) {
  return std::make_shared<const std::string>(
    ahp::build::action_frame(uri, action, seq, from, rejection));
}

} // namespace

sequencer::sequencer(std::uint64_t start, std::uint64_t reserved,
                     std::function<void(std::uint64_t)> reserve)
    : current_(start), reserved_(reserved), reserve_(std::move(reserve)) {}

std::uint64_t sequencer::current() const {
  std::lock_guard lock(guard_);
  return current_;
}

void sequencer::reserved(std::uint64_t upto) {
  std::lock_guard lock(guard_);
  reserved_ = std::max(reserved_, upto);
  asked_ = false;
}

std::uint64_t sequencer::publish(channel& where, json::value action,
                                 const std::optional<action_origin>& origin) {
  ahp::reduce(where.kind, where.state, action);
  return announce(where, std::move(action), origin);
}

std::uint64_t sequencer::announce(channel& where, json::value action,
                                  const std::optional<action_origin>& origin) {
  const auto shared = std::make_shared<const json::value>(std::move(action));
  const auto from = origin ? on_the_wire(*origin) : std::nullopt;

  std::unique_lock lock(guard_);
  if (current_ >= reserved_)
    throw std::runtime_error(
      "the reserved sequence numbers are used up and the store does not answer");
  const auto seq = ++current_;
  // The action in the words of each dialect in use, and its frames for each spelling in use; nearly
  // always one of both.
  std::array<std::optional<std::vector<std::string>>, ahp::dialects> texts;
  std::array<std::vector<transport::frame>, ahp::dialects> plain;
  const auto bring_to = [&](outbox& box, const std::string& spelling) {
    const auto dialect = box.speaks();
    const auto slot = static_cast<std::size_t>(dialect);
    if (!texts[slot]) {
      texts[slot].emplace();
      for (const auto& adapted : ahp::adapt_action(dialect, shared, where.state)) {
        texts[slot]->push_back(json::serialize(*adapted));
        plain[slot].push_back(nullptr);
      }
    }
    for (std::size_t i = 0; i < texts[slot]->size(); ++i) {
      const auto& text = (*texts[slot])[i];
      if (spelling != where.uri) {
        box.push(frame_of(spelling, text, seq, from));
        continue;
      }
      auto& frame = plain[slot][i];
      if (!frame)
        frame = frame_of(where.uri, text, seq, from);
      box.push(frame);
    }
  };
  auto waits = origin ? origin->sender : nullptr;
  for (auto& follower : where.followers_) {
    bring_to(*follower.box, follower.spelling);
    if (follower.box == waits)
      waits = nullptr;
  }
  if (waits)
    bring_to(*waits, origin->spelling);
  const bool ask = !asked_ && reserved_ - current_ < block / 2;
  asked_ = asked_ || ask;
  const auto upto = reserved_ + block;
  lock.unlock();
  if (ask && reserve_)
    reserve_(upto);
  return seq;
}

void sequencer::refuse(const json::value& action, const action_origin& origin,
                       std::string_view why) const {
  // In its sender's words again; as it is when that version has none for it.
  const auto shared = std::make_shared<const json::value>(action);
  const auto adapted = ahp::adapt_action(origin.sender->speaks(), shared, nullptr);
  const auto text = json::serialize(adapted.empty() ? action : *adapted.front());
  std::lock_guard lock(guard_);
  origin.sender->push(frame_of(origin.spelling, text, current_, on_the_wire(origin), why));
}

snapshot sequencer::follow(channel& where, std::shared_ptr<outbox> box, std::string spelling,
                           const std::function<void(json::value&)>& view) {
  std::string text;
  if (view || box->speaks() != ahp::dialect::v1_0) {
    json::value copy = where.state;
    if (view)
      view(copy);
    text = json::serialize(ahp::adapt_state(box->speaks(), where.kind, std::move(copy)));
  } else {
    text = json::serialize(where.state);
  }
  std::lock_guard lock(guard_);
  auto& list = where.followers_;
  const auto known =
    std::find_if(list.begin(), list.end(), [&](const auto& f) { return f.box == box; });
  if (known != list.end())
    known->spelling = std::move(spelling);
  else
    list.push_back({std::move(box), std::move(spelling)});
  return {std::move(text), current_};
}

void sequencer::unfollow(channel& where, const outbox& box) {
  std::lock_guard lock(guard_);
  auto& list = where.followers_;
  list.erase(
    std::remove_if(list.begin(), list.end(), [&](const auto& f) { return f.box.get() == &box; }),
    list.end());
}

void sequencer::unfollow_all(channel& where) {
  std::lock_guard lock(guard_);
  where.followers_.clear();
}

std::size_t sequencer::followers(const channel& where) const {
  std::lock_guard lock(guard_);
  return where.followers_.size();
}

void sequencer::notify(channel& where, std::string_view method, const json::value& params) {
  std::lock_guard lock(guard_);
  std::array<transport::frame, ahp::dialects> frames;
  for (auto& follower : where.followers_) {
    const auto dialect = follower.box->speaks();
    auto& frame = frames[static_cast<std::size_t>(dialect)];
    if (!frame)
      frame = std::make_shared<const std::string>(
        jsonrpc::notification_frame(method, ahp::adapt_notification(dialect, method, params)));
    follower.box->push(frame);
  }
}

} // namespace ahpd::core
