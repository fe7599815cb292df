#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Output of programs, which is any bytes, as the text of an answer.
namespace ahpd::aio {

/// Characters of text that may be cut anywhere and hold anything, about: what begins one.
std::size_t characters(std::string_view bytes);

/// The first `count` characters, and the last; repaired where they are no UTF-8.
std::string first_characters(std::string_view bytes, std::size_t count);
std::string last_characters(std::string_view bytes, std::size_t count);

/// What stands between the beginning and the end of a text that was cut.
std::string cut_marker(std::uint64_t characters);

/// The text, or its beginning and its end when it has more than `limit` characters; 0: no limit.
std::string cut_middle(std::string_view bytes, std::size_t limit);

} // namespace ahpd::aio
