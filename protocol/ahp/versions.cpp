#include "protocol/ahp/versions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

namespace ahpd::ahp {

namespace {

using json::object;
using json::value;

// ---- negotiation ----

using semver = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

/// Reads one number off the front of `text`: no sign, no leading zero, at most nine digits.
std::optional<std::uint32_t> number(std::string_view& text) {
  std::uint32_t n = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 10)
    n = n * 10 + static_cast<std::uint32_t>(text[digits++] - '0');
  if (digits == 0 || digits > 9 || (digits > 1 && text.front() == '0'))
    return std::nullopt;
  text.remove_prefix(digits);
  return n;
}

bool dot(std::string_view& text) {
  if (text.empty() || text.front() != '.')
    return false;
  text.remove_prefix(1);
  return true;
}

std::optional<semver> parse_version(std::string_view text) {
  const auto major = number(text);
  if (!major || !dot(text))
    return std::nullopt;
  const auto minor = number(text);
  if (!minor || !dot(text))
    return std::nullopt;
  const auto patch = number(text);
  if (!patch || !text.empty())
    return std::nullopt;
  return semver{*major, *minor, *patch};
}

/// The dialect of a version below 1.0, where each minor is a range of its own.
std::optional<dialect> before_one(const semver& version) {
  const auto& [major, minor, patch] = version;
  if (major == 0 && minor == 9)
    return dialect::v0_9;
  return std::nullopt;
}

// ---- one step back: 1.0 as 0.9 has it ----

constexpr std::array<std::string_view, 9> new_in_1_0{
  "chat/backgroundWorkRemoved", "chat/backgroundWorkSet", "chat/canvasesChanged",
  "chat/changesetsChanged",     "chat/isArchivedChanged", "chat/isReadChanged",
  "chat/movableChanged",        "session/chatsReordered", "session/mcpServerBackgroundRequested",
};

bool lacks_in_0_9(std::string_view type) {
  return std::find(new_in_1_0.begin(), new_in_1_0.end(), type) != new_in_1_0.end();
}

void erase(object& o, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys)
    o.erase(key);
}

bool recomputing(const value& v) {
  return json::string_member(v, "status") == "recomputing";
}

/// Members of a chat that 1.0 added to its summary.
void summary_of_chat_to_0_9(value* chat) {
  if (auto* o = chat ? chat->if_object() : nullptr)
    erase(*o, {"changes", "movable"});
}

bool differs_in_0_9(std::string_view type, const value& action) {
  return type == "session/chatAdded" || type == "session/chatUpdated" ||
         (type == "changeset/statusChanged" && recomputing(action));
}

void action_to_0_9(std::string_view type, value& action) {
  if (type == "session/chatAdded")
    summary_of_chat_to_0_9(json::member(action, "summary"));
  else if (type == "session/chatUpdated")
    summary_of_chat_to_0_9(json::member(action, "changes"));
  else
    action.get_object()["status"] = "computing";
}

void state_to_0_9(value& state) {
  auto* o = state.if_object();
  if (!o)
    return;
  if (recomputing(state))
    (*o)["status"] = "computing";
  if (o->contains("turns"))
    erase(*o, {"changes", "movable", "changesets", "backgroundWork", "canvases"});
  auto* chats = json::member(state, "chats");
  if (auto* list = chats ? chats->if_array() : nullptr)
    for (auto& chat : *list)
      summary_of_chat_to_0_9(&chat);
}

void summary_to_0_9(object& summary) {
  erase(summary, {"chats", "defaultChat"});
}

/// Nothing that a 0.9 peer sends reads differently in 1.0.
void accept_from_0_9(std::string_view, object&) {}

// ---- the chain ----

/// How one version reads in the one before it, and the way back.
struct step {
  dialect older;
  bool (*lacks)(std::string_view type); ///< actions that the older version does not know
  bool (*differs)(std::string_view type, const value& action); ///< actions that `action` rewrites
  void (*action)(std::string_view type, value& action);
  void (*state)(value& state);
  void (*summary)(object& summary);
  void (*accept)(std::string_view method, object& params);
};

/// From the newest version to the oldest. What a peer sees went through every step down to its own;
/// what it sends goes up through the same steps.
constexpr std::array chain{
  step{dialect::v0_9, lacks_in_0_9, differs_in_0_9, action_to_0_9, state_to_0_9, summary_to_0_9,
       accept_from_0_9},
};

/// How many steps lie between the model and a dialect.
std::size_t steps_to(dialect speaks) {
  for (std::size_t i = 0; i < chain.size(); ++i)
    if (chain[i].older == speaks)
      return i + 1;
  return 0;
}

} // namespace

std::optional<negotiated> negotiate(const std::vector<std::string>& offered) {
  const std::string* best = nullptr;
  semver highest;
  for (const auto& text : offered) {
    const auto version = parse_version(text);
    if (version && std::get<0>(*version) == 1 && (!best || *version > highest)) {
      best = &text;
      highest = *version;
    }
  }
  if (best)
    return negotiated{*best, dialect::v1_0};
  for (const auto& text : offered) {
    const auto version = parse_version(text);
    const auto speaks = version ? before_one(*version) : std::nullopt;
    if (speaks)
      return negotiated{text, *speaks};
  }
  return std::nullopt;
}

json::array supported_versions() {
  return {"^1.0.0", "^0.9.0"};
}

json::shared adapt_action(dialect speaks, const json::shared& action) {
  auto adapted = action;
  for (std::size_t i = 0; i < steps_to(speaks); ++i) {
    const auto type = json::string_member(*adapted, "type");
    if (!type)
      return adapted;
    if (chain[i].lacks(*type))
      return nullptr;
    if (!chain[i].differs(*type, *adapted))
      continue;
    auto copy = std::make_shared<value>(*adapted);
    chain[i].action(*type, *copy);
    adapted = std::move(copy);
  }
  return adapted;
}

value adapt_state(dialect speaks, value state) {
  for (std::size_t i = 0; i < steps_to(speaks); ++i)
    chain[i].state(state);
  return state;
}

value adapt_summary(dialect speaks, value summary) {
  auto* o = summary.if_object();
  for (std::size_t i = 0; o && i < steps_to(speaks); ++i)
    chain[i].summary(*o);
  return summary;
}

object accept_params(dialect speaks, std::string_view method, object params) {
  for (auto i = steps_to(speaks); i-- > 0;)
    chain[i].accept(method, params);
  return params;
}

} // namespace ahpd::ahp
