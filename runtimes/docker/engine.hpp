#pragma once

#include "protocol/docker/text.hpp"
#include "runtimes/docker/address.hpp"
#include "runtimes/docker/wake.hpp"
#include "runtimes/runtime.hpp"

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace ahpd::runtimes {

/// One request to an engine. `path` is without the API version.
struct engine_request {
  std::string method = "GET";
  std::string path;
  json::object body;   ///< empty: none
  std::string sign_in; ///< X-Registry-Auth; empty: none
  std::chrono::milliseconds limit{30'000};
};

using answer = outcome<transport::http_response>;

/// Something a coroutine waits for that `docker_engine::close` ends.
class awaited {
public:
  virtual ~awaited() = default;

  /// On the strand: whoever waits is woken with the words why.
  virtual void give_up(const std::string& why) = 0;
};

/// Speaks the Engine API: agrees on a version first, then every answer is a response of any status
/// or the refusal that none came. Coroutines run on `strand`; everything else may be called there
/// only.
class docker_engine : public std::enable_shared_from_this<docker_engine> {
public:
  /// `where` may be the sentence why there is no engine; every request is refused with it then.
  docker_engine(boost::asio::io_context& io, std::variant<engine_address, std::string> where);

  const docker_strand& strand() const { return strand_; }

  boost::asio::awaitable<answer> ask(engine_request what);

  /// Agrees on an API version unless that was done, and gives why it was not.
  boost::asio::awaitable<std::optional<refusal>> ready();

  /// The engine's own clock in seconds since 1970, asked for now.
  boost::asio::awaitable<outcome<std::int64_t>> clock();

  /// Puts the version before the path. After `ready`.
  transport::http_request request(const engine_request& what) const;

  transport::http_client& client() { return *client_; }

  /// Whether the engine's processes may be this host's own.
  bool local() const { return local_; }

  /// The API version that was agreed on.
  docker::api_version api() const { return api_; }

  /// A refusal that names the engine: "Docker at unix://… did not answer: …".
  refusal unreachable(std::string_view why) const;

  /// On the strand: `close` ends it too, at once where that was called already.
  void keep(const std::shared_ptr<awaited>& it);

  /// Ends what is awaited with a refusal, and refuses everything from now on. Any thread.
  void close();
  bool closed() const { return closed_; }

private:
  struct slot;

  boost::asio::awaitable<transport::http_result> send(transport::http_request what,
                                                      std::chrono::milliseconds limit);

  docker_strand strand_;
  std::string words_;
  std::string no_engine_;
  bool local_ = false;
  std::shared_ptr<transport::http_client> client_;
  docker::api_version api_;
  bool agreed_ = false;
  std::atomic<bool> closed_ = false;
  std::vector<std::weak_ptr<awaited>> awaited_;
};

/// The engine's own words of an answer that is no success.
refusal refused_with(fault what, const transport::http_response& said);

inline bool fine(const transport::http_response& said) {
  return said.status >= 200 && said.status < 300;
}

} // namespace ahpd::runtimes
