#include "protocol/ahp/reducers.hpp"
#include "protocol/ahp/time.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace fs = std::filesystem;
namespace json = ahpd::json;
using ahpd::ahp::channel_kind;

namespace {

const std::map<std::string, channel_kind> kinds{
  {"root", channel_kind::root},
  {"session", channel_kind::session},
  {"chat", channel_kind::chat},
  {"terminal", channel_kind::terminal},
  {"changeset", channel_kind::changeset},
  {"annotations", channel_kind::annotations},
  {"resourceWatch", channel_kind::resource_watch},
};

json::value read_json(const std::string& path) {
  std::string error;
  auto v = json::parse_text(ahpd::tests::read_file(path), 64, error);
  REQUIRE_MESSAGE(v, path << ": " << error);
  return *v;
}

/// A case of 0.6 and what turns it into the same case under the rules of 1.0.
struct superseded {
  std::string rule; ///< of a later version
  std::function<void(json::value&)> rewrite;
};

/// Writes the `modifiedAt` that the rules of 0.9 give: a start has the time of its turn, an end
/// that time and the turn's length, and nothing else touches it.
void modified_by_turns(json::value& test) {
  const auto& initial = test.at("initial");
  json::value modified = initial.at("modifiedAt");
  json::value started;
  if (const auto* turn = json::member(initial, "activeTurn"))
    started = turn->at("startedAt");
  for (const auto& action : test.at("actions").as_array()) {
    const auto type = json::string_member(action, "type");
    if (type == "chat/turnStarted") {
      started = action.at("startedAt");
      modified = started;
    } else if (type == "chat/turnComplete" || type == "chat/turnCancelled") {
      const auto at = ahpd::ahp::parse_iso8601(std::string(started.as_string()));
      modified =
        ahpd::ahp::iso8601(*at + std::max<std::int64_t>(0, action.at("duration").as_int64()));
    }
  }
  test.at("expected").get_object()["modifiedAt"] = modified;
}

json::object& first(json::value& test, const char* side, const char* list) {
  return test.at(side).at(list).at(0).get_object();
}

void move_to_origin(json::object& annotation) {
  if (!annotation.contains("turnId"))
    return;
  annotation["origin"] =
    json::object{{"session", "ahp-session:/s"}, {"turnId", annotation.at("turnId")}};
  annotation.erase("turnId");
}

void annotations_by_origin(json::value& test) {
  for (const char* side : {"initial", "expected"})
    for (auto& annotation : test.at(side).at("annotations").get_array())
      move_to_origin(annotation.get_object());
  for (auto& action : test.at("actions").get_array()) {
    move_to_origin(action.get_object());
    if (auto* annotation = json::member(action, "annotation"))
      move_to_origin(annotation->get_object());
  }
}

void exit_as_lifecycle(json::value& test) {
  auto& expected = test.at("expected").get_object();
  expected["lifecycle"] = json::object{{"status", "exited"}, {"exitCode", expected.at("exitCode")}};
  expected.erase("exitCode");
}

/// Which of the public cases later versions replaced, by the start of their names.
const std::map<std::string, superseded> replaced{
  {"060-session-customizationtoggled-toggles-by-id",
   {"0.8: toggling carries enablement[], which a plugin stores",
    [](json::value& test) {
      auto& action = test.at("actions").at(0).get_object();
      const json::value list =
        json::array{json::object{{"kind", "session"}, {"enabled", action.at("enabled")}}};
      action["enablement"] = list;
      action.erase("enabled");
      auto& plugin = first(test, "expected", "customizations");
      plugin["enabled"] = first(test, "initial", "customizations").at("enabled");
      plugin["enablement"] = list;
    }}},
  {"225-session-customizationtoggled-toggles-child-by-id",
   {"0.8: toggling carries enablement[], whose first entry a skill takes",
    [](json::value& test) {
      auto& action = test.at("actions").at(0).get_object();
      action["enablement"] =
        json::array{json::object{{"kind", "session"}, {"enabled", action.at("enabled")}}};
      action.erase("enabled");
    }}},
  {"225-session-inputneededset-replaces-existing",
   {"0.8: a toolClientExecution entry raises nothing",
    [](json::value& test) { test.at("expected").get_object()["status"] = 8; }}},
  {"004-session-creationfailed",
   {"0.9: the lifecycle value is failed",
    [](json::value& test) { test.at("expected").get_object()["lifecycle"] = "failed"; }}},
  {"016-session-error-finalizes-turn-with-error",
   {"0.9: chat/error carries an error part, which ends the turn's parts",
    [](json::value& test) {
      auto& action = test.at("actions").at(0).get_object();
      const json::value part = json::object{{"kind", "error"}, {"error", action.at("error")}};
      action["part"] = part;
      action.erase("error");
      auto& turn = first(test, "expected", "turns");
      turn.erase("error");
      turn["responseParts"].get_array().push_back(part);
    }}},
  {"081-terminal-exited", {"0.9: lifecycle in place of exitCode", exit_as_lifecycle}},
  {"083-terminal-full-lifecycle", {"0.9: lifecycle in place of exitCode", exit_as_lifecycle}},
  {"159-changeset-contentchanged-updates-error",
   {"0.9: changeset/contentChanged has no error",
    [](json::value& test) {
      test.at("expected").get_object()["error"] = test.at("initial").at("error");
    }}},
};

/// Cases that only differ by `modifiedAt`, which follows the turn and no clock since 0.9.
const std::set<std::string> clockless{
  "005-session-turnstarted",
  "006-turnstarted-with-queuedmessageid-removes-from-queuedmessages",
  "007-turnstarted-with-queuedmessageid-removes-last-queued-message",
  "008-turnstarted-with-queuedmessageid-removes-matching-steering-message",
  "009-turnstarted-without-queuedmessageid-does-not-touch-pending-messages",
  "063-session-truncated-keeps-turns-up-to-turnid",
  "064-session-truncated-keeps-all-when-turnid-is-last",
  "065-session-truncated-keeps-only-first-when-turnid-is-first",
  "066-session-truncated-clears-all-when-turnid-omitted",
  "067-session-truncated-drops-active-turn",
  "068-session-truncated-drops-active-turn-even-when-clearing-all",
  "075-turnstarted-clears-isread",
  "105-session-input-full-draft-and-complete-flow",
  "106-session-input-requested-with-drafts-status",
  "108-session-input-upsert-and-clear-answer",
  "110-session-input-completion-and-truncation-filtering",
  "234-chat-truncated-clears-turns-next-cursor-when-clearing-all",
  "235-session-input-completion-records-declined-request-in-turn",
  "240-turn-duration-is-clamped-to-zero",
  "250-turncomplete-force-cancels-auth-required-tool-call",
};

/// Brings a case to the rules of 1.0; says whether it had to.
bool modernise(const std::string& name, json::value& test) {
  if (const auto found = replaced.find(name); found != replaced.end()) {
    found->second.rewrite(test);
    return true;
  }
  if (clockless.count(name)) {
    modified_by_turns(test);
    return true;
  }
  if (test.at("reducer") == json::value("annotations")) {
    annotations_by_origin(test);
    return true;
  }
  return false;
}

/// Folds the actions, checking of each that `reduce` tells the truth about what changed.
json::value fold(channel_kind kind, json::value state, const json::array& actions) {
  for (const auto& action : actions) {
    const json::value before = state;
    const bool changed = ahpd::ahp::reduce(kind, state, action);
    CHECK_MESSAGE(changed == !json::equivalent(before, state), json::serialize(action));
  }
  return state;
}

} // namespace

TEST_CASE("every public reducer case holds under the rules of 1.0") {
  const auto shared = ahpd::tests::shared_folder();
  if (!shared)
    return ahpd::tests::skip("shared folder with the public cases");
  std::size_t count = 0;
  std::set<std::string> used;
  for (const auto& entry : fs::directory_iterator(fs::path(*shared) / "ahp/0.6/reducers")) {
    const auto name = entry.path().stem().string();
    CAPTURE(name);
    auto test = read_json(entry.path().string());
    if (modernise(name, test))
      used.insert(name);
    const auto kind = kinds.at(std::string(test.at("reducer").as_string()));
    const auto end = fold(kind, test.at("initial"), test.at("actions").as_array());
    CHECK_MESSAGE(json::equivalent(end, test.at("expected")),
                  name << "\n"
                       << json::pretty(end) << "\nexpected\n"
                       << json::pretty(test.at("expected")));
    ++count;
  }
  CHECK(count == 232);
  for (const auto& [name, why] : replaced)
    CHECK_MESSAGE(used.count(name), name << " (" << why.rule << ") is there");
  for (const auto& name : clockless)
    CHECK_MESSAGE(used.count(name), name << " is there");
}

TEST_CASE("unknown members of a state survive every public case") {
  const auto shared = ahpd::tests::shared_folder();
  if (!shared)
    return ahpd::tests::skip("shared folder with the public cases");
  for (const auto& entry : fs::directory_iterator(fs::path(*shared) / "ahp/0.6/reducers")) {
    auto test = read_json(entry.path().string());
    test.at("initial").get_object()["x-unknown"] = json::object{{"kept", true}};
    const auto kind = kinds.at(std::string(test.at("reducer").as_string()));
    auto state = test.at("initial");
    for (const auto& action : test.at("actions").as_array())
      ahpd::ahp::reduce(kind, state, action);
    CHECK(state.at("x-unknown").at("kept") == json::value(true));
  }
}
