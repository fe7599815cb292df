#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What HTTP says of parts and versions of a file (RFC 9110).
namespace ahpd::aio {

struct byte_range {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// What a Range field asks for: nothing when it is to be passed over (absent, several ranges, not
/// bytes, not well formed); a size of 0 when the file has no such part.
std::optional<byte_range> range_of(std::string_view field, std::uint64_t size);

/// Whether a list of entity tags, or "*", has this strong one.
bool has_tag(std::string_view list, std::string_view tag);

/// `attachment` with a name of any bytes (RFC 6266).
std::string attachment(const std::string& name);

/// "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(std::int64_t unix_seconds);

} // namespace ahpd::aio
