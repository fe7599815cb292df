#include "protocol/ahp/file_uri.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/pchars.hpp>
#include <boost/url/scheme.hpp>
#include <boost/url/url_view.hpp>

namespace ahpd::ahp {

namespace urls = boost::urls;

std::optional<std::string> file_path(std::string_view uri) {
  const auto parsed = urls::parse_uri(uri);
  if (!parsed || parsed->scheme_id() != urls::scheme::file || parsed->has_query() ||
      parsed->has_fragment())
    return std::nullopt;
  const auto host = parsed->host();
  if (!host.empty() && host != "localhost")
    return std::nullopt;
  std::string path = parsed->path();
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string::npos)
    return std::nullopt;
  return path;
}

std::string file_uri(std::string_view path) {
  return "file://" + urls::encode(path, urls::pchars + '/');
}

} // namespace ahpd::ahp
