#pragma once

#include "protocol/json.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

/// What the Engine API tells about containers, programs in them and changes.
namespace ahpd::docker {

/// A container, of `GET /containers/<id>/json`.
struct container {
  std::string id;
  std::string name;     ///< without the engine's leading slash
  bool running = false; ///< also while it is paused
  std::string image;    ///< as it was asked for
  std::string created;  ///< ISO 8601 UTC
  std::map<std::string, std::string> labels;
  std::optional<double> cores; ///< its CPU limit
};

std::optional<container> read_container(const json::value& inspected);

/// A program in a container, of `GET /exec/<id>/json`.
struct exec_state {
  bool running = false;
  std::optional<int> exit_code;
  std::int64_t pid =
    0; ///< on the engine's machine; 0 before it started, and for ever when it could not
};

std::optional<exec_state> read_exec(const json::value& inspected);

/// One line of `GET /events` about a container.
struct event {
  std::string action; ///< "die", "exec_die"; without what follows a colon
  std::string id;     ///< the container's
  std::string name;
  std::map<std::string, std::string> attributes; ///< labels among them
};

std::optional<event> read_event(std::string_view line);

} // namespace ahpd::docker
