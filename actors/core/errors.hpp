#pragma once

#include "protocol/jsonrpc/message.hpp"

#include <caf/error.hpp>

#include <string>

namespace ahpd::core {

/// An answer between actors that says what goes on the wire: a JSON-RPC or AHP code and a sentence.
caf::error refusal(int code, std::string sentence);

/// What an error becomes on the wire. Errors of CAF's own (a dead receiver, a time-out) become
/// -32603 with a sentence a person can read.
jsonrpc::error to_wire(const caf::error& why);

} // namespace ahpd::core
