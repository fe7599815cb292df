#pragma once

#include "actors/core/scheduler.hpp"
#include "actors/hub/engines/built_in.hpp"
#include "actors/hub/hub.hpp"
#include "actors/hub/recovery.hpp"
#include "protocol/ahp/reducers.hpp"
#include "protocol/jsonrpc/message.hpp"
#include "runtimes/host/host_place.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>

#include <unistd.h>

namespace ahpd::tests {

/// The client side of a connection without a socket: keeps every frame, and waits for one, bounded.
class loop_socket : public transport::websocket {
public:
  void send(transport::frame text, transport::message_kind) override {
    std::lock_guard lock(guard_);
    frames_.push_back(json::parse(*text));
    came_.notify_all();
  }
  void when_taken(std::function<void()>) override {}
  void grant(std::size_t) override {}
  void close(std::uint16_t, std::string_view) override {
    std::lock_guard lock(guard_);
    closed_ = true;
    came_.notify_all();
  }
  std::size_t queued_bytes() const override { return 0; }

  /// The first frame behind the last one given that passes; fails the test after twenty seconds.
  json::value wait(const std::string& what, const std::function<bool(const json::value&)>& wanted) {
    std::unique_lock lock(guard_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      for (; next_ < frames_.size(); ++next_)
        if (wanted(frames_[next_]))
          return frames_[next_++];
      if (came_.wait_until(lock, deadline) == std::cv_status::timeout) {
        lock.unlock();
        FAIL("no frame came: " << what);
      }
    }
  }

  bool wait_closed() {
    std::unique_lock lock(guard_);
    return came_.wait_for(lock, std::chrono::seconds(20), [this] { return closed_; });
  }

  std::vector<json::value> frames() {
    std::lock_guard lock(guard_);
    return frames_;
  }

private:
  std::mutex guard_;
  std::condition_variable came_;
  std::vector<json::value> frames_;
  std::size_t next_ = 0;
  bool closed_ = false;
};

/// One client of a `live_hub`.
struct loop_client {
  std::shared_ptr<loop_socket> socket = std::make_shared<loop_socket>();
  transport::websocket_events events;
  std::int64_t last_id = 0;
  std::int64_t last_seq = 0;

  json::value request(const std::string& method, json::object params) {
    if (!params.contains("channel"))
      params["channel"] = "ahp-root://";
    const auto id = ++last_id;
    events.on_text(jsonrpc::request_frame(id, method, params));
    return socket->wait("answer to " + method, [&](const json::value& f) {
      const auto* got = f.as_object().if_contains("id");
      return got && *got == id;
    });
  }
  json::value result(const std::string& method, json::object params) {
    auto frame = request(method, std::move(params));
    const auto* r = frame.as_object().if_contains("result");
    REQUIRE_MESSAGE(r, method << ": " << json::serialize(frame));
    return *r;
  }
  void dispatch(const std::string& channel, json::value action) {
    events.on_text(jsonrpc::notification_frame(
      "dispatchAction",
      {{"channel", channel}, {"clientSeq", ++last_seq}, {"action", std::move(action)}}));
  }
  json::value wait_action(const std::string& type, const std::string& channel) {
    return socket->wait(type, [&](const json::value& f) {
      const auto* p = f.as_object().if_contains("params");
      return f.as_object().if_contains("method") && f.at("method").as_string() == "action" &&
             p->at("channel").as_string() == channel &&
             p->at("action").at("type").as_string() == type;
    });
  }
};

/// A whole hub in this process on real io threads, with sessions in memory. Its agents' handles are
/// kept, so that a test can kill any actor there is.
struct live_hub {
  struct config : caf::actor_system_config {
    config() {
      set("logger.file-verbosity", caf::atom("quiet"));
      core::use_asio_scheduler(*this, 1);
    }
  };

  explicit live_hub(std::function<void(hub::services&)> more = {}) {
    host->host_id = "00000000-0000-4000-8000-000000000000";
    host->host_name = "test";
    host->default_directory = "/tmp";
    host->delta_window = std::chrono::milliseconds(0);
    auto shell = hub::shell_engine();
    const auto spawn = shell.spawn;
    shell.spawn = [this, spawn](caf::actor_system& s, hub::agent_context context) {
      auto agent = spawn(s, std::move(context));
      std::lock_guard lock(guard);
      agents.push_back(agent);
      return agent;
    };
    host->engines = {shell};
    host->this_host = runtimes::make_host_place(
      core::io_of(system), core::blocking_pool_of(system),
      {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"AHPD_TEST_HUB", std::to_string(getpid())}});
    if (more)
      more(*host);
    host->order = hub::open_sequence(*database, host);
    root = hub::start_hub(system, host, database, {});
    root->attach_functor([this] { gone.set_value(); });
  }

  ~live_hub() {
    caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
    wait_gone();
    agents.clear();
    for (auto& where : {host->store, host->catalogue, host->sessions, host->machines,
                        host->terminals, host->exporter})
      where->set({});
    root = nullptr;
  }

  void wait_gone() {
    if (ended)
      return;
    REQUIRE(gone.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    ended = true;
  }

  loop_client connect(const std::string& id = "c") {
    loop_client c;
    c.events = hub::connect(system, host, c.socket);
    c.result("initialize", {{"protocolVersions", {"1.0.0"}}, {"clientId", id}});
    return c;
  }

  config cfg;
  caf::actor_system system{cfg};
  hub::services_ptr host = std::make_shared<hub::services>();
  std::shared_ptr<ahpd::config::store> database = std::make_shared<ahpd::config::store>(":memory:");
  std::mutex guard;
  std::vector<caf::actor> agents;
  caf::actor root;
  std::promise<void> gone;
  bool ended = false;
};

} // namespace ahpd::tests
