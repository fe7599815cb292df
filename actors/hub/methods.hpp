#pragma once

#include "protocol/json.hpp"

#include <string_view>

namespace ahpd::hub {

/// What a method's `params.channel` must be.
enum class channel_rule {
  root, ///< ahp-root:// or nothing: the literal-channel commands
  any,  ///< names the target
};

/// How a method is served. A method that the protocol has and this host does not yet serve says so
/// in one sentence.
enum class service {
  hub,     ///< needs `initialize` first
  always,  ///< also before `initialize`
  not_yet, ///< -32601 with `missing`
};

/// One row of the table of every method of AHP 1.0 and of this host's own.
struct method_rule {
  std::string_view name;
  channel_rule channel;
  service by;
  /// What a connection needs to call it (spec "Where it is asked"); empty: nothing. `<scheme>`
  /// stands for the scheme of the URI it names.
  std::string_view grant;
  std::string_view missing; ///< for `not_yet`: what is missing
};

/// The row of a method, or null when nobody classified it.
const method_rule* find_method(std::string_view name);

/// `ahpd.grants`: every subject this host gates and what each may be granted (spec "Grants").
json::object grants_document(bool computers);

} // namespace ahpd::hub
