#include "protocol/ahp/reducing.hpp"

namespace ahpd::ahp::reducing {

namespace {

using json::object;
using json::value;

bool lifecycle(object& s, const value& a) {
  const bool changed = put_given(s, a, "lifecycle");
  return put_given(s, a, "operations") || changed;
}

bool session_removed(object& s, const value& a) {
  const auto session = text(a, "session");
  if (!remove_string(s, "sessions", session))
    return false;
  const auto* primary = s.if_contains("primarySession");
  if (primary && primary->is_string() && primary->get_string() == *session)
    s.erase("primarySession");
  return true;
}

} // namespace

const steps& automations_steps() {
  // createRequested and updateRequested are wishes: what comes of them is an automation/set.
  static const steps all{
    {"automation/set",
     [](object& s, const value& a) {
       return upsert(s, "entries", "resource", json::member(a, "automation"));
     }},
    {"automation/removed",
     [](object& s, const value& a) {
       return remove(s, "entries", "resource", text(a, "resource"));
     }},
  };
  return all;
}

const steps& automation_run_steps() {
  // cancelRequested is a wish: what comes of it is a lifecycleChanged.
  static const steps all{
    {"automationRun/lifecycleChanged", lifecycle},
    {"automationRun/sessionSet",
     [](object& s, const value& a) { return add_string(s, "sessions", text(a, "session")); }},
    {"automationRun/sessionRemoved", session_removed},
    {"automationRun/primarySessionChanged",
     [](object& s, const value& a) { return put_from(s, a, "primarySession"); }},
  };
  return all;
}

} // namespace ahpd::ahp::reducing
