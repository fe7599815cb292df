#pragma once

#include "protocol/json.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Bodies and targets of requests to the Engine API.
namespace ahpd::docker {

/// A host path inside a container.
struct bind_mount {
  std::string source;
  std::string target;
  bool read_only = false;
};

/// What a machine's container is made of.
struct container_shape {
  std::string image;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> env;
  std::vector<bind_mount> mounts;
  std::string workdir; ///< empty: the image's own
  std::optional<double> cpus;
  std::optional<std::uint64_t> memory; ///< bytes
};

/// Body of `POST /containers/create` for a container that idles until something is run in it. An
/// init process is asked for: what a finished command leaves behind is reaped, and a stop is heard
/// at once.
json::object container_body(const container_shape& shape);

/// What is run inside a container.
struct exec_shape {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env; ///< given to this program only
  std::string workdir;
  std::string user;
  bool input = false;
  bool terminal = false;
};

/// Body of `POST /containers/<id>/exec`.
json::object exec_body(const exec_shape& shape);

/// Body of `POST /exec/<id>/start`, attached.
json::object exec_start_body(bool terminal);

/// The query value of a `filters` parameter: each name with its values.
std::string filters(const std::map<std::string, std::vector<std::string>>& wanted);

} // namespace ahpd::docker
