#pragma once

#include "protocol/transport/client.hpp"
#include "tools/ahpd/client/words.hpp"

#include <string>

namespace ahpd::client {

/// Where the hub is, and what opens its door.
struct hub_address {
  transport::target to;
  std::string path = "/";
  std::string shown;  ///< for messages: the URL without a token
  std::string token;  ///< empty: none
  bool local = false; ///< this machine's own daemon
};

/// From `--remote`, else from the record of the daemon that runs here. The token is that of
/// `--token` or `--token-file`, the URL's own `tkn` or the record's, or AHPD_TOKEN, in this order.
/// Throws client_failure.
hub_address find_hub(const words& given);

/// Takes a ws, wss, http or https URL apart; a `tkn` in its query becomes the token. Throws
/// client_failure naming the URL without its query.
hub_address parse_hub_url(const std::string& url);

} // namespace ahpd::client
