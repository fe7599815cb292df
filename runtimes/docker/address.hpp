#pragma once

#include "protocol/transport/client.hpp"

#include <map>
#include <string>
#include <variant>

namespace ahpd::runtimes {

/// Where a Docker Engine is.
struct engine_address {
  transport::target where;
  std::string words; ///< as a sentence names it: "unix:///var/run/docker.sock"
};

/// Reads DOCKER_HOST, DOCKER_TLS_VERIFY and DOCKER_CERT_PATH as the docker program does; without a
/// DOCKER_HOST it is the socket on this host. What cannot be spoken to gives a sentence.
std::variant<engine_address, std::string>
find_engine(const std::map<std::string, std::string>& env);

} // namespace ahpd::runtimes
