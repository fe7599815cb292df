#include "protocol/ahp/reducing.hpp"

namespace ahpd::ahp::reducing {

using json::object;
using json::value;

const steps& root_steps() {
  static const steps all{
    {"root/agentsChanged", [](object& s, const value& a) { return put_given(s, a, "agents"); }},
    {"root/activeSessionsChanged",
     [](object& s, const value& a) { return put_given(s, a, "activeSessions"); }},
    {"root/terminalsChanged",
     [](object& s, const value& a) { return put_given(s, a, "terminals"); }},
    {"root/configChanged", change_config},
  };
  return all;
}

const steps& computers_steps() {
  constexpr step set = [](object& s, const value& a) {
    const auto id = text(a, "id");
    const auto* record = json::member(a, "record");
    if (!id || !record)
      return false;
    const value item = object{{"id", *id}, {"record", *record}};
    return upsert(s, "records", "id", &item);
  };
  static const steps all{
    {"x-ahpd-computers/added", set},
    {"x-ahpd-computers/changed", set},
    {"x-ahpd-computers/removed",
     [](object& s, const value& a) { return remove(s, "records", "id", text(a, "id")); }},
  };
  return all;
}

} // namespace ahpd::ahp::reducing
