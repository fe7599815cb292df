#pragma once

#include "actors/hub/call.hpp"

#include <functional>
#include <string>
#include <variant>

namespace ahpd::hub {

/// The result of a request as JSON text, or why there is none.
using pool_answer = std::variant<std::string, jsonrpc::error>;

/// Answers a call with what `work` makes of its params on the blocking pool. The work of one
/// connection is done one after the other, in the order of its requests: a read sees the write that
/// was sent before it, and no client takes all the threads.
void answer_from_pool(const call& c, std::function<pool_answer(const json::object& params)> work);

} // namespace ahpd::hub
