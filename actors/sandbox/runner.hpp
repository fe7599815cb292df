#pragma once

#include "actors/sandbox/services.hpp"
#include "runtimes/process/spawner.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>

/// Whom what is started runs as (spec "Identity on Linux").
namespace ahpd::sandbox {

/// An account that programs are started as.
struct runner {
  std::string name; ///< empty: an account without a name
  std::string home; ///< where its programs start
  std::string shell;
  std::optional<process::identity> as; ///< none: the daemon's own
};

/// Why a request is not done.
struct refusal {
  unsigned status = 400;
  std::string message;
};

/// The account of a request: the one it names, else the default one, else the daemon's.
std::variant<runner, refusal> find_runner(const services& host,
                                          const std::optional<std::string>& name);

/// The environment of what it starts, without what was asked for.
std::map<std::string, std::string> environment_of(const services& host, const runner& as);

/// The directory that a request means: a relative one is below the daemon's.
std::string directory_of(const services& host, const std::string& path);

/// Refuses what is no directory.
std::optional<refusal> check_directory(const std::string& path);

} // namespace ahpd::sandbox
