#pragma once

#include <string_view>

namespace ahpd {

/// Whether they are equal, in a time that depends on the length of what was presented alone.
bool same_secret(std::string_view secret, std::string_view presented);

} // namespace ahpd
