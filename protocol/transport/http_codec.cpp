#include "protocol/transport/http_codec.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace http = boost::beast::http;
namespace beast = boost::beast;

namespace ahpd::transport {

namespace {

bool plain_char(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
}

/// True for text that fits into one header line.
bool one_line(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return plain_char(c) || c == '\t'; });
}

bool is_token(std::string_view text) {
  static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           marks.find(c) != std::string_view::npos;
  });
}

} // namespace

bool case_blind_less::operator()(std::string_view a, std::string_view b) const {
  return beast::iless()(beast::string_view(a.data(), a.size()),
                        beast::string_view(b.data(), b.size()));
}

template <bool is_request>
void message_parser<is_request>::feed(beast::flat_buffer& in, error_code& ec) {
  ec = {};
  while (in.size() > 0 && !this->is_done()) {
    const bool in_header = !this->is_header_done();
    in.consume(this->put(in.data(), ec));
    if (ec == http::error::need_more) {
      ec = {};
      return;
    }
    if (ec || (in_header && this->is_header_done()))
      return; // the caller looks at the header before the body is taken
  }
}

template <bool is_request>
void message_parser<is_request>::on_request_impl(http::verb, view method, view target, int version,
                                                 error_code&) {
  is_http11 = version == 11;
  if constexpr (is_request) {
    what.method = std::string(method);
    what.target = std::string(target);
  }
}

template <bool is_request>
void message_parser<is_request>::on_response_impl(int code, view, int version, error_code&) {
  is_http11 = version == 11;
  if constexpr (!is_request)
    what.status = static_cast<unsigned>(code);
}

template <bool is_request>
void message_parser<is_request>::on_field_impl(http::field name, view text, view value,
                                               error_code&) {
  const bool is_new = what.headers.emplace(std::string(text), std::string(value)).second;
  if (name == http::field::host && !is_new)
    repeated_host = true;
}

template <bool is_request> std::size_t message_parser<is_request>::take(view body) {
  if (body_to)
    body_to({body.data(), body.size()});
  else
    what.body.append(body.data(), body.size());
  return body.size();
}

template class message_parser<true>;
template class message_parser<false>;

std::string request_head(const http_request& what, const std::string& default_host,
                         std::string& error) {
  error.clear();
  if (!is_token(what.method))
    error = "the request's method is not a token";
  else if (what.target.empty() || !one_line(what.target) ||
           what.target.find_first_of(" \t") != std::string::npos)
    error = "the request's target must be one word without spaces and control characters";
  std::string out = what.method + " " + what.target + " HTTP/1.1\r\n";
  if (!what.headers.count("Host"))
    out += "Host: " + default_host + "\r\n";
  for (const auto& [name, value] : what.headers) {
    if (!is_token(name) || !one_line(value))
      error = "the request's header field " + name + " must be one line of printable text";
    if (!beast::iequals(name, "Content-Length") && !beast::iequals(name, "Transfer-Encoding"))
      out += name + ": " + value + "\r\n";
  }
  if (!what.body.empty() || what.method == "POST" || what.method == "PUT" || what.method == "PATCH")
    out += "Content-Length: " + std::to_string(what.body.size()) + "\r\n";
  return error.empty() ? out + "\r\n" : std::string();
}

std::string response_head(const http_response& what, bool close, framing body) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(what.status));
  std::string out = "HTTP/1.1 " + std::to_string(what.status) + " ";
  out.append(reason.data(), reason.size());
  out += "\r\n";
  for (const auto& [name, value] : what.headers) {
    if (!is_token(name) || beast::iequals(name, "Content-Length") ||
        beast::iequals(name, "Transfer-Encoding") || beast::iequals(name, "Connection"))
      continue;
    std::string line = value;
    std::replace_if(
      line.begin(), line.end(), [](char c) { return !plain_char(c); }, ' ');
    out += name + ": " + line + "\r\n";
  }
  if (close)
    out += "Connection: close\r\n";
  if (body == framing::length)
    out += "Content-Length: " +
           std::to_string(what.file ? what.file->size : std::uint64_t{what.body.size()}) + "\r\n";
  else if (body == framing::chunked)
    out += "Transfer-Encoding: chunked\r\n";
  return out + "\r\n";
}

std::string chunk_head(std::size_t n) {
  std::array<char, 2 * sizeof n> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), n, 16).ptr;
  return std::string(digits.data(), end) + "\r\n";
}

bool has_token(std::string_view value, std::string_view token) {
  return http::token_list(beast::string_view(value.data(), value.size()))
    .exists(beast::string_view(token.data(), token.size()));
}

std::string_view value_of(const fields& from, std::string_view name) {
  const auto it = from.find(name);
  return it == from.end() ? std::string_view() : std::string_view(it->second);
}

} // namespace ahpd::transport
