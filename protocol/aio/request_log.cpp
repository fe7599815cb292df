#include "protocol/aio/request_log.hpp"

#include "protocol/aio/checks.hpp"
#include "protocol/utf8.hpp"

#include <sys/types.h>

#include <sha2.h>

#include <algorithm>
#include <array>

namespace ahpd::aio {

namespace {

constexpr std::size_t most_captured = 8u << 10;
constexpr std::size_t longest_param = 256;
constexpr std::size_t most_depth = 32;

/// The first 12 hexadecimal digits: enough to tell values apart.
std::string short_hash(std::string_view bytes) {
  char text[SHA256_DIGEST_STRING_LENGTH];
  SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), text);
  return std::string(text, 12);
}

std::string shortened(std::string_view text) {
  std::string out = utf8::repaired(text.substr(0, longest_param));
  return text.size() > longest_param ? out + "…" : out;
}

/// A copy with sensitive members redacted at every depth, and long texts cut.
json::value summary_of(const json::value& v) {
  if (const auto* o = v.if_object()) {
    json::object out;
    for (const auto& [name, value] : *o)
      out[name] = is_sensitive({name.data(), name.size()})
                    ? json::value(redacted(value.is_string() ? std::string(value.get_string())
                                                             : json::serialize(value)))
                    : summary_of(value);
    return out;
  }
  if (const auto* a = v.if_array()) {
    json::array out;
    for (const auto& each : *a)
      out.push_back(summary_of(each));
    return out;
  }
  if (const auto* s = v.if_string())
    return json::string(shortened({s->data(), s->size()}));
  return v;
}

json::object not_captured(const char* reason) {
  return {{"captured", false}, {"reason", reason}};
}

} // namespace

bool is_sensitive(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  });
  static constexpr std::array markers{"api_key",  "apikey", "authorization", "token",
                                      "password", "passwd", "passphrase",    "secret",
                                      "cookie",   "ticket", "credential",    "private_key"};
  // "input" goes to programs that may have asked for a password
  return lower == "input" || std::any_of(markers.begin(), markers.end(), [&](const char* each) {
           return lower.find(each) != std::string::npos;
         });
}

json::object redacted(std::string_view value) {
  return {{"redacted", true}, {"len", value.size()}, {"sha256", short_hash(value)}};
}

json::object query_summary(std::string_view query) {
  json::object out;
  for (const auto& [name, value] : pairs_of(query))
    out[utf8::repaired(name)] = is_sensitive(name) ? json::value(redacted(value))
                                                   : json::value(json::string(shortened(value)));
  return out;
}

json::object body_summary(std::string_view content_type, bool length_given, std::string_view body) {
  if (content_type.substr(0, content_type.find(';')) != "application/json")
    return not_captured("content_type");
  if (!length_given)
    return not_captured("no_content_length");
  if (body.size() > most_captured)
    return not_captured("too_large");
  std::string ignored;
  const auto parsed = json::parse_text(body, most_depth, ignored);
  if (!parsed)
    return not_captured("not_json");
  return {{"captured", true},
          {"size", body.size()},
          {"sha256", short_hash(body)},
          {"params", summary_of(*parsed)}};
}

} // namespace ahpd::aio
