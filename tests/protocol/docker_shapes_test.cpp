#include "protocol/docker/bodies.hpp"
#include "protocol/docker/records.hpp"
#include "protocol/docker/text.hpp"

#include <doctest/doctest.h>

using namespace ahpd;
using namespace ahpd::docker;

namespace {

json::value parse(std::string_view text) {
  std::string error;
  auto v = json::parse_text(text, 32, error);
  REQUIRE_MESSAGE(v, error);
  return *v;
}

} // namespace

TEST_CASE("a container body holds limits, labels, mounts and the idling command") {
  container_shape shape;
  shape.image = "debian:bookworm-slim";
  shape.labels = {{"ahpd.computer", "1"}, {"ahpd.owner", "user:a,\"b\""}};
  shape.env = {{"LANG", "C.UTF-8"}};
  shape.mounts = {{"/srv/a b", "/work", false}, {"/etc/x", "/x", true}};
  shape.workdir = "/work";
  shape.cpus = 0.1;
  shape.memory = 2147483648;
  CHECK(json::value(container_body(shape)) == parse(R"({
    "Image": "debian:bookworm-slim", "Cmd": ["sleep", "infinity"],
    "Labels": {"ahpd.computer": "1", "ahpd.owner": "user:a,\"b\""},
    "Env": ["LANG=C.UTF-8"], "WorkingDir": "/work",
    "HostConfig": {"Init": true, "NanoCpus": 100000000, "Memory": 2147483648, "Mounts": [
      {"Type": "bind", "Source": "/srv/a b", "Target": "/work", "ReadOnly": false},
      {"Type": "bind", "Source": "/etc/x", "Target": "/x", "ReadOnly": true}]}})"));
}

TEST_CASE("what a container was not asked to have is absent from its body") {
  container_shape shape;
  shape.image = "x";
  CHECK(
    json::value(container_body(shape)) ==
    parse(R"({"Image":"x","Cmd":["sleep","infinity"],"Labels":{},"HostConfig":{"Init":true}})"));
}

TEST_CASE("an exec body carries its own environment, user and directory") {
  exec_shape shape;
  shape.argv = {"sh", "-c", "echo $1", "sh", "a b"};
  shape.env = {{"TOKEN", "s=t"}};
  shape.user = "1000:1000";
  shape.workdir = "/w";
  shape.input = true;
  CHECK(json::value(exec_body(shape)) == parse(R"({
    "AttachStdin": true, "AttachStdout": true, "AttachStderr": true, "Tty": false,
    "Cmd": ["sh", "-c", "echo $1", "sh", "a b"], "Env": ["TOKEN=s=t"], "WorkingDir": "/w",
    "User": "1000:1000"})"));
  shape.terminal = true;
  CHECK(json::string_member(exec_body(shape), "DetachKeys")->find("ctrl-p") == std::string::npos);
  CHECK(json::value(exec_start_body(true)) == parse(R"({"Detach":false,"Tty":true})"));
}

TEST_CASE("filters are JSON in a query") {
  CHECK(filters({{"label", {"a=1", "b"}}}) == "%7B%22label%22%3A%5B%22a%3D1%22%2C%22b%22%5D%7D");
}

TEST_CASE("base64 of every length goes both ways, in both alphabets") {
  CHECK(encode_base64("", base64_alphabet::standard) == "");
  CHECK(encode_base64("f", base64_alphabet::standard) == "Zg==");
  CHECK(encode_base64("fo", base64_alphabet::standard) == "Zm8=");
  CHECK(encode_base64("foo", base64_alphabet::standard) == "Zm9v");
  CHECK(encode_base64("\xfb\xff", base64_alphabet::standard) == "+/8=");
  CHECK(encode_base64("\xfb\xff", base64_alphabet::url) == "-_8=");
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
    CHECK(decode_base64(encode_base64(bytes, base64_alphabet::url)) == bytes);
  }
  CHECK(decode_base64("Zm8") == "fo");
  CHECK_FALSE(decode_base64("Zm8=x"));
  CHECK_FALSE(decode_base64("Z"));
}

TEST_CASE("an engine's date is seconds since 1970, and anything else is nothing") {
  CHECK(parse_http_date("Mon, 30 Nov 2026 17:26:40 GMT") == 1796059600);
  CHECK(parse_http_date("Thu, 29 Feb 2024 00:00:00 GMT") == 1709164800);
  for (const auto* bad : {"", "Mon, 30 Nov 2026 17:26:40 CET", "Mon, 31 Nov 2026 17:26:40 GMT",
                          "Mon, 30 Nox 2026 17:26:40 GMT", "Mon, 30 Nov 2026 25:26:40 GMT",
                          "Mon, xx Nov 2026 17:26:40 GMT"})
    CHECK_FALSE(parse_http_date(bad));
}

TEST_CASE("an engine's refusal is its message, and never without words") {
  CHECK(refusal_text(404, R"({"message":"No such container: x\n"})") == "No such container: x");
  CHECK(refusal_text(500, " plain words\n") == "plain words");
  CHECK(refusal_text(502, "") == "HTTP status 502");
  const auto text = refusal_text(500, std::string(1999, 'x') + "ä and more");
  CHECK(text == std::string(1999, 'x') + "…");
}

TEST_CASE("API versions compare as numbers") {
  CHECK(parse_api_version("1.9") < parse_api_version("1.41"));
  CHECK(to_string(*parse_api_version("1.47")) == "1.47");
  for (const auto* bad : {"", "1", "1.", ".4", "1.4x", "v1.4"})
    CHECK_FALSE(parse_api_version(bad));
}

TEST_CASE("an inspected container gives its name, state, labels and limit") {
  const auto c = read_container(parse(R"({
    "Id": "abc", "Name": "/box", "Created": "2026-11-30T17:26:40.5Z", "State": {"Running": true, "Paused": true},
    "Config": {"Image": "debian", "Labels": {"ahpd.computer": "1", "odd": null}},
    "HostConfig": {"NanoCpus": 1500000000}})"));
  REQUIRE(c);
  CHECK(c->id == "abc");
  CHECK(c->name == "box");
  CHECK(c->running);
  CHECK(c->image == "debian");
  CHECK(c->created == "2026-11-30T17:26:40.5Z");
  CHECK(c->labels == std::map<std::string, std::string>{{"ahpd.computer", "1"}});
  CHECK(c->cores == 1.5);

  const auto bare = read_container(parse(
    R"({"Id":"a","Name":"b","State":null,"Config":{"Labels":null},"HostConfig":{"NanoCpus":0}})"));
  REQUIRE(bare);
  CHECK_FALSE(bare->running);
  CHECK_FALSE(bare->cores);
  CHECK_FALSE(read_container(parse(R"({"Id":"a"})")));
  CHECK_FALSE(read_container(parse("[]")));
}

TEST_CASE("a program's record tells running, ended and never started apart") {
  auto state = read_exec(parse(R"({"Running":true,"ExitCode":null,"Pid":7})"));
  REQUIRE(state);
  CHECK(state->running);
  CHECK_FALSE(state->exit_code);
  CHECK(state->pid == 7);
  state = read_exec(parse(R"({"Running":false,"ExitCode":126,"Pid":0})"));
  REQUIRE(state);
  CHECK(state->exit_code == 126);
  CHECK(state->pid == 0);
  CHECK_FALSE(read_exec(parse("7")));
}

TEST_CASE("an event's word ends at its colon and its container is named") {
  const auto die = read_event(
    R"({"Type":"container","Action":"exec_die","Actor":{"ID":"abc","Attributes":{"name":"box","execID":"e1","exitCode":"3","ahpd.host":"h"}}})");
  REQUIRE(die);
  CHECK(die->action == "exec_die");
  CHECK(die->id == "abc");
  CHECK(die->name == "box");
  CHECK(die->attributes.at("execID") == "e1");
  const auto start = read_event(
    R"({"Type":"container","Action":"exec_start: sh -c x","Actor":{"ID":"abc","Attributes":{}}})");
  REQUIRE(start);
  CHECK(start->action == "exec_start");
  CHECK_FALSE(read_event(R"({"Type":"network","Action":"create","Actor":{"ID":"n"}})"));
  CHECK_FALSE(read_event(R"({"Type":"container","Action":"die"})"));
  CHECK_FALSE(read_event("nonsense"));
}
