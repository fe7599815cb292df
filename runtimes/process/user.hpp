#pragma once

#include "runtimes/process/spawner.hpp"

#include <optional>
#include <string>

namespace ahpd::process {

/// A user of this host.
struct user {
  std::string name;
  std::string home;
  std::string shell;
  identity who;
};

struct user_result {
  std::optional<user> found;
  std::string refused; ///< a sentence when there is none
};

/// Looks a user up by name or decimal id, with all groups. May ask a network service: for the pool.
user_result find_user(const std::string& name_or_id);

} // namespace ahpd::process
