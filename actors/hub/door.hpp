#pragma once

#include "protocol/transport/http.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ahpd::hub {

/// Who is let in (spec "The door"): the token, and for what a browser may be made to send, the Host
/// and Origin fields.
struct door {
  std::string token; ///< empty: none is asked for
  std::string host;  ///< the address that was bound
};

/// Whether the request carries the token, as `?tkn=` or as a bearer; compared in constant time.
/// Without a token every request does.
bool has_token(const door& d, const transport::http_request& request);

/// Whether the request carries `secret` as a bearer; compared in constant time.
bool bears(const transport::http_request& request, const std::string& secret);

/// The refusal of a WebSocket upgrade, or nothing when it may go on: 401 without the token, 403 for
/// a Host that is not this machine's while only loopback is bound (DNS rebinding), 403 for a web
/// page of another host.
std::optional<transport::http_response> refuse_upgrade(const door& d,
                                                       const transport::http_request& request);

} // namespace ahpd::hub
