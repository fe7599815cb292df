#include "protocol/ahp/versions.hpp"

#include "protocol/ahp/versions/steps.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
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
  if (major != 0)
    return std::nullopt;
  switch (minor) {
  case 9:
    return dialect::v0_9;
  case 8:
    return dialect::v0_8;
  case 7:
    return dialect::v0_7;
  case 6:
    return dialect::v0_6;
  default:
    return std::nullopt;
  }
}

// ---- the chain ----

/// From the newest version to the oldest. What a peer sees went through every step down to its own;
/// what it sends goes up through the same steps.
constexpr std::array chain{&versions::to_0_9, &versions::to_0_8, &versions::to_0_7,
                           &versions::to_0_6};
static_assert(chain.size() + 1 == dialects);

using steps = std::span<const versions::step* const>;

/// The steps between the model and a dialect, newest first.
steps down_to(dialect speaks) {
  return steps(chain).first(static_cast<std::size_t>(speaks));
}

/// What one action becomes in the version before.
void step_down(const versions::step& to, const json::shared& action, const value& state,
               std::vector<json::shared>& out) {
  const auto type = json::string_member(*action, "type");
  if (!type)
    return out.push_back(action);
  if (to.lacks(*type, *action)) {
    for (auto& other : to.instead(*type, *action, state))
      out.push_back(std::make_shared<const value>(std::move(other)));
    return;
  }
  if (!to.differs(*type, *action))
    return out.push_back(action);
  value copy = *action;
  to.action(*type, copy.get_object(), state);
  out.push_back(std::make_shared<const value>(std::move(copy)));
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
  return {"^1.0.0", "^0.9.0", "^0.8.0", "^0.7.0", "^0.6.0"};
}

bool has_action(dialect speaks, std::string_view type) {
  const auto all = down_to(speaks);
  return std::none_of(all.begin(), all.end(), [&](auto* to) { return to->lacks(type, nullptr); });
}

std::vector<json::shared> adapt_action(dialect speaks, const json::shared& action,
                                       const value& state) {
  std::vector<json::shared> adapted{action};
  for (const auto* to : down_to(speaks)) {
    std::vector<json::shared> older;
    for (const auto& one : adapted)
      step_down(*to, one, state, older);
    adapted = std::move(older);
  }
  return adapted;
}

bool needs_state(dialect speaks, std::string_view type) {
  const auto all = down_to(speaks);
  return std::any_of(all.begin(), all.end(), [&](auto* to) { return to->needs_state(type); });
}

value adapt_state(dialect speaks, channel_kind kind, value state) {
  if (auto* o = state.if_object())
    for (const auto* to : down_to(speaks))
      to->state(kind, *o);
  return state;
}

value adapt_notification(dialect speaks, std::string_view method, value params) {
  auto* o = params.if_object();
  if (!o)
    return params;
  auto* row = method == "root/sessionAdded"            ? versions::object_member(*o, "summary")
              : method == "root/sessionSummaryChanged" ? versions::object_member(*o, "changes")
                                                       : nullptr;
  for (const auto* to : down_to(speaks)) {
    if (row)
      to->summary(*row);
    to->notification(method, *o);
  }
  return params;
}

value adapt_result(dialect speaks, std::string_view method, value result) {
  auto* o = result.if_object();
  if (!o)
    return result;
  for (const auto* to : down_to(speaks)) {
    if (method == "listSessions")
      versions::each(*o, {"items"}, {}, to->summary);
    to->result(method, *o);
  }
  return result;
}

object accept_params(dialect speaks, std::string_view method, object params) {
  const auto all = down_to(speaks);
  std::for_each(all.rbegin(), all.rend(), [&](auto* to) { to->accept(method, params); });
  return params;
}

} // namespace ahpd::ahp
