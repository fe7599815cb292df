#include "runtimes/docker/engine.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;

namespace ahpd::runtimes {

namespace {

constexpr docker::api_version newest{1, 47};
constexpr docker::api_version oldest{1, 41};
constexpr const char* let_go = "this host let go of it";

} // namespace

/// Where one answer is awaited. The waiting coroutine owns it, so that nothing is left when the
/// io_context goes first.
struct docker_engine::slot final : awaited {
  explicit slot(docker_strand on) : signal(on) {}

  void give(transport::http_result what) {
    if (result)
      return;
    result = std::move(what);
    signal.raise();
  }

  void give_up(const std::string& why) override { give({std::nullopt, {why, true}}); }

  wake signal;
  std::optional<transport::http_result> result;
};

docker_engine::docker_engine(asio::io_context& io, std::variant<engine_address, std::string> where)
    : strand_(asio::make_strand(io)) {
  if (auto* none = std::get_if<std::string>(&where)) {
    no_engine_ = std::move(*none);
    return;
  }
  auto& address = std::get<engine_address>(where);
  words_ = address.words;
  local_ = !address.where.unix_path.empty();
  client_ = transport::make_http_client(io, std::move(address.where));
}

asio::awaitable<transport::http_result> docker_engine::send(transport::http_request what,
                                                            std::chrono::milliseconds limit) {
  const auto here = std::make_shared<slot>(strand_);
  keep(here);
  transport::request_options how;
  how.limit = limit;
  const std::weak_ptr<slot> weak = here;
  const auto running =
    client_->send(std::move(what), how, [weak, strand = strand_](transport::http_result result) {
      asio::post(strand, [weak, result = std::move(result)]() mutable {
        if (const auto to = weak.lock())
          to->give(std::move(result));
      });
    });
  co_await here->signal.wait();
  co_return std::move(*here->result);
}

asio::awaitable<std::optional<refusal>> docker_engine::ready() {
  if (!no_engine_.empty())
    co_return refusal{fault::unreachable, no_engine_};
  if (closed_)
    co_return unreachable(let_go);
  if (agreed_)
    co_return std::nullopt;
  transport::http_request ping;
  ping.target = "/_ping";
  const auto result = co_await send(std::move(ping), std::chrono::seconds(10));
  if (!result.response)
    co_return unreachable(result.failed.text);
  if (!fine(*result.response))
    co_return unreachable(docker::refusal_text(result.response->status, result.response->body));
  const auto found = result.response->headers.find("Api-Version");
  const auto theirs = docker::parse_api_version(
    found == result.response->headers.end() ? std::string() : found->second);
  if (!theirs)
    co_return unreachable("it names no API version, so it is no Docker Engine");
  if (*theirs < oldest)
    co_return refusal{fault::unsupported, "Docker at " + words_ + " speaks API " +
                                            docker::to_string(*theirs) + ", and this host needs " +
                                            docker::to_string(oldest) +
                                            " (Docker Engine 20.10) or newer"};
  api_ = std::min(*theirs, newest);
  agreed_ = true;
  co_return std::nullopt;
}

asio::awaitable<outcome<std::int64_t>> docker_engine::clock() {
  if (auto no = co_await ready())
    co_return *no;
  transport::http_request ping;
  ping.target = "/_ping";
  const auto result = co_await send(std::move(ping), std::chrono::seconds(10));
  if (!result.response)
    co_return unreachable(result.failed.text);
  const auto date = result.response->headers.find("Date");
  const auto seconds =
    docker::parse_http_date(date == result.response->headers.end() ? std::string() : date->second);
  if (!seconds)
    co_return unreachable("its answer carries no date");
  co_return *seconds;
}

asio::awaitable<answer> docker_engine::ask(engine_request what) {
  if (auto no = co_await ready())
    co_return *no;
  auto result = co_await send(request(what), what.limit);
  if (!result.response) {
    agreed_ = false; // what comes up in its place may be another version
    co_return unreachable(result.failed.text);
  }
  co_return std::move(*result.response);
}

transport::http_request docker_engine::request(const engine_request& what) const {
  transport::http_request out;
  out.method = what.method;
  out.target = "/v" + docker::to_string(api_) + what.path;
  if (!what.body.empty()) {
    out.headers["Content-Type"] = "application/json";
    out.body = json::serialize(what.body);
  }
  if (!what.sign_in.empty())
    out.headers["X-Registry-Auth"] = what.sign_in;
  return out;
}

refusal docker_engine::unreachable(std::string_view why) const {
  return {fault::unreachable, "Docker at " + words_ + " did not answer: " + std::string(why)};
}

void docker_engine::keep(const std::shared_ptr<awaited>& it) {
  if (closed_)
    it->give_up(let_go);
  awaited_.erase(std::remove_if(awaited_.begin(), awaited_.end(),
                                [](const auto& other) { return other.expired(); }),
                 awaited_.end());
  awaited_.push_back(it);
}

void docker_engine::close() {
  if (closed_.exchange(true))
    return;
  asio::post(strand_, [self = shared_from_this()] {
    for (const auto& weak : std::exchange(self->awaited_, {}))
      if (const auto it = weak.lock())
        it->give_up(let_go);
  });
}

refusal refused_with(fault what, const transport::http_response& said) {
  return {what, docker::refusal_text(said.status, said.body)};
}

} // namespace ahpd::runtimes
