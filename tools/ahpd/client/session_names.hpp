#pragma once

#include <string>

namespace ahpd::client {

/// A session as a person names it: a URI, or the id alone.
inline std::string session_uri(const std::string& name) {
  return name.find(':') == std::string::npos ? "ahp-session:/" + name : name;
}

/// A machine as a person names it: a name, or computer://name.
inline std::string computer_name(const std::string& name) {
  static const std::string scheme = "computer://";
  return name.rfind(scheme, 0) == 0 ? name.substr(scheme.size()) : name;
}

} // namespace ahpd::client
