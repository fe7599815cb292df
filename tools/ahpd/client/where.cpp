#include "tools/ahpd/client/where.hpp"

#include "config/daemon_record.hpp"
#include "config/files.hpp"
#include "config/options.hpp"
#include "tools/ahpd/client/failure.hpp"

#include <boost/url.hpp>

#include <algorithm>
#include <cstdlib>

namespace ahpd::client {

namespace {

constexpr std::size_t token_bytes = 64u << 10; ///< a token is far smaller

std::string read_token_file(const std::string& path) {
  std::string text;
  try {
    text = config::read_whole(path, token_bytes);
  } catch (const config::file_error& why) {
    throw client_failure{exit_refused, why.what(), "Check the name after --token-file."};
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  if (text.empty())
    throw client_failure{exit_wrong_words, path + " is empty.", ""};
  return text;
}

std::optional<std::string> given_token(const words& given) {
  if (given.has("--token") && given.has("--token-file"))
    wrong_words(given, "give `--token` or `--token-file`, not both");
  if (const auto file = given.value("--token-file"))
    return read_token_file(*file);
  if (const auto secret = given.value("--token")) {
    if (secret->empty())
      wrong_words(given, "`--token` was empty");
    return secret;
  }
  return std::nullopt;
}

/// The daemon that `ahpd start` keeps running here.
hub_address local_hub() {
  const auto record = config::find_daemon(config::config_directory(config::real_surroundings()));
  if (!record)
    throw client_failure{exit_refused, "no hub is running here",
                         "Start one with `ahpd start`, or name another with --remote URL."};
  auto out = parse_hub_url(record->connect_url);
  out.local = true;
  return out;
}

} // namespace

hub_address parse_hub_url(const std::string& url) {
  const auto shown = url.substr(0, url.find_first_of("?#"));
  const auto bad = [&](const std::string& expected) {
    return client_failure{exit_wrong_words, shown + " is not a hub's URL: " + expected,
                          "Give one like ws://127.0.0.1:9187 or https://hub.example.com."};
  };
  // Boost.URL 1.81 aborts on some texts without an authority ("ws:?").
  if (url.substr(std::min(url.find(':'), url.size())).rfind("://", 0) != 0)
    throw bad("it cannot be read as a URL");
  const auto parsed = boost::urls::parse_uri(url);
  if (!parsed)
    throw bad("it cannot be read as a URL");
  const auto scheme = parsed->scheme();
  hub_address out;
  if (scheme == "wss" || scheme == "https")
    out.to.tls = true;
  else if (scheme != "ws" && scheme != "http")
    throw bad("its scheme must be ws, wss, http or https");
  if (parsed->host_address().empty())
    throw bad("it names no host");
  if (parsed->has_userinfo())
    throw bad("a user name is not used; give the token with --token-file");
  out.to.host = parsed->host_address();
  out.to.port = out.to.tls ? 443 : 80;
  if (parsed->has_port()) {
    out.to.port = parsed->port_number();
    if (out.to.port == 0)
      throw bad("its port must be a number from 1 to 65535");
  }
  boost::urls::url rest(*parsed);
  for (const auto& param : parsed->params())
    if (param.key == "tkn")
      out.token = param.value;
  rest.params().erase("tkn");
  out.path = rest.encoded_path().empty() ? "/" : std::string(rest.encoded_path());
  if (!rest.encoded_query().empty())
    out.path += "?" + std::string(rest.encoded_query());
  out.shown = shown;
  return out;
}

hub_address find_hub(const words& given) {
  const auto remote = given.value("--remote");
  const auto token = given_token(given);
  auto out = remote ? parse_hub_url(*remote) : local_hub();
  if (token)
    out.token = *token;
  // What was exported for another hub must not keep a person out of the one that runs here.
  const char* exported = std::getenv("AHPD_TOKEN");
  if (out.token.empty() && exported)
    out.token = exported;
  return out;
}

} // namespace ahpd::client
