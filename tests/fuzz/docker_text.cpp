// Small texts of Docker: images' names and scopes, its configuration file, dates, refusals, base64.

#include "tests/fuzz/fuzz.hpp"

#include "protocol/docker/auth.hpp"
#include "protocol/docker/image.hpp"
#include "protocol/docker/text.hpp"

#include <string>

namespace ahpd::fuzz {

using namespace ahpd::docker;

void take(std::string_view bytes) {
  for (const auto alphabet : {base64_alphabet::standard, base64_alphabet::url})
    must(decode_base64(encode_base64(bytes, alphabet)) == bytes, "base64 comes back");
  decode_base64(bytes);
  must(escape_query(bytes).find_first_of(" &#+\n") == std::string::npos, "a query value is one");
  parse_http_date(bytes);
  must(!refusal_text(500, bytes).empty(), "an engine refuses in words");
  if (const auto version = parse_api_version(bytes))
    must(parse_api_version(to_string(*version)) == version, "a version comes back");

  auto rest = bytes;
  const auto first = cut(rest, '\n');
  std::string error;
  const auto image = read_image(first, error);
  if (image) {
    const auto again = read_image(image->identity(), error);
    must(again && again->identity() == image->identity(), "an expanded name stays as it is");
  } else {
    must(!error.empty(), "what is no image's name is refused in words");
  }
  error.clear();
  const auto scope = image_scope::read(rest, error);
  must(scope || !error.empty(), "what is no scope is refused in words");
  if (image && scope && scope->allows(*image) && scope->one_image())
    must(!scope->text().empty(), "an image that is allowed is allowed by a scope");

  const auto sign_in = find_sign_in(rest, first);
  must(sign_in.header.empty() || sign_in.refused.empty(), "one signs in or is refused");
}

} // namespace ahpd::fuzz
