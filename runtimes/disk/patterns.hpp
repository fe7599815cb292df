#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ahpd::disk {

/// Whether something below a folder is of a glob (`**`, `*`, `?`, `[…]`). One without a slash is
/// about names at any depth.
bool is_of(std::string_view pattern, std::string_view path);

bool is_of_any(const std::vector<std::string>& patterns, std::string_view path);

/// Whether a pattern asks for names that begin with a dot.
bool wants_hidden(std::string_view pattern);

} // namespace ahpd::disk
