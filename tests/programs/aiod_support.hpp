#pragma once

#include "protocol/json.hpp"
#include "protocol/transport/client.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::tests {

/// An answer of aiod.
struct aiod_answer {
  unsigned status = 0;
  transport::fields headers;
  std::string body;

  json::value json() const;                ///< fails the test when it is none
  json::value data() const;                ///< of the envelope
  std::string message() const;             ///< of the envelope
  std::string text(const char* key) const; ///< a text of `data`
};

/// The real `aiod start` on a free loopback port, with a home and a runtime directory of its own.
/// The constructor returns once it serves; the destructor kills it, and what it started.
class aiod_process {
public:
  explicit aiod_process(std::vector<std::string> words = {},
                        std::map<std::string, std::string> env = {});

  std::uint16_t port() const { return port_; }
  pid_t pid() const { return running_->pid(); }
  std::string url(const std::string& target) const;
  std::string folder() const { return files_.path(); } ///< for the test's own files
  /// What it wrote so far; asked for again it has more.
  std::string log();
  tests::program& program() { return *running_; }

  /// One request and its answer, on a kept connection. Every answer is held against the OpenAPI
  /// document.
  aiod_answer send(transport::http_request what);
  aiod_answer ask(const std::string& method, const std::string& target,
                  std::optional<json::value> body = std::nullopt, transport::fields headers = {});

  /// POST /v2/commands; `data` of the answer, which must be fine.
  json::value run(json::object what);
  json::value sh(const std::string& script) { return run({{"command", script}}); }

private:
  void check(const std::string& method, const std::string& target,
             const transport::http_response& got);

  scratch files_;
  std::unique_ptr<tests::program> running_;
  std::uint16_t port_ = 0;
  boost::asio::io_context io_;
  std::shared_ptr<transport::http_client> client_;
};

} // namespace ahpd::tests
