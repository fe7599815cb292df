#include "tests/config/options_support.hpp"

using namespace ahpd;

namespace {

using strings = std::vector<std::string>;

std::string options_of(const config::run_options& o, std::size_t at = 0) {
  REQUIRE(o.plugins.size() > at);
  return json::serialize(o.plugins[at].options);
}

} // namespace

TEST_CASE_FIXTURE(tests::home, "plugins typed on the line replace the file's") {
  configure(
    R"({"plugins": [{"name": "computer", "options": {"max": 3}}, {"name": "b", "enabled": false}]})");
  auto o = options();
  REQUIRE(o.plugins.size() == 2);
  CHECK(options_of(o) == R"({"max":3})");
  CHECK_FALSE(o.plugins[1].enabled);
  o = options({"--plugin", "computer"});
  CHECK(o.plugins.size() == 1);
  CHECK(options_of(o) == "{}");
  CHECK(options({"--no-plugins"}).plugins.empty());
  CHECK(options({"--no-plugins", "--plugin", "c"}).plugins[0].name == "c");
  o = options({"--plugin", "c", "--plugin", "c"});
  CHECK(o.plugins.size() == 1);
  CHECK(o.skipped == strings{"plugin c: it is named twice, and the first is used"});
}

TEST_CASE_FIXTURE(tests::home, "a plugin option reaches the plugin with the longest fitting name") {
  const auto o = options({"--plugin", "a", "--plugin", "a.b", "--plugin-option", "a.b.c=1",
                          "--plugin-option", "a.x.y=[true]", "--plugin-option", "a.x.z=hello = you",
                          "--plugin-option", "a.t={\"k\": null}"});
  CHECK(options_of(o, 0) == R"({"x":{"y":[true],"z":"hello = you"},"t":{"k":null}})");
  CHECK(options_of(o, 1) == R"({"c":1})");
}

TEST_CASE_FIXTURE(tests::home, "a plugin option lies over what the file says") {
  configure(
    R"({"plugins": [{"name": "p", "options": {"a": {"b": 1, "c": 2}, "s": {"$secret": "host:x"}}}]})");
  const auto o = options({"--plugin-option", "p.a.b=3", "--plugin-option", "p.s=plain"});
  CHECK(options_of(o) == R"({"a":{"b":3,"c":2},"s":"plain"})");
  CHECK(refusal({"--plugin-option", "p.s.key=v"}) ==
        "--plugin-option p.s.key sets a key inside a $secret reference");
  CHECK(refusal({"--plugin-option", "p.a.b.c=v"}) == "--plugin-option p.a.b.c: b is not an object");
}

TEST_CASE_FIXTURE(tests::home, "a plugin option that fits nothing is refused without its value") {
  const std::string two = "p..x must be a plugin and at most 32 keys with a dot between them";
  const std::pair<const char*, std::string> cases[] = {
    {"p.x", "--plugin-option takes PLUGIN.KEY=VALUE"},
    {"q.x=hush", "--plugin-option q.x names no plugin that is loaded"},
    {"p=hush", "--plugin-option p names no plugin that is loaded"},
    {"px=hush", "--plugin-option px names no plugin that is loaded"},
    {"p..x=hush", "--plugin-option " + two},
  };
  for (const auto& [option, sentence] : cases)
    CHECK(refusal({"--plugin", "p", "--plugin-option", option}) == sentence);
  std::string deep = "p";
  for (int i = 0; i < 33; ++i)
    deep += ".k";
  CHECK(refusal({"--plugin", "p", "--plugin-option", deep + "=1"}).find("at most 32 keys") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(tests::home, "references to the environment are resolved") {
  around.environment["KEY"] = "value";
  configure(R"({"plugins": [{"name": "p", "options": {"a": [{"fromEnv": "KEY"}],
    "b": {"fromEnv": "KEY", "more": 1}, "c": {"fromEnv": 1}}}]})");
  CHECK(options_of(options()) ==
        R"({"a":["value"],"b":{"fromEnv":"KEY","more":1},"c":{"fromEnv":1}})");
}

TEST_CASE_FIXTURE(tests::home,
                  "a plugin whose references cannot be resolved is left out with a sentence") {
  configure(R"({"plugins": [{"name": "p", "options": {"a": [{"fromEnv": "KEY"}]}},
    {"name": "q", "options": {"n": {"k": {"$secret": "host:x"}}}},
    {"name": "off", "enabled": false, "options": {"k": {"$secret": "host:x"}}}, "r"]})");
  const auto o = options();
  REQUIRE(o.plugins.size() == 2);
  CHECK(o.plugins[0].name == "off");
  CHECK(o.plugins[1].name == "r");
  CHECK(o.skipped ==
        strings{"plugin p: a[0] reads KEY, which the daemon's environment does not have",
                "plugin q: n.k names a secret of the vault, which is not served by this version"});
}
