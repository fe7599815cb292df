#include "runtimes/docker/address.hpp"

#include <charconv>
#include <string_view>

namespace ahpd::runtimes {

namespace {

constexpr std::string_view standard_socket = "/var/run/docker.sock";

std::string value(const std::map<std::string, std::string>& env, const char* name) {
  const auto found = env.find(name);
  return found == env.end() ? "" : found->second;
}

/// "host:port" or "[::1]:port"; false when it is neither.
bool read_host_and_port(std::string_view text, std::string& host, std::uint16_t& port) {
  text = text.substr(0, text.find('/'));
  const auto colon = text.rfind(':');
  if (colon == text.npos)
    return false;
  const auto number = text.substr(colon + 1);
  const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), port);
  auto name = text.substr(0, colon);
  if (name.starts_with('[') && name.ends_with(']'))
    name = name.substr(1, name.size() - 2);
  host = name;
  return ec == std::errc() && end == number.data() + number.size() && port != 0 && !host.empty();
}

} // namespace

std::variant<engine_address, std::string>
find_engine(const std::map<std::string, std::string>& env) {
  constexpr std::string_view unix_scheme = "unix://";
  constexpr std::string_view tcp_scheme = "tcp://";
  engine_address out;
  out.words = value(env, "DOCKER_HOST");
  if (out.words.empty())
    out.words = std::string(unix_scheme) + std::string(standard_socket);
  const std::string_view text = out.words;

  if (text.starts_with(unix_scheme)) {
    out.where.host = "docker";
    out.where.unix_path = text.substr(unix_scheme.size());
    if (!out.where.unix_path.starts_with('/'))
      return "DOCKER_HOST names " + out.words + ", and unix:// takes an absolute path";
    return out;
  }
  if (text.starts_with("ssh://"))
    return "DOCKER_HOST names " + out.words +
           ", and this host reaches no Docker over ssh yet; forward its socket and name that as "
           "unix://";
  if (!text.starts_with(tcp_scheme))
    return "DOCKER_HOST names " + out.words + ", which is neither unix:// nor tcp://";
  if (!read_host_and_port(text.substr(tcp_scheme.size()), out.where.host, out.where.port))
    return "DOCKER_HOST names " + out.words + ", and tcp:// takes a host and a port";
  auto files = value(env, "DOCKER_CERT_PATH");
  if (!files.empty() || !value(env, "DOCKER_TLS_VERIFY").empty()) {
    if (files.empty())
      files = value(env, "HOME") + "/.docker";
    out.where.tls = true;
    out.where.tls_roots = files + "/ca.pem";
    out.where.tls_certificate = files + "/cert.pem";
    out.where.tls_key = files + "/key.pem";
  }
  return out;
}

} // namespace ahpd::runtimes
