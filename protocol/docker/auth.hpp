#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ahpd::docker {

/// How a pull from one registry signs in.
struct sign_in {
  std::string header;  ///< value of X-Registry-Auth; empty: no sign-in
  std::string refused; ///< not empty: why the sign-in that is set up cannot be used
};

/// Looks `registry` up in the text of a Docker configuration file (~/.docker/config.json). Only
/// what the file itself holds is used; what a credential helper would give is refused in one
/// sentence that names the helper. No text of this function holds a secret but `header`.
sign_in find_sign_in(std::string_view config, std::string_view registry);

} // namespace ahpd::docker
