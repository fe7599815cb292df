#include "actors/core/errors.hpp"

#include <caf/atom.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

namespace ahpd::core {

namespace {

constexpr auto category = caf::atom("wire");

} // namespace

caf::error refusal(int code, std::string sentence) {
  return {1, category, caf::make_message(code, std::move(sentence))};
}

jsonrpc::error to_wire(const caf::error& why) {
  if (why.category() == category && why.context().match_elements<int, std::string>())
    return {why.context().get_as<int>(0), why.context().get_as<std::string>(1), nullptr};
  if (why == caf::sec::request_timeout)
    return {jsonrpc::internal_error, "The answer did not come in time", nullptr};
  return {jsonrpc::internal_error, "The part of the host that serves this stopped; ask again",
          nullptr};
}

} // namespace ahpd::core
