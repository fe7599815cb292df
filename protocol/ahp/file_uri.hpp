#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ahpd::ahp {

/// The absolute path of a `file:///…` URI, percent-decoded. Nothing for another scheme, a host other
/// than none or localhost, a query or fragment (a name's '?' or '#' that was not encoded), a broken
/// escape, a NUL byte or a path that is not absolute.
std::optional<std::string> file_path(std::string_view uri);

/// `file://` and the path, with what a URI may not hold percent-encoded.
std::string file_uri(std::string_view path);

} // namespace ahpd::ahp
