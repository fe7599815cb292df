// URIs, times and text that clients name things by.

#include "tests/fuzz/fuzz.hpp"

#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/time.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/utf8.hpp"

#include <string>

namespace ahpd::fuzz {

using namespace ahpd::ahp;

void take(std::string_view bytes) {
  scheme_of(bytes);
  plausible_uri(bytes);
  if (const auto id = session_id(bytes)) {
    must(!id->empty() && id->size() <= 256, "a session's id is within its bounds");
    must(session_of_default_chat(default_chat_uri(bytes)) == std::string(bytes),
         "the session of its first chat comes back");
  }
  session_of_default_chat(bytes);
  parse_computer_uri(bytes);
  must(base64_decode(base64_encode(bytes)) == std::string(bytes), "base64 comes back");
  must(base64url_decode(base64url_encode(bytes)) == std::string(bytes), "base64url comes back");
  base64_decode(bytes);
  base64url_decode(bytes);
  file_path(bytes);
  const auto path = "/" + std::string(bytes);
  if (path.find('\0') == std::string::npos)
    must(file_path(file_uri(path)) == path, "a path comes back");
  if (const auto at = parse_iso8601(bytes))
    must(parse_iso8601(iso8601(*at)) == at, "a time comes back");
  must(utf8::trailing_part(bytes) <= 3 && utf8::leading_rest(bytes) <= 3, "a part is a part");
}

} // namespace ahpd::fuzz
