#include "protocol/ahp/request_members.hpp"

#include <algorithm>
#include <array>

namespace ahpd::ahp {

namespace {

enum class kind {
  text,
  count, ///< a whole number, 0 or more
  flag,
  object,
  list,
  texts, ///< an array of strings
  token, ///< a string or a number
};

struct member_rule {
  std::string_view method;
  std::string_view member; ///< "view.turns": `turns` of the object `view`, whose own row is before
  kind what;
};

constexpr std::array members{
  member_rule{"listSessions", "limit", kind::count},
  member_rule{"listSessions", "cursor", kind::text},
  member_rule{"subscribe", "view", kind::object},
  member_rule{"subscribe", "view.turns", kind::count},
  member_rule{"subscribe", "delivery", kind::object},
  member_rule{"subscribe", "delivery.maxLatencyMs", kind::count},
  member_rule{"authenticate", "resource", kind::text},
  member_rule{"authenticate", "token", kind::text},
  member_rule{"authenticate", "scopes", kind::texts},
  member_rule{"authenticate", "expiresIn", kind::count},
  member_rule{"createSession", "provider", kind::text},
  member_rule{"createSession", "workingDirectory", kind::text}, // before 0.7
  member_rule{"createSession", "workingDirectories", kind::texts},
  member_rule{"createSession", "fork", kind::object}, // before 0.9
  member_rule{"createSession", "config", kind::object},
  member_rule{"createSession", "config.computer", kind::text},
  member_rule{"createSession", "activeClient", kind::object},
  member_rule{"createSession", "progressToken", kind::token},
  member_rule{"resolveSessionConfig", "provider", kind::text},
  member_rule{"resolveSessionConfig", "workingDirectory", kind::text},
  member_rule{"resolveSessionConfig", "config", kind::object},
  member_rule{"sessionConfigCompletions", "property", kind::text},
  member_rule{"sessionConfigCompletions", "query", kind::text},
  member_rule{"sessionConfigCompletions", "provider", kind::text},
  member_rule{"sessionConfigCompletions", "workingDirectory", kind::text},
  member_rule{"sessionConfigCompletions", "config", kind::object},
  member_rule{"createChat", "chat", kind::text},
  member_rule{"createChat", "initialMessage", kind::object},
  member_rule{"createChat", "source", kind::object},
  member_rule{"createChat", "workingDirectories", kind::texts},
  member_rule{"fetchTurns", "cursor", kind::text},
  member_rule{"completions", "kind", kind::text},
  member_rule{"completions", "text", kind::text},
  member_rule{"completions", "offset", kind::count},
  member_rule{"invokeChangesetOperation", "operationId", kind::text},
  member_rule{"invokeChangesetOperation", "target", kind::object},
  member_rule{"resourceRead", "uri", kind::text},
  member_rule{"resourceRead", "encoding", kind::text},
  member_rule{"resourceWrite", "uri", kind::text},
  member_rule{"resourceWrite", "data", kind::text},
  member_rule{"resourceWrite", "encoding", kind::text},
  member_rule{"resourceWrite", "contentType", kind::text},
  member_rule{"resourceWrite", "createOnly", kind::flag},
  member_rule{"resourceWrite", "mode", kind::text},
  member_rule{"resourceWrite", "position", kind::count},
  member_rule{"resourceWrite", "ifMatch", kind::text},
  member_rule{"resourceWrite", "progressToken", kind::token},
  member_rule{"resourceList", "uri", kind::text},
  member_rule{"resourceCopy", "source", kind::text},
  member_rule{"resourceCopy", "destination", kind::text},
  member_rule{"resourceCopy", "failIfExists", kind::flag},
  member_rule{"resourceMove", "source", kind::text},
  member_rule{"resourceMove", "destination", kind::text},
  member_rule{"resourceMove", "failIfExists", kind::flag},
  member_rule{"resourceDelete", "uri", kind::text},
  member_rule{"resourceDelete", "recursive", kind::flag},
  member_rule{"resourceResolve", "uri", kind::text},
  member_rule{"resourceResolve", "followSymlinks", kind::flag},
  member_rule{"resourceMkdir", "uri", kind::text},
  member_rule{"resourceRequest", "uri", kind::text},
  member_rule{"resourceRequest", "read", kind::flag},
  member_rule{"resourceRequest", "write", kind::flag},
  member_rule{"createResourceWatch", "uri", kind::text},
  member_rule{"createResourceWatch", "recursive", kind::flag},
  member_rule{"createResourceWatch", "excludes", kind::object},
  member_rule{"createResourceWatch", "excludes.items", kind::list},
  member_rule{"createResourceWatch", "includes", kind::object},
  member_rule{"createResourceWatch", "includes.items", kind::list},
  member_rule{"x-ahpd/computers/create", "name", kind::text},
  member_rule{"x-ahpd/computers/create", "progressToken", kind::token},
  member_rule{"x-ahpd/computers/start", "name", kind::text},
  member_rule{"x-ahpd/computers/stop", "name", kind::text},
  member_rule{"x-ahpd/computers/restart", "name", kind::text},
  member_rule{"x-ahpd/computers/remove", "name", kind::text},
};

bool is_count(const json::value& v) {
  return v.is_uint64() || (v.is_int64() && v.get_int64() >= 0);
}

bool fits(const json::value& v, kind what) {
  switch (what) {
  case kind::text:
    return v.is_string();
  case kind::count:
    return is_count(v);
  case kind::flag:
    return v.is_bool();
  case kind::object:
    return v.is_object();
  case kind::list:
    return v.is_array();
  case kind::texts:
    return v.is_array() && std::all_of(v.get_array().begin(), v.get_array().end(),
                                       [](const auto& item) { return item.is_string(); });
  case kind::token:
    return v.is_string() || v.is_number();
  }
  return false;
}

std::string_view described(kind what) {
  switch (what) {
  case kind::text:
    return "a string";
  case kind::count:
    return "a whole number, 0 or more";
  case kind::flag:
    return "true or false";
  case kind::object:
    return "an object";
  case kind::list:
    return "an array";
  case kind::texts:
    return "an array of strings";
  case kind::token:
    return "a string or a number";
  }
  return "";
}

/// The member, or null when it or what it is in is absent.
const json::value* find(const json::object& params, std::string_view name) {
  const auto dot = name.find('.');
  const auto* found = params.if_contains(name.substr(0, dot));
  if (found && dot != std::string_view::npos)
    return json::member(*found, name.substr(dot + 1));
  return found && !found->is_null() ? found : nullptr;
}

} // namespace

std::optional<std::string> misshapen_member(std::string_view method, const json::object& params) {
  for (const auto& rule : members) {
    if (rule.method != method)
      continue;
    const auto* found = find(params, rule.member);
    if (found && !fits(*found, rule.what))
      return std::string(rule.member) + " must be " + std::string(described(rule.what));
  }
  return std::nullopt;
}

} // namespace ahpd::ahp
