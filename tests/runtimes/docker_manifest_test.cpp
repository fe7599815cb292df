#include "runtimes/docker/manifest.hpp"

#include <doctest/doctest.h>

using namespace ahpd;
using namespace ahpd::runtimes;

namespace {

json::value parse(std::string_view text) {
  std::string error;
  auto v = json::parse_text(text, 32, error);
  REQUIRE_MESSAGE(v, error);
  return *v;
}

computer_options options(std::string_view text) {
  auto out = read_computer_options(parse(text).as_object());
  for (const auto& sentence : out.wrong)
    FAIL(sentence);
  return out.options;
}

manifest_context context(std::string name = "box") {
  return {std::move(name), "user:alice",
          [](const std::string& path) { return path.rfind("/srv/", 0) == 0; }};
}

machine_spec spec(std::string_view body, std::string_view with = "{}") {
  auto out = read_manifest(options(with), context(), body);
  if (const auto* no = std::get_if<refusal>(&out))
    FAIL(no->sentence);
  return std::get<machine_spec>(out);
}

std::string refused(std::string_view body, std::string_view with = "{}", std::string name = "box") {
  const auto out = read_manifest(options(with), context(std::move(name)), body);
  const auto* no = std::get_if<refusal>(&out);
  REQUIRE(no);
  CHECK(no->what == fault::refused);
  return no->sentence;
}

std::string wrong(std::string_view text) {
  const auto out = read_computer_options(parse(text).as_object());
  REQUIRE(out.wrong.size() == 1);
  return out.wrong.front();
}

const char* open = R"({"bodyMounts":true})";

} // namespace

TEST_CASE("the seed's manifest, without its profile, becomes a specification") {
  const auto s = spec(
    R"({"runtime":"docker","image":"debian:bookworm-slim","cpus":"2","memory":"2g","workdir":"/work"})");
  CHECK(s.name == "box");
  CHECK(s.image == "debian:bookworm-slim");
  CHECK(s.cpus == 2.0);
  CHECK(s.memory == 2147483648u);
  CHECK(s.workdir == "/work");
  CHECK(s.labels == std::map<std::string, std::string>{{"ahpd.owner", "user:alice"}});
  CHECK(s.mounts.empty());
  CHECK(s.env.empty());
}

TEST_CASE("an empty body takes everything from the options") {
  for (const auto* body :
       {"", "{}", " \n", R"({"image":null,"cpus":null,"mounts":[],"folder":""})"}) {
    const auto s =
      spec(body, R"({"image":"node:22","cpus":"1.5","memory":"512m","mounts":["/srv/a:/a:ro"]})");
    CHECK(s.image == "node:22");
    CHECK(s.cpus == 1.5);
    CHECK(s.memory == 536870912u);
    CHECK(s.workdir.empty());
    CHECK(s.mounts == std::vector<mount>{{"/srv/a", "/a", true}});
  }
}

TEST_CASE("the body's own fields win over the options") {
  const auto s = spec(R"({"image":"x","cpus":1,"memory":1024})", R"({"cpus":"4","memory":"8g"})");
  CHECK(s.cpus == 1.0);
  CHECK(s.memory == 1024u);
}

TEST_CASE("members a host does not know are no fault") {
  CHECK(spec(R"({"image":"x","colour":"blue","agents":["claude"]})").image == "x");
}

TEST_CASE("a body that is no JSON object is refused") {
  for (const auto* body : {"[]", "7", "{", "\"x\"", "{} {}", "{\"a\":1,}"})
    CHECK(refused(body) == "A computer is made from a JSON object, and that body is not one");
  CHECK(refused(std::string(70'000, ' ')) ==
        "A computer's manifest is at most 65536 bytes, and that body has 70000");
}

TEST_CASE("another runtime is refused with its name") {
  CHECK(refused(R"({"runtime":"podman"})") ==
        "This host runs docker, and that body asks for podman");
  CHECK(refused(R"({"runtime":7})") == "This host runs docker, and that body asks for 7");
  CHECK(refused(R"({"ociRuntime":"runsc"})") ==
        "ociRuntime is the operator's to choose in a profile, and that body asks for runsc");
}

TEST_CASE("a profile is refused where none is defined") {
  CHECK(refused(R"({"profile":"claude"})") ==
        "This host defines no profiles, and that body asks for claude");
}

TEST_CASE("a source is one of two words, and a dev container is not made yet") {
  CHECK(refused(R"({"source":"git"})") ==
        R"(source is "image" or "devcontainer", and that body says "git")");
  CHECK(refused(R"({"source":["image"]})") ==
        R"(source is "image" or "devcontainer", and that body says ["image"])");
  CHECK(
    refused(R"({"source":"devcontainer"})") ==
    "source says a dev container, and that body names no folder to read a devcontainer.json from");
  CHECK(
    refused(R"({"source":"devcontainer","devcontainer":""})") ==
    "source says a dev container, and that body names no folder to read a devcontainer.json from");
  const auto* not_yet = "This host does not make dev containers yet, so /srv/app makes no computer";
  CHECK(refused(R"({"source":"devcontainer","devcontainer":"/srv/app","image":"x"})") == not_yet);
  CHECK(refused(R"({"devcontainer":{"folder":"/srv/app"}})") == not_yet);
  CHECK(refused(R"({"devcontainer":7})") ==
        "devcontainer is the path of a folder, and 7 is not one");
  CHECK(spec(R"({"source":"image","devcontainer":"/srv/app","image":"x"})").image == "x");
  CHECK(spec(R"({"devcontainer":"","image":"x"})").image == "x");
}

TEST_CASE("an image is a name, not blank and not a flag") {
  CHECK(refused(R"({"image":7})") == "image is the name of an image, and 7 is not one");
  CHECK(refused(R"({"image":" "})") == "image is the name of an image, and that body's is blank");
  CHECK(refused(R"({"image":"--privileged"})") ==
        "image is the name of an image, and --privileged is a flag");
  CHECK(refused(R"({"image":"a b"})") == "image is the name of an image, and a b is not one");
}

TEST_CASE("an image outside the operator's list is refused with the list") {
  const auto* only =
    R"({"image":"debian:bookworm-slim","images":["docker.io/library/node","ghcr.io/acme"]})";
  CHECK(refused(R"({"image":"nodejs/node"})", only) ==
        "This host does not run nodejs/node; it runs debian:bookworm-slim, docker.io/library/node, "
        "ghcr.io/acme");
  CHECK(spec(R"({"image":"node:20"})", only).image == "node:20");
  CHECK(spec(R"({"image":"docker.io/library/debian:bookworm-slim"})", only).image ==
        "docker.io/library/debian:bookworm-slim");
  CHECK(spec("{}", only).image == "debian:bookworm-slim");
}

TEST_CASE("limits are numbers and sizes") {
  for (const auto* v :
       {"\"two\"", "\"-1\"", "\"1e3\"", "\"\"", "true", "[]", "\"1.\"", "\"99999999999\""}) {
    const auto body = std::string(R"({"cpus":)") + v + "}";
    CHECK(refused(body).rfind("cpus is a number, and ", 0) == 0);
  }
  CHECK(refused(R"({"cpus":"two"})") == "cpus is a number, and two is not one");
  for (const auto* v :
       {"\"lots\"", "\"-1\"", "\"2x\"", "\"2  g\"", "\"2gib\"", "{}", "\"99999999t\""}) {
    const auto body = std::string(R"({"memory":)") + v + "}";
    CHECK(refused(body).rfind("memory is a size such as 512m or 2g, and ", 0) == 0);
  }
  CHECK(read_memory("1.5 GB") == 1610612736u);
  CHECK(read_memory("7") == 7u);
  CHECK(read_memory("1Kb") == 1024u);
  CHECK(read_memory("1t") == 1099511627776u);
  CHECK_FALSE(read_memory("1b"));
}

TEST_CASE("mounts and a folder in a body are refused unless the operator allowed them") {
  CHECK(refused(R"({"mounts":["/srv/a:/a"]})") ==
        "This host takes its mounts from its configuration, and that body names its own");
  CHECK(refused(R"({"folder":"/srv/a"})") ==
        "This host takes its folders from its configuration, and that body names its own");
}

TEST_CASE("allowed mounts are read, checked and added to the plugin's") {
  const auto s = spec(R"({"mounts":["/srv/b:/b:ro","/srv/a:/a"]})",
                      R"({"bodyMounts":true,"mounts":["/srv/a:/a"]})");
  CHECK(s.mounts == std::vector<mount>{{"/srv/a", "/a", false}, {"/srv/b", "/b", true}});
  CHECK(refused(R"({"mounts":"/srv/a:/a"})", open) ==
        R"(mounts are "source:target" or "source:target:ro", and /srv/a:/a is neither)");
  for (const auto* m :
       {"/srv/a", "/srv/a:/b:rw", "/srv/a b:/c", ":/a", "/srv/a:", "/srv/a:/b:ro:ro"})
    CHECK(refused(std::string(R"({"mounts":[")") + m + "\"]}", open) ==
          R"(mounts are "source:target" or "source:target:ro", and )" + std::string(m) +
            " is neither");
  CHECK(refused(R"({"mounts":[7]})", open) ==
        R"(mounts are "source:target" or "source:target:ro", and 7 is neither)");
  CHECK(refused(R"({"mounts":["cache:/cache"]})", open) ==
        "the body's mount cache:/cache names cache, which is not an absolute path on this host");
  CHECK(refused(R"({"mounts":["/nope:/cache"]})", open) ==
        "the body's mount /nope:/cache names /nope, and that path is not there");
  CHECK(
    refused(R"({"mounts":["/srv/a:cache"]})", open) ==
    "the body's mount /srv/a:cache lands at cache, which is not an absolute path in the machine");
  CHECK(refused("{}", R"({"mounts":["/nope:/x"]})") ==
        "the plugin's mount /nope:/x names /nope, and that path is not there");
  std::string many = R"({"mounts":["/srv/a:/a")";
  for (int i = 0; i < 64; ++i)
    many += R"(,"/srv/a:/a")";
  CHECK(refused(many + "]}", open) == "mounts has at most 64 entries, and that body's has 65");
}

TEST_CASE("two mounts at one target are refused with both names") {
  CHECK(refused(R"({"mounts":["/srv/b:/a/"]})", R"({"bodyMounts":true,"mounts":["/srv/a:/a"]})") ==
        "the plugin's mount /srv/a:/a and the body's mount /srv/b:/a/ both land at /a");
  CHECK(refused(R"({"mounts":["/srv/b:/srv/./x"],"folder":"/srv/x"})", open) ==
        "the body's mount /srv/b:/srv/./x and the folder /srv/x both land at /srv/x");
  CHECK(refused(R"({"mounts":["/srv/b:/x/.."]})", open) ==
        "the body's mount /srv/b:/x/.. lands at /, which is the machine's own root");
}

TEST_CASE("a folder is mounted at its own path and is where commands start") {
  auto s = spec(R"({"folder":"/srv/app x"})", open);
  CHECK(s.mounts == std::vector<mount>{{"/srv/app x", "/srv/app x", false}});
  CHECK(s.workdir == "/srv/app x");
  s = spec(R"({"folder":"/srv/app","workdir":"/work"})", open);
  CHECK(s.workdir == "/work");
  CHECK(refused(R"({"folder":"app"})", open) ==
        "folder names app, which is not an absolute path on this host");
  CHECK(refused(R"({"folder":7})", open) ==
        "folder names 7, which is not an absolute path on this host");
  CHECK(refused(R"({"folder":"/nope"})", open) == "folder names /nope, and that path is not there");
}

TEST_CASE("workdir is an absolute path") {
  CHECK(refused(R"({"workdir":"work"})") ==
        "workdir is an absolute path in the machine, and work is not one");
  CHECK(refused(R"({"workdir":["/a"]})") ==
        R"(workdir is an absolute path in the machine, and ["/a"] is not one)");
  CHECK(refused("{\"workdir\":\"/a\\u0000b\"}").rfind("workdir is an absolute path", 0) == 0);
}

TEST_CASE("the first wrong field in the order of reading is the one that is named") {
  const std::string all =
    R"("workdir":"w","folder":"f","mounts":7,"memory":"m","cpus":"c","image":"-i")";
  CHECK(
    refused("{" + all + R"(,"source":"s","profile":"p","runtime":"r"})", open).find("asks for r") !=
    std::string::npos);
  CHECK(refused("{" + all + R"(,"source":"s","profile":"p"})", open).find("asks for p") !=
        std::string::npos);
  CHECK(refused("{" + all + R"(,"source":"s"})", open).rfind("source is", 0) == 0);
  CHECK(refused("{" + all + "}", open).rfind("image is", 0) == 0);
}

TEST_CASE("a long value does not make a long sentence") {
  const auto sentence = refused(R"({"workdir":")" + std::string(199, 'x') + "ää\"}");
  CHECK(sentence == "workdir is an absolute path in the machine, and " + std::string(199, 'x') +
                      "… is not one");
}

TEST_CASE("a machine's name follows Docker's rule and has no dot") {
  for (const auto* name : {"box", "a1", "A_b-c", "0x"})
    CHECK_FALSE(check_machine_name(name));
  CHECK_FALSE(check_machine_name(std::string(63, 'a')));
  CHECK(refused("{}", "{}", "a.b") ==
        "a.b is not a name for a machine on this host: a dot in it reads as another runtime's, and "
        "these machines are addressed by their name alone");
  const std::string rule =
    " is not a name for a machine: it takes 2 to 63 letters, digits, _ and -, and "
    "starts with a letter or a digit";
  for (const auto* name : {"a", "-ab", "_ab", "a b", "a/b", "../etc", "ä1"})
    CHECK(refused("{}", "{}", name).find("is not a name for a machine") != std::string::npos);
  CHECK(refused("{}", "{}", "a") == "a" + rule);
  CHECK(refused("{}", "{}", "") == "An empty name" + rule);
  CHECK(check_machine_name(std::string(64, 'a')));
}

TEST_CASE("the create form follows the options") {
  CHECK(json::value(create_schema(options("{}"))) == parse(R"({"type":"object","properties":{
    "runtime":{"type":"string","title":"Runtime","enum":["docker"],"default":"docker","readOnly":true},
    "image":{"type":"string","title":"Image","default":"debian:bookworm-slim"},
    "cpus":{"type":"string","title":"CPUs"}, "memory":{"type":"string","title":"Memory"},
    "workdir":{"type":"string","title":"Working directory"}}})"));
  const auto open_form = create_schema(options(open)).at("properties").as_object();
  std::string order;
  for (const auto& entry : open_form)
    order += std::string(entry.key()) + " ";
  CHECK(order == "runtime image cpus memory mounts workdir folder ");
  CHECK(
    create_schema(
      options(R"({"image":"debian","images":["docker.io/library/debian:latest","ghcr.io/a/b:1"]})"))
      .at("properties")
      .at("image")
      .at("enum") == parse(R"(["debian","ghcr.io/a/b:1"])"));
  CHECK_FALSE(create_schema(options(R"({"images":["ghcr.io/a/b:1","ghcr.io"]})"))
                .at("properties")
                .at("image")
                .as_object()
                .contains("enum"));
}

TEST_CASE("capabilities hold the runtime, its verbs, the limits and the form") {
  const auto with = options(R"({"cpus":2,"memory":"2g","max":5})");
  auto doc = capabilities(with);
  CHECK(doc.at("manifest") == create_schema(with));
  doc.erase("manifest");
  CHECK(json::value(doc) == parse(R"({"runtime":"docker",
    "actions":["create","start","stop","restart","exec","delete"],
    "resources":["state","stats","status","capabilities"],
    "defaultImage":"debian:bookworm-slim","limits":{"cpus":"2","memory":"2g"},"max":5})"));
}

TEST_CASE("options have defaults, and a wrong one is named with what was expected") {
  const auto o = options(R"({"runtime":"docker","devcontainer":false})");
  CHECK(o.image == "debian:bookworm-slim");
  CHECK(o.max == 3);
  CHECK(o.label == "ahpd.computer=1");
  CHECK(o.prefix == "ahpd-computer");
  CHECK_FALSE(o.body_mounts);
  CHECK(wrong(R"({"image":"-x"})") ==
        R"(option image of @ahpd/computer is the name of an image, and that is "-x")");
  CHECK(wrong(R"({"max":0})") ==
        "option max of @ahpd/computer is a whole number above 0, and that is 0");
  for (const auto* text :
       {R"({"image":7})", R"({"images":"x"})", R"({"images":[7]})", R"({"images":["node:22"]})",
        R"({"cpus":"x"})", R"({"memory":"x"})", R"({"max":"3"})", R"({"max":1.5})",
        R"({"mounts":{}})", R"({"mounts":["x"]})", R"({"bodyMounts":"yes"})", R"({"label":"x"})",
        R"({"prefix":"-a"})", R"({"prefix":""})", R"({"runtime":"podman"})", R"({"env":[]})"})
    CHECK(wrong(text).rfind("option ", 0) == 0);
  const auto secret = wrong(R"({"env":{"DOCKER_HOST":["s3cret"]}})");
  CHECK(secret.find("env.DOCKER_HOST") != std::string::npos);
  CHECK(secret.find("s3cret") == std::string::npos);
}

TEST_CASE("options nobody knows and options not served are said and left out") {
  const auto out =
    read_computer_options(parse(R"({"profiles":{},"colour":1,"image":"x"})").as_object());
  CHECK(out.wrong.empty());
  CHECK(out.left_out ==
        std::vector<std::string>{
          "option profiles of @ahpd/computer is not served by this host and is left out",
          "option colour of @ahpd/computer is not known and is left out"});
  CHECK(out.options.image == "x");
}
