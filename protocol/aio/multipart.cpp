#include "protocol/aio/multipart.hpp"

#include "protocol/percent.hpp"

#include <algorithm>
#include <map>

namespace ahpd::aio {

namespace {

constexpr std::size_t longest_header = 16u << 10;
constexpr std::size_t longest_boundary = 200;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos)
    return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

/// A parameter's value, which may be in quotes, and what is behind it.
std::string take_value(std::string_view& rest) {
  std::string out;
  if (rest.empty() || rest.front() != '"') {
    const auto end = std::min(rest.find(';'), rest.size());
    out = trimmed(rest.substr(0, end));
    rest.remove_prefix(end);
    return out;
  }
  std::size_t i = 1;
  for (; i < rest.size() && rest[i] != '"'; ++i) {
    // Some clients put a whole Windows path here, so only these two are escaped.
    if (rest[i] == '\\' && i + 1 < rest.size() && (rest[i + 1] == '"' || rest[i + 1] == '\\'))
      ++i;
    out += rest[i];
  }
  rest.remove_prefix(std::min(rest.size(), i + 1));
  return out;
}

/// The parameters of a header field such as `form-data; name="a"`; the word itself is under "".
std::map<std::string, std::string> parameters_of(std::string_view field) {
  std::map<std::string, std::string> out;
  const auto first = std::min(field.find(';'), field.size());
  out[""] = lower(trimmed(field.substr(0, first)));
  auto rest = field.substr(first);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto equals = rest.find_first_of("=;");
    if (equals == std::string_view::npos)
      break;
    const auto name = lower(trimmed(rest.substr(0, equals)));
    const bool has_value = rest[equals] == '=';
    rest.remove_prefix(equals + (has_value ? 1 : 0));
    if (!has_value)
      continue;
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t'))
      rest.remove_prefix(1);
    out.emplace(name, take_value(rest));
    rest.remove_prefix(std::min(rest.find(';'), rest.size()));
  }
  return out;
}

/// The last name of a path of either kind of system.
std::string last_name(const std::string& path) {
  const auto slash = path.find_last_of("/\\");
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

form_part part_of(std::string_view header) {
  form_part out;
  while (!header.empty()) {
    const auto end = std::min(header.find("\r\n"), header.size());
    const auto line = header.substr(0, end);
    header.remove_prefix(std::min(header.size(), end + 2));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos ||
        lower(trimmed(line.substr(0, colon))) != "content-disposition")
      continue;
    auto given = parameters_of(line.substr(colon + 1));
    out.name = given["name"];
    out.file_name = given["filename"];
    constexpr std::string_view utf8 = "UTF-8''";
    if (const auto wide = given["filename*"];
        wide.size() > utf8.size() && lower(wide.substr(0, utf8.size())) == lower(utf8))
      out.file_name = percent::decode(wide.substr(utf8.size())).value_or(out.file_name);
    out.file_name = last_name(out.file_name);
  }
  return out;
}

} // namespace

multipart_reader::multipart_reader(std::string boundary, listener to)
    : delimiter_("\r\n--" + std::move(boundary)), to_(std::move(to)) {}

bool multipart_reader::feed(std::string_view bytes) {
  if (at_ == state::done)
    return true; // an epilogue
  buffer_ += bytes;
  while (step()) {
  }
  return at_ != state::broken;
}

/// True: there may be more to do with what is in the buffer.
bool multipart_reader::step() {
  switch (at_) {
  case state::preamble:
  case state::data:
    return step_content();
  case state::boundary:
    return step_boundary();
  case state::header:
    return step_header();
  case state::done:
  case state::broken:
    break;
  }
  return false;
}

bool multipart_reader::step_content() {
  const auto found = buffer_.find(delimiter_);
  const bool ends = found != std::string::npos;
  const auto size = ends ? found : buffer_.size() - std::min(buffer_.size(), delimiter_.size() - 1);
  if (at_ == state::data && size > 0)
    to_.data(std::string_view(buffer_).substr(0, size));
  buffer_.erase(0, ends ? size + delimiter_.size() : size);
  if (!ends)
    return false;
  if (at_ == state::data)
    to_.end();
  at_ = state::boundary;
  return true;
}

bool multipart_reader::step_boundary() {
  if (buffer_.size() < 2)
    return false;
  if (buffer_.starts_with("--")) {
    at_ = state::done;
    buffer_.clear();
    return false;
  }
  const auto line = buffer_.find("\r\n");
  if (line == std::string::npos ? buffer_.size() > longest_header
                                : buffer_.find_first_not_of(" \t") != line) {
    at_ = state::broken;
    return false;
  }
  if (line == std::string::npos)
    return false;
  buffer_.erase(0, line); // the line's end is also the one before an empty header
  at_ = state::header;
  return true;
}

bool multipart_reader::step_header() {
  const auto end = buffer_.find("\r\n\r\n");
  if (end == std::string::npos ? buffer_.size() > longest_header : end > longest_header) {
    at_ = state::broken;
    return false;
  }
  if (end == std::string::npos)
    return false;
  auto part = part_of(std::string_view(buffer_).substr(0, end));
  buffer_.erase(0, end + 4);
  at_ = state::data;
  to_.begin(std::move(part));
  return true;
}

std::optional<std::string> boundary_of(std::string_view content_type) {
  auto given = parameters_of(content_type);
  auto boundary = given["boundary"];
  if (given[""] != "multipart/form-data" || boundary.empty() || boundary.size() > longest_boundary)
    return std::nullopt;
  return boundary;
}

} // namespace ahpd::aio
