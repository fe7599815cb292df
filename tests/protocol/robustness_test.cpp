#include "protocol/ahp/actions.hpp"
#include "protocol/ahp/reducers.hpp"
#include "protocol/ahp/versions.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fs = std::filesystem;
namespace json = ahpd::json;
using namespace ahpd::ahp;

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

/// One value of each JSON type, for the places where another was expected.
const std::vector<json::value>& oddities() {
  static const std::vector<json::value> all{
    nullptr,
    true,
    -1,
    1e300,
    "x",
    json::array{},
    json::array{1, json::object{{"id", 5}}, nullptr},
    json::object{},
    json::object{{"id", nullptr}, {"kind", 3}},
  };
  return all;
}

/// Calls `visit` for the document with each of its values, at any depth, replaced by each oddity.
void mutate(json::value& at, const std::function<void()>& visit) {
  const json::value kept = at;
  for (const auto& odd : oddities()) {
    at = odd;
    visit();
  }
  at = kept;
  if (auto* o = at.if_object())
    for (auto& kv : *o)
      mutate(kv.value(), visit);
  else if (auto* a = at.if_array())
    for (auto& item : *a)
      mutate(item, visit);
}

/// Everything that looks into a state and an action.
void touch(channel_kind kind, json::value state, const json::value& action) {
  refuse_action(kind, state, action, "me");
  reduce(kind, state, action);
  adapt_action(dialect::v0_6, std::make_shared<const json::value>(action), state);
  accept_params(dialect::v0_6, "dispatchAction", {{"channel", "c"}, {"action", action}});
  adapt_state(dialect::v0_6, kind, state);
}

} // namespace

TEST_CASE("no shape of a state or an action makes a reducer or a check throw") {
  const auto shared = ahpd::tests::shared_folder();
  if (!shared)
    return ahpd::tests::skip("shared folder with the public cases");
  std::size_t tried = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(*shared) / "ahp/0.6/reducers")) {
    const auto name = entry.path().stem().string();
    std::string error;
    auto test = json::parse_text(ahpd::tests::read_file(entry.path().string()), 64, error);
    REQUIRE(test);
    const auto kind = kinds.at(std::string(test->at("reducer").as_string()));
    auto state = test->at("initial");
    for (auto& action : test->at("actions").get_array()) {
      CHECK_NOTHROW_MESSAGE(mutate(action,
                                   [&] {
                                     touch(kind, state, action);
                                     ++tried;
                                   }),
                            name);
      CHECK_NOTHROW_MESSAGE(mutate(state,
                                   [&] {
                                     touch(kind, state, action);
                                     ++tried;
                                   }),
                            name);
      reduce(kind, state, action);
    }
  }
  CHECK(tried > 50'000);
}

TEST_CASE("every action type meets every odd document without harm") {
  for (const auto type : action_types()) {
    const auto kind = find_action(type)->kind;
    for (const auto& odd : oddities()) {
      json::object action;
      for (const auto* member : {"id",         "turnId",    "message",   "request",    "result",
                                 "content",    "chats",     "changes",   "config",     "enablement",
                                 "directory",  "lifecycle", "work",      "automation", "session",
                                 "annotation", "entry",     "file",      "files",      "record",
                                 "part",       "duration",  "startedAt", "order",      "turns"})
        action[member] = odd;
      action["type"] = type;
      for (const auto& state : oddities())
        CHECK_NOTHROW_MESSAGE(touch(kind, state, action), type);
    }
  }
}
