// Changesets of what an agent on the Agent Client Protocol edits, on a real hub.

#include "tests/programs/acp_support.hpp"

#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/reducers.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

const std::string of_session = "ahp-session:/a/changeset/session";

std::string of_turn(const std::string& id) {
  return "ahp-session:/a/changeset/turn/" + id;
}

shell_session edit_session(ahp_peer& peer) {
  return open_session(peer, "ahp-session:/a", {{"provider", "acp"}});
}

json::object write(const std::string& path, const std::string& text) {
  return {{"write", {path, text}}};
}

json::object diff(const std::string& path, const std::string& before, const std::string& after,
                  const std::string& status = "completed") {
  return {{"diff", {{"path", path}, {"oldText", before}, {"newText", after}}}, {"status", status}};
}

/// A turn that makes these edits, one after the other.
void edit(ahp_peer& peer, const shell_session& in, const std::string& turn, json::array steps) {
  CHECK(say(peer, in, turn, "edits " + json::serialize(steps)) == "edited");
}

std::string read(ahp_peer& peer, const json::value& side) {
  const auto got = peer.request("resourceRead", {{"uri", side.at("content").at("uri")}});
  return std::string(got.at("encoding").as_string()) + " " +
         std::string(got.at("data").as_string());
}

/// "<path>: <before> -> <after> +<added> -<removed>" of every file, one a line.
std::string show(ahp_peer& peer, const json::value& state, const std::string& folder) {
  std::string out;
  for (const auto& file : state.at("files").as_array()) {
    const auto& edit = file.at("edit");
    const auto side = [&](std::string_view key) {
      const auto* of = json::member(edit, key);
      return of ? read(peer, *of) : "-";
    };
    out += std::string(file.at("id").as_string()).substr(7 + folder.size()) + ": " +
           side("before") + " -> " + side("after");
    if (const auto* lines = json::member(edit, "diff"))
      out +=
        " +" + json::serialize(lines->at("added")) + " -" + json::serialize(lines->at("removed"));
    out += "\n";
  }
  return out;
}

/// What a client makes of a changeset by its snapshot and every action that came since.
json::value folded(const ahp_peer& peer, json::value state, const std::string& channel) {
  for (const auto& envelope : peer.actions("", channel))
    ahp::reduce(ahp::channel_kind::changeset, state, envelope.at("action"));
  return state;
}

json::object reviewed(const json::value& file, bool yes) {
  return {
    {"type", "changeset/filesReviewChanged"}, {"files", json::array{file}}, {"reviewed", yes}};
}

std::string refusal(ahp_peer& peer, const std::string& method, json::object params) {
  const auto error = peer.request_error(method, std::move(params));
  return json::serialize(error.at("code")) + " " + std::string(error.at("message").as_string());
}

} // namespace

TEST_CASE("two clients see an agent's edits live, its turn's and the session's alike") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  const auto folder = it.marked.hub.folder();
  acp_peer one(it.marked.hub, "one");
  acp_peer two(it.marked.hub, "two");
  const auto in = edit_session(one);
  two.subscribe("ahp-root://");
  const auto catalogue = two.subscribe(in.uri).at("changesets");
  CHECK(catalogue.at(0).at("uriTemplate") == json::value(of_session));
  CHECK(catalogue.at(1).at("uriTemplate") == json::value(of_turn("{turnId}")));
  std::map<std::string, json::value> held;
  for (const auto& uri : {of_session, of_turn("t1"), of_turn("t2")}) {
    one.subscribe(uri);
    held[uri] = two.subscribe(uri);
    CHECK(held[uri] == json::value{{"status", "ready"}, {"files", json::array{}}});
  }
  edit(one, in, "t1",
       {write(folder + "/a", "1\n"), write(folder + "/a", "1\n2\n"),
        diff(folder + "/b", "old\n", "new\n")});
  edit(one, in, "t2", {write(folder + "/a", "2\n")});
  two.wait_action("changeset/fileSet", of_turn("t2"));
  const json::value sums{{"additions", 2}, {"deletions", 1}, {"files", 2}};
  two.wait_for("the row's changes", [&](const json::value& frame) {
    if (json::string_member(frame, "method") != "root/sessionSummaryChanged")
      return false;
    const auto* changes = json::member(frame.at("params").at("changes"), "changes");
    return changes && *changes == sums;
  });
  for (auto& [uri, state] : held)
    state = folded(two, state, uri);
  for (const auto* peer : {&one, &two})
    CHECK(peer->actions("changeset/fileSet").size() == 8); // four edits, in two changesets each
  CHECK(show(two, held[of_turn("t1")], folder) ==
        "/a: - -> utf-8 1\n2\n +2 -0\n/b: utf-8 old\n -> utf-8 new\n +1 -1\n");
  CHECK(show(two, held[of_turn("t2")], folder) == "/a: utf-8 1\n2\n -> utf-8 2\n +0 -1\n");
  CHECK(show(two, held[of_session], folder) ==
        "/a: - -> utf-8 2\n +1 -0\n/b: utf-8 old\n -> utf-8 new\n +1 -1\n");
  for (const auto& [uri, state] : held)
    CHECK(one.subscribe(uri) == state);
  CHECK(one.request("listSessions").at("items").at(0).at("changes") == sums);
}

TEST_CASE("edits, their contents and reviews outlive a killed hub, and go with their session") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  const auto folder = it.marked.hub.folder();
  json::value before;
  {
    acp_peer peer(it.marked.hub);
    const auto in = edit_session(peer);
    edit(peer, in, "t1", {write(folder + "/a", "1\n"), write(folder + "/b", "2\n")});
    before = peer.subscribe(of_turn("t1"));
    const auto& file = before.at("files").at(1).at("id");
    peer.dispatch(of_turn("t1"), reviewed(file, true));
    const auto echo = peer.wait_action("changeset/filesReviewChanged", of_turn("t1"));
    CHECK(echo.at("origin").at("clientId") == json::value("peer"));
    before = folded(peer, before, of_turn("t1"));
    CHECK(before.at("files").at(1).at("reviewed") == json::value(true));
    // no such file: echoed, and nothing changes
    peer.dispatch(of_turn("t1"), reviewed("file:///none", true));
    peer.wait_action("changeset/filesReviewChanged", of_turn("t1"));
    peer.dispatch(of_turn("t1"), {{"type", "changeset/cleared"}});
    const auto refused = peer.wait_action("changeset/cleared", of_turn("t1"));
    CHECK(json::member(refused, "rejectionReason"));
    // the last word before the end: acknowledged with the turn
    edit(peer, in, "t2", {write(folder + "/b", "3\n")});
  }
  it.marked.hub.kill();
  it.marked.hub.start();
  acp_peer peer(it.marked.hub);
  CHECK(peer.request("listSessions").at("items").at(0).at("changes") ==
        json::value{{"additions", 2}, {"deletions", 0}, {"files", 2}});
  CHECK(peer.subscribe(of_turn("t1")) == before); // the session is not open yet
  CHECK(show(peer, peer.subscribe(of_turn("t2")), folder) == "/b: utf-8 2\n -> utf-8 3\n +1 -1\n");
  const auto all = peer.subscribe(of_session);
  CHECK(show(peer, all, folder) == "/a: - -> utf-8 1\n +1 -0\n/b: - -> utf-8 3\n +1 -0\n");

  const auto content = all.at("files").at(0).at("edit").at("after").at("content").at("uri");
  peer.request("disposeSession", {{"channel", "ahp-session:/a"}});
  CHECK(refusal(peer, "resourceRead", {{"uri", content}}) ==
        "-32008 No content is kept at " + std::string(content.as_string()));
  CHECK(peer.request_error("subscribe", {{"channel", of_session}}).at("code") ==
        json::value(ahp::session_not_found));
}

TEST_CASE("what lies outside of the session's folder, failed or changed nothing is no change") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  scratch elsewhere;
  const auto folder = it.marked.hub.folder();
  acp_peer peer(it.marked.hub);
  const auto in = edit_session(peer);
  edit(peer, in, "t1",
       {write(elsewhere.path() + "/a", "out"), write(folder + "/../beside", "out"),
        diff(folder + "/failed", "a", "b", "failed"), write(folder + "/sub/../in", "1\n"),
        write(folder + "/same", "x"), diff("relative", "a", "b"),
        diff(folder + "/in", "1\n", "one\n"), // told of what it wrote itself, as agents do
        write(folder + "/in", "one\n")});
  edit(peer, in, "t2", {write(folder + "/same", "x")});
  CHECK(read_file(elsewhere.path() + "/a") == "out");
  CHECK(show(peer, peer.subscribe(of_turn("t1")), folder) ==
        "/in: - -> utf-8 one\n +1 -0\n/same: - -> utf-8 x +1 -0\n");
  CHECK(peer.subscribe(of_turn("t2")).at("files").as_array().empty());
}

TEST_CASE("a binary file is kept as it was, and a huge one listed without its content") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  const auto folder = it.marked.hub.folder();
  std::ofstream(folder + "/binary", std::ios::binary) << std::string("\x00\xff\n", 3);
  std::ofstream(folder + "/huge") << std::string((1 << 20) + 1, 'x');
  acp_peer peer(it.marked.hub);
  const auto in = edit_session(peer);
  const json::object fill{{"fill", {folder + "/grown", (1 << 20) + 1}}};
  edit(peer, in, "t1", {write(folder + "/binary", "text"), write(folder + "/huge", "small"), fill});
  const auto files = peer.subscribe(of_turn("t1")).at("files");
  REQUIRE(files.as_array().size() == 3);
  const auto& binary = files.at(0).at("edit");
  CHECK(read(peer, binary.at("before")) == "base64 AP8K");
  CHECK(read(peer, binary.at("after")) == "utf-8 text");
  CHECK(binary.at("before").at("content").at("sizeHint") == json::value(3));
  CHECK_FALSE(json::member(binary, "diff"));
  const auto wished = peer.request(
    "resourceRead", {{"uri", binary.at("after").at("content").at("uri")}, {"encoding", "base64"}});
  CHECK(wished == json::value{{"data", "dGV4dA=="}, {"encoding", "base64"}});
  for (const auto* huge :
       {&files.at(1).at("edit").at("before"), &files.at(2).at("edit").at("after")}) {
    const auto& content = huge->at("content");
    CHECK(content.at("_meta").at("ahpd.missing") == json::value("it is larger than 1 MiB"));
    CHECK(peer.request_error("resourceRead", {{"uri", content.at("uri")}}).at("code") ==
          json::value(ahp::not_found));
  }
  CHECK(read(peer, files.at(1).at("edit").at("after")) == "utf-8 small");
}

TEST_CASE("a changeset has no operations, and what names none is refused") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  acp_peer peer(it.marked.hub);
  const auto in = edit_session(peer);
  const auto invoke = [&](const std::string& channel, json::object params = {}) {
    params["channel"] = channel;
    params.emplace("operationId", "revert");
    return refusal(peer, "invokeChangesetOperation", std::move(params));
  };
  CHECK(invoke(of_session) == "-32602 No operation called revert on " + of_session);
  CHECK(invoke(of_session, {{"operationId", 7}}).rfind("-32602 operationId must be", 0) == 0);
  CHECK(invoke(of_session, {{"target", "all"}}).rfind("-32602 target must be", 0) == 0);
  for (const std::string uri : {"ahp-session:/a/changeset/branch", "ahp-session:/a",
                                "ahp-session:/none/changeset/session", "ahp-chat:/c"})
    CHECK(invoke(uri) == "-32001 No changeset at " + uri);
  CHECK(refusal(peer, "resourceRead", {{"uri", "ahp-content:/a"}}).rfind("-32602 uri must", 0) ==
        0);
  CHECK(refusal(peer, "resourceList", {{"uri", "ahp-content:/a"}}) ==
        "-32601 ahp-content: does not answer resourceList");
  CHECK(refusal(peer, "subscribe", {{"channel", "ahp-session:/a/changeset/branch"}})
          .rfind("-32008 There is no channel", 0) == 0);
  CHECK(refusal(peer, "subscribe", {{"channel", "ahp-session:/none/changeset/session"}})
          .rfind("-32001", 0) == 0);

  peer.dispatch(in.chat, turn_started("t", "wait"));
  peer.wait_action("chat/delta", in.chat);
  CHECK(invoke(of_session) == "-32004 ahp-session:/a is mid-turn");

  // the shell tells no edits
  const auto other = open_session(peer, "ahp-session:/b", {{"provider", "shell"}});
  CHECK_FALSE(json::member(peer.subscribe(other.uri), "changesets"));
  CHECK(refusal(peer, "subscribe", {{"channel", "ahp-session:/b/changeset/session"}}) ==
        "-32001 No changeset at ahp-session:/b/changeset/session");
}

TEST_CASE("clients of every version follow and review changesets") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  const auto folder = it.marked.hub.folder();
  acp_peer newest(it.marked.hub);
  const auto in = edit_session(newest);
  newest.subscribe(of_session);
  edit(newest, in, "t0", {write(folder + "/a", "0\n")});
  int n = 0;
  for (const std::string version : {"0.6.0", "0.7.0", "0.8.0", "0.9.0"}) {
    INFO(version);
    peer_options how;
    how.client_id = version;
    how.versions = {version};
    ahp_peer old(it.marked.hub.url(), how);
    old.initialize();
    CHECK(old.subscribe(in.uri).at("changesets").as_array().size() == 2);
    // and a client's own spelling of the session
    const auto spelled = "acp:/a/changeset/session";
    const auto state = old.subscribe(spelled);
    const auto turn = "t" + std::to_string(++n);
    edit(newest, in, turn, {write(folder + "/a", turn + "\n")});
    old.wait_action("changeset/fileSet", spelled);
    const auto now = folded(old, state, spelled);
    CHECK(show(old, now, folder) == "/a: - -> utf-8 " + turn + "\n +1 -0\n");
    old.dispatch(spelled, reviewed(now.at("files").at(0).at("id"), true));
    old.wait_action("changeset/filesReviewChanged", spelled);
    newest.wait_action("changeset/filesReviewChanged", of_session);
    CHECK(newest.subscribe(of_session).at("files").at(0).at("reviewed") == json::value(true));
    old.notify("unsubscribe", {{"channel", spelled}});
    old.request("ping");
    newest.dispatch(of_session, reviewed(now.at("files").at(0).at("id"), false));
    newest.wait_action("changeset/filesReviewChanged", of_session);
    old.request("ping");
    CHECK(old.actions("changeset/filesReviewChanged", spelled).size() == 1);
  }
}
