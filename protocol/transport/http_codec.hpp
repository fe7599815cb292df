#pragma once

#include "protocol/transport/http.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include <functional>

/// HTTP/1.1 text: Beast's parser filling our own structs, and the heads we write. Private to this
/// folder.
namespace ahpd::transport {

/// Reads one request (`http_request`) or answer (`http_response`) from bytes as they come.
template <bool is_request>
class message_parser final : public boost::beast::http::basic_parser<is_request> {
public:
  using message = std::conditional_t<is_request, http_request, http_response>;
  using error_code = boost::beast::error_code;
  using view = boost::beast::string_view;

  message what;
  bool repeated_host = false;
  bool is_http11 = false;
  std::function<void(std::string_view)>
    body_to; ///< not empty: takes the body instead of `what.body`

  /// Parses what `in` holds and consumes what it used. `http::error::need_more` is not an error
  /// here.
  void feed(boost::beast::flat_buffer& in, error_code& ec);

private:
  void on_request_impl(boost::beast::http::verb, view method, view target, int version,
                       error_code& ec) override;
  void on_response_impl(int code, view reason, int version, error_code& ec) override;
  void on_field_impl(boost::beast::http::field, view name, view value, error_code& ec) override;
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(view body, error_code&) override { return take(body); }
  void on_chunk_header_impl(std::uint64_t, view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, view body, error_code&) override {
    return take(body);
  }
  void on_finish_impl(error_code&) override {}

  std::size_t take(view body);
};

extern template class message_parser<true>;
extern template class message_parser<false>;

/// Head of a request, with Content-Length where it belongs. Empty, with a sentence in `error`, when
/// a part of it would break the framing.
std::string request_head(const http_request& what, const std::string& default_host,
                         std::string& error);

/// How the end of an answer's body is known.
enum class framing : std::uint8_t {
  none,    ///< there is no body, or the end of the connection is its end
  length,  ///< by Content-Length: the file's size, else the body's
  chunked, ///< RFC 9112, 7.1
};

/// Head of an answer. Control characters in a value become spaces.
std::string response_head(const http_response& what, bool close, framing body);

/// The line before `n` bytes of a chunked body. Zero bytes would be its end.
std::string chunk_head(std::size_t n);

/// True when the comma-separated list `value` has `token`, without case.
bool has_token(std::string_view value, std::string_view token);

/// The value of a field, or an empty text.
std::string_view value_of(const fields& from, std::string_view name);

} // namespace ahpd::transport
