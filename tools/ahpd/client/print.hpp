#pragma once

#include "protocol/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::client {

/// Writes all bytes to a descriptor as they are; false when its reader is gone.
bool write_all(int descriptor, std::string_view bytes);

/// Writes a text and a line end to standard output. Throws client_failure when that is closed.
void print_line(std::string_view text);

/// Writes "ahpd: <text>" to standard error.
void print_note(std::string_view text);

/// The text without control characters, which a hub's titles must not bring to a terminal.
std::string plain(std::string_view text);

/// Columns as wide as their widest cell; the first row is the heading.
void print_table(const std::vector<std::vector<std::string>>& rows);

/// "512.0 MiB"; below 1,024 "266 B".
std::string bytes_text(std::uint64_t count);

/// A number of JSON, whatever its kind; 0 for anything else.
double number_of(const json::value* v);

/// What a member holds for a person: strings as they are, other values as JSON, "" when absent.
std::string text_at(const json::value& v, std::initializer_list<std::string_view> path);

} // namespace ahpd::client
