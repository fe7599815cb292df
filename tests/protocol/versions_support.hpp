#pragma once

#include "protocol/ahp/versions.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>

/// What the tests of the dialects share: JSON in and out as text.
namespace ahpd::tests {

inline json::value parsed(std::string_view text) {
  std::string error;
  auto v = json::parse_text(text, 64, error);
  REQUIRE_MESSAGE(v, text << ": " << error);
  return *v;
}

/// A document, made of its text or as it is.
struct document {
  document(const char* text) : tree(parsed(text)) {}
  document(const std::string& text) : tree(parsed(text)) {}
  document(json::value v) : tree(std::move(v)) {}
  document(json::object o) : tree(std::move(o)) {}

  json::value tree;
};

/// The actions that a peer sees in place of `action`, as one JSON list.
inline json::value seen(ahp::dialect speaks, const document& action,
                        const document& state = json::value(nullptr)) {
  json::array out;
  for (const auto& one :
       ahp::adapt_action(speaks, std::make_shared<const json::value>(action.tree), state.tree))
    out.push_back(*one);
  return out;
}

inline json::value state_seen(ahp::dialect speaks, ahp::channel_kind kind, std::string_view state) {
  return ahp::adapt_state(speaks, kind, parsed(state));
}

/// The 1.0 params of what a peer sends.
inline json::value accepted(ahp::dialect speaks, std::string_view method, std::string_view params) {
  return ahp::accept_params(speaks, method, parsed(params).as_object());
}

/// The 1.0 action of one that a peer dispatches to `channel`.
inline json::value dispatched(ahp::dialect speaks, std::string_view action,
                              std::string_view channel = "ahp-chat:/c") {
  return ahp::accept_params(speaks, "dispatchAction",
                            {{"channel", channel}, {"clientSeq", 1}, {"action", parsed(action)}})
    .at("action");
}

/// Equal up to the order of members; prints both when not.
#define CHECK_SAME(got, wanted)                                                                    \
  do {                                                                                             \
    const ahpd::json::value got_value(got);                                                        \
    const ahpd::json::value wanted_value(wanted);                                                  \
    CHECK_MESSAGE(got_value == wanted_value, ahpd::json::serialize(got_value)                      \
                                               << "\nexpected\n"                                   \
                                               << ahpd::json::serialize(wanted_value));            \
  } while (false)

} // namespace ahpd::tests
