#include "config/files.hpp"
#include "config/settings.hpp"

#include <algorithm>
#include <filesystem>

namespace ahpd::config {

namespace {

constexpr std::size_t most_bytes = 1u << 20;
constexpr std::size_t most_levels = 32;

/// The document, or in `error` why there is none and at which byte (the first is 1).
std::optional<json::value> parse(const std::string& text, std::string& error) {
  json::parse_options options;
  options.max_depth = most_levels;
  json::stream_parser parser({}, options);
  json::error_code ec;
  const auto read = parser.write_some(text, ec);
  // An end that comes too early is noticed only by finish.
  if (!ec && read == text.size())
    parser.finish(ec);
  else if (!ec)
    ec = json::error::extra_data;
  if (!ec)
    return parser.release();
  const auto why = ec == json::error::too_deep
                     ? "nested deeper than " + std::to_string(most_levels) + " levels"
                     : ec.message();
  error = why + " at byte " + std::to_string(std::min(read + 1, text.size()));
  return std::nullopt;
}

const setting* find_key(std::string_view key) {
  const auto all = settings();
  const auto found =
    std::find_if(all.begin(), all.end(), [&](const setting& s) { return s.key == key; });
  return found == all.end() || key.empty() ? nullptr : &*found;
}

} // namespace

std::variant<layer, start_refusal> read_file(const std::string& file) {
  std::string text;
  try {
    text = read_whole(file, most_bytes);
  } catch (const file_error& e) {
    return start_refusal{2, e.what()};
  }
  std::string error;
  const auto document = parse(text, error);
  if (!document)
    return start_refusal{2, file + ": " + error};
  if (!document->is_object())
    return start_refusal{2, file + " must hold a JSON object"};
  const std::string base = std::filesystem::path(file).parent_path().string();
  layer out;
  for (const auto& [key, value] : document->get_object()) {
    const setting* which = find_key(key);
    if (!which) {
      out.skipped.push_back(std::string(key) + " is not a setting ahpd knows; ignored");
      continue;
    }
    const auto wrong = set_from_key(*which, value, base, out);
    if (!wrong.empty())
      return start_refusal{2, file + ": " + wrong};
  }
  for (auto& sentence : out.skipped)
    sentence = file + ": " + sentence;
  return out;
}

} // namespace ahpd::config
