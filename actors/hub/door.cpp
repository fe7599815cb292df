#include "actors/hub/door.hpp"

#include "protocol/percent.hpp"
#include "protocol/secret.hpp"

#include <algorithm>
#include <string_view>

namespace ahpd::hub {

namespace {

bool loopback(std::string_view name) {
  return name == "127.0.0.1" || name == "localhost" || name == "::1" || name == "[::1]";
}

/// The name in `name[:port]` or `[v6][:port]`, lower-cased.
std::string name_of(std::string_view authority) {
  std::string name;
  if (!authority.empty() && authority.front() == '[')
    name = authority.substr(0, authority.find(']') + 1);
  else
    name = authority.substr(0, authority.find(':'));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string header(const transport::http_request& request, std::string_view name) {
  const auto i = request.headers.find(name);
  return i == request.headers.end() ? std::string{} : i->second;
}

/// The token of the field Authorization.
std::string bearer(const transport::http_request& request) {
  const auto field = header(request, "Authorization");
  const std::string_view scheme = "bearer ";
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  if (field.size() > scheme.size() && std::equal(scheme.begin(), scheme.end(), field.begin(),
                                                 [&](char b, char a) { return same(a, b); }))
    return field.substr(scheme.size());
  return {};
}

/// What the request presents: the query is looked at first.
std::string presented(const transport::http_request& request) {
  const std::string_view target = request.target;
  const auto question = target.find('?');
  auto query =
    question == std::string_view::npos ? std::string_view{} : target.substr(question + 1);
  while (!query.empty()) {
    const auto end = query.find('&');
    const auto pair = query.substr(0, end);
    if (pair.substr(0, 4) == "tkn=")
      return percent::decode(pair.substr(4)).value_or(std::string(pair.substr(4)));
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
  }
  return bearer(request);
}

transport::http_response refusal(unsigned status, std::string text) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(text)};
}

} // namespace

bool has_token(const door& d, const transport::http_request& request) {
  return d.token.empty() || same_secret(d.token, presented(request));
}

bool bears(const transport::http_request& request, const std::string& secret) {
  return same_secret(secret, bearer(request));
}

std::optional<transport::http_response> refuse_upgrade(const door& d,
                                                       const transport::http_request& request) {
  if (!has_token(d, request))
    return refusal(401, "A connection token is required");
  const auto host = header(request, "Host");
  if (host.empty())
    return refusal(403, "This host does not answer to a request with no Host");
  if (loopback(d.host) && !loopback(name_of(host)))
    return refusal(403, "This host does not answer to " + host);
  // Programs send no Origin, or one of a scheme of their own; a web page cannot choose its.
  const auto origin = header(request, "Origin");
  const auto slashes = origin.find("://");
  const auto scheme = origin.substr(0, slashes);
  if (slashes != std::string::npos && (scheme == "http" || scheme == "https")) {
    const auto page = name_of(std::string_view(origin).substr(slashes + 3));
    if (page != name_of(host) && !loopback(page))
      return refusal(403, "This host does not answer to a page of " + origin);
  }
  return std::nullopt;
}

} // namespace ahpd::hub
