#pragma once

#include "protocol/json.hpp"
#include "protocol/jsonrpc/message.hpp"
#include "protocol/transport/client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

/// Load on a WebSocket server from this process, and what that costs the server.
namespace ahpd::bench {

/// Stops a benchmark whose set-up failed.
/// Ends the benchmark; what it made is taken down on the way.
[[noreturn]] inline void give_up(const std::string& why) {
  throw std::runtime_error(why);
}

/// User and system time of a process so far, in seconds.
inline double cpu_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  std::istringstream rest(text.str().substr(text.str().rfind(')') + 2));
  std::string word;
  double ticks = 0;
  for (int field = 3; rest >> word && field <= 15; ++field)
    if (field >= 14)
      ticks += std::stod(word);
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Memory of a process that no other one shares, in bytes.
inline double memory_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  std::string line;
  double kib = 0;
  while (std::getline(file, line))
    if (line.rfind("Rss:", 0) == 0)
      kib = std::stod(line.substr(4));
  return kib * 1024;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Many clients of one server, all in the calling thread.
class crowd {
public:
  struct client {
    std::shared_ptr<transport::websocket> socket;
    std::function<void(const std::string&)> on_text;
    std::uint64_t frames = 0;
    std::int64_t last_id = 0;
    std::string answer;
  };

  /// Opens `count` more connections to 127.0.0.1:`port`.
  void open(std::uint16_t port, std::size_t count) {
    port_ = port;
    std::size_t open = 0;
    for (std::size_t i = 1; i <= count; ++i) {
      clients_.push_back(std::make_unique<client>());
      dial(clients_.size() - 1, [&open] { ++open; });
      if (i % 100 == 0 || i == count)
        run_until([&] { return open == i; });
    }
  }

  /// Drops a connection and opens another in its place; `opened` is called then.
  void redial(std::size_t i, std::function<void()> opened) {
    clients_[i]->socket->close(1000, "");
    dial(i, std::move(opened));
  }

  /// Sends a request from client `i` and gives the result's text.
  json::value ask(std::size_t i, const std::string& method, json::object params) {
    auto& c = *clients_[i];
    const auto id = ++c.last_id;
    if (!params.contains("channel"))
      params["channel"] = "ahp-root://";
    c.answer.clear();
    const auto mark = "\"id\":" + std::to_string(id) + ",";
    c.on_text = [&c, mark](const std::string& text) {
      if (text.substr(0, 60).find(mark) != std::string::npos)
        c.answer = text;
    };
    send(i, jsonrpc::request_frame(id, method, params));
    run_until([&] { return !c.answer.empty(); });
    c.on_text = nullptr;
    const auto answer = json::parse(c.answer);
    if (json::member(answer, "error"))
      give_up(method + ": " + c.answer);
    return answer.at("result");
  }

  void send(std::size_t i, std::string text) {
    clients_[i]->socket->send(std::make_shared<const std::string>(std::move(text)));
  }

  client& at(std::size_t i) { return *clients_[i]; }
  std::size_t size() const { return clients_.size(); }

  /// Runs the sockets until `done`; gives up after two minutes.
  void run_until(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!done()) {
      if (std::chrono::steady_clock::now() > limit)
        give_up("the server did not do its part within two minutes");
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(100));
      io_.poll();
    }
  }
  void run_for(std::chrono::milliseconds time) {
    io_.restart();
    io_.run_for(time);
  }

private:
  void dial(std::size_t i, std::function<void()> opened) {
    auto* c = clients_[i].get();
    transport::websocket_limits bounds;
    bounds.credits = 1'000'000'000; // it never stops reading
    bounds.inbound_bytes = 64u << 20;
    transport::http_request upgrade;
    upgrade.target = "/";
    transport::dial_websocket(
      io_, {"127.0.0.1", port_, false, {}, {}, {}, {}}, upgrade, bounds,
      [this, c, opened](std::shared_ptr<transport::websocket> socket) {
        c->socket = socket;
        boost::asio::post(io_, opened);
        return transport::websocket_events{
          [c, mine = std::weak_ptr(socket)](const std::string& text) {
            if (c->socket != mine.lock())
              return; // a connection that was dropped
            ++c->frames;
            if (c->on_text)
              c->on_text(text);
          },
          {},
          [](const transport::close_reason&) {}};
      },
      [](const transport::http_response& why) { give_up("no connection: " + why.body); });
  }

  std::uint16_t port_ = 0;
  boost::asio::io_context io_{1};
  std::vector<std::unique_ptr<client>> clients_;
};

} // namespace ahpd::bench
