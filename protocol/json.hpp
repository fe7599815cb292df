#pragma once

#include <boost/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// Boost.JSON under the name this code base uses, and the few readers every floor needs.
namespace ahpd::json {

using namespace boost::json; // NOLINT: the alias is the point

/// A document that is shared between actors and never changed.
using shared = std::shared_ptr<const value>;

/// Parses one complete document of at most `max_depth` nested levels. Text that is not UTF-8, holds
/// a second document or is not JSON gives nothing and says why in `error`.
std::optional<value> parse_text(std::string_view text, std::size_t max_depth, std::string& error);

/// The member `key` of an object, or null when `v` is no object, lacks it, or holds JSON null
/// there.
const value* member(const value& v, std::string_view key);
value* member(value& v, std::string_view key);

/// The member `key` as a string, or nothing when it is absent or of another type.
std::optional<std::string_view> string_member(const value& v, std::string_view key);

/// The same, with "" for nothing.
std::string text(const value& v, std::string_view key);

/// Two-space indented text of `v`, object members in their own order, ending without a newline.
std::string pretty(const value& v);

/// Equal up to the order of object members, with null members taken as absent.
bool equivalent(const value& a, const value& b);

} // namespace ahpd::json
