// Resource watches, completions and the progress of `createSession`, on the real hub.

#include "tests/programs/hub_support.hpp"

#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace ahpd;
namespace fs = std::filesystem;

namespace {

struct hub_watch_fixture {
  tests::hub_process hub;
  tests::ahp_peer peer{hub.url()};
  std::string root = hub.folder();

  hub_watch_fixture() { peer.initialize(); }

  std::string uri(const std::string& name) const { return ahp::file_uri(root + "/" + name); }

  std::string watch(json::object params) {
    if (!params.contains("uri"))
      params["uri"] = ahp::file_uri(root);
    const auto channel =
      std::string(peer.request("createResourceWatch", std::move(params)).at("channel").as_string());
    peer.subscribe(channel);
    return channel;
  }

  /// Waits until the channel says `type` of a name; it may have by now.
  void wait_change(const std::string& channel, const std::string& name, const std::string& type) {
    const auto says = [&](const json::value& envelope) {
      for (const auto& item : envelope.at("action").at("changes").at("items").as_array())
        if (item.at("uri") == json::value(uri(name)) && item.at("type") == json::value(type))
          return true;
      return false;
    };
    for (const auto& envelope : peer.actions("resourceWatch/changed", channel))
      if (says(envelope))
        return;
    peer.wait_action("resourceWatch/changed", channel, says);
  }

  std::vector<std::string> named(const std::string& channel) {
    std::vector<std::string> out;
    for (const auto& envelope : peer.actions("resourceWatch/changed", channel))
      for (const auto& item : envelope.at("action").at("changes").at("items").as_array())
        out.emplace_back(item.at("uri").as_string());
    return out;
  }

  void put(const std::string& name, const std::string& text = "x") const {
    std::ofstream(root + "/" + name, std::ios::binary) << text;
  }

  json::array complete(const std::string& chat, const std::string& text, std::uint64_t offset) {
    return peer
      .request("completions",
               {{"channel", chat}, {"kind", "userMessage"}, {"text", text}, {"offset", offset}})
      .at("items")
      .as_array();
  }
};

tests::peer_options a_client(std::string client) {
  tests::peer_options how;
  how.client_id = std::move(client);
  return how;
}

std::vector<std::string> labels(const json::array& items) {
  std::vector<std::string> out;
  for (const auto& item : items)
    out.emplace_back(item.at("attachment").at("label").as_string());
  return out;
}

} // namespace

TEST_CASE_FIXTURE(hub_watch_fixture, "a watch tells what is added, updated and deleted below it") {
  fs::create_directories(root + "/sub/deep");
  const auto channel = watch({{"recursive", true}});
  CHECK(channel.rfind("ahp-resource-watch:/", 0) == 0);
  put("sub/deep/f");
  wait_change(channel, "sub/deep/f", "added");
  put("sub/deep/f", "longer");
  wait_change(channel, "sub/deep/f", "updated");
  // What is in a folder that appears is told too, and so is what comes into it later.
  fs::create_directories(root + "/elsewhere-of/new");
  put("elsewhere-of/new/inside");
  wait_change(channel, "elsewhere-of/new/inside", "added");
  fs::rename(root + "/sub", root + "/moved");
  wait_change(channel, "moved/deep", "added");
  put("moved/deep/f", "again");
  wait_change(channel, "moved/deep/f", "updated");
  fs::remove(root + "/moved/deep/f");
  wait_change(channel, "moved/deep/f", "deleted");
  // A client's own write is told under the name of the file alone.
  peer.request("resourceWrite", {{"uri", uri("moved/w")}, {"data", "w"}, {"encoding", "utf-8"}});
  wait_change(channel, "moved/w", "added");
  for (const auto& each : named(channel))
    CHECK(each.find(".tmp") == std::string::npos);
}

TEST_CASE_FIXTURE(hub_watch_fixture, "a watch tells only what its patterns and its depth want") {
  fs::create_directories(root + "/skipped/in");
  fs::create_directory(root + "/sub");
  put("one");
  const auto all = watch({{"recursive", true},
                          {"excludes", {{"items", {"skipped/**", "**/*.log"}}}},
                          {"includes", {{"items", {"**/*.txt", "**/*.log", "skipped/**"}}}}});
  const auto flat = watch({});
  const auto file = watch({{"uri", uri("one")}});
  CHECK(peer.subscribe(all) ==
        json::object{{"root", ahp::file_uri(root)},
                     {"recursive", true},
                     {"excludes", {{"items", {"skipped/**", "**/*.log"}}}},
                     {"includes", {{"items", {"**/*.txt", "**/*.log", "skipped/**"}}}}});
  for (const char* name : {"skipped/in/a.txt", "sub/a.log", "sub/a.md", "sub/a.txt", "top.md"})
    put(name);
  put("one", "changed");
  wait_change(all, "sub/a.txt", "added");
  wait_change(flat, "one", "updated");
  CHECK(named(all) == std::vector<std::string>{uri("sub/a.txt")});
  for (const auto& each : named(flat))
    CHECK_MESSAGE((each == uri("top.md") || each == uri("one")), each);
  for (const auto& each : named(file))
    CHECK(each == uri("one"));
}

TEST_CASE_FIXTURE(hub_watch_fixture, "a watch ends with its last follower") {
  const auto channel = watch({});
  tests::ahp_peer other(hub.url(), a_client("other"));
  other.initialize();
  other.subscribe(channel);
  peer.notify("unsubscribe", {{"channel", channel}});
  peer.request("ping");
  put("f");
  other.wait_action("resourceWatch/changed", channel);
  other.notify("unsubscribe", {{"channel", channel}});
  CHECK(other.request_error("subscribe", {{"channel", channel}}).at("code") == ahp::not_found);
}

TEST_CASE_FIXTURE(hub_watch_fixture, "a burst that is too long is told as a change of everything") {
  const auto channel = watch({{"recursive", true}});
  const auto big = hub.config_home() + "/big"; // beside the served folder
  fs::create_directory(big);
  for (int i = 0; i < 1'500; ++i)
    std::ofstream(big + "/f" + std::to_string(i));
  fs::rename(big, root + "/big");
  const auto told = peer.wait_action("resourceWatch/changed", channel, [](const json::value& e) {
    return json::member(e.at("action"), "_meta") != nullptr;
  });
  CHECK(told.at("action").at("_meta") == json::object{{"ahpd.overflow", true}});
  const auto& items = told.at("action").at("changes").at("items").as_array();
  CHECK(items.back() ==
        json::object{{"uri", ahp::file_uri(fs::canonical(root).string())}, {"type", "updated"}});
  CHECK(items.size() <= 1'001);
}

TEST_CASE_FIXTURE(hub_watch_fixture, "a watch that cannot be is refused") {
  const auto no = [&](json::object params) {
    return peer.request_error("createResourceWatch", std::move(params));
  };
  CHECK(no({{"uri", uri("none")}}).at("code") == ahp::not_found);
  const auto outside = no({{"uri", "file:///etc"}});
  CHECK(outside.at("code") == ahp::permission_denied);
  CHECK(outside.at("data").at("request").at("read") == true);
  CHECK(no({{"uri", uri("")}, {"excludes", {{"items", {1}}}}}).at("code") ==
        jsonrpc::invalid_params);
  json::value refusal;
  for (int i = 0; i < 300 && refusal.is_null(); ++i) {
    const auto frame = peer.answer(peer.begin("createResourceWatch", {{"uri", uri("")}}));
    if (const auto* error = json::member(frame, "error"))
      refusal = *error;
  }
  REQUIRE(refusal.is_object());
  CHECK(refusal.at("code") == jsonrpc::invalid_params);
  // They end with their connection, and others can watch again.
  peer.close();
  tests::ahp_peer next(hub.url(), a_client("next"));
  next.initialize();
  const auto watches = [&] {
    return !json::member(next.answer(next.begin("createResourceWatch", {{"uri", uri("")}})),
                         "error");
  };
  bool again = false;
  for (int i = 0; i < 1'000 && !again; ++i)
    again = watches();
  CHECK(again);
}

TEST_CASE_FIXTURE(hub_watch_fixture, "a word that begins with @ is completed to files") {
  fs::create_directories(root + "/src/node_modules/pkg");
  fs::create_directories(root + "/.git");
  put("src/Main.cpp");
  put("main.txt");
  put("domain");
  put("src/node_modules/pkg/main.js");
  put(".git/main");
  put(".gitignore", "node_modules/\n");
  const auto chat = tests::open_session(peer, "ahp-session:/c").chat;
  const auto items = complete(chat, "look \xF0\x9F\x98\x80 @mai now", 12);
  CHECK(labels(items) == std::vector<std::string>{"main.txt", "src/Main.cpp", "domain"});
  CHECK(items[0] == json::object{{"insertText", "@main.txt"},
                                 {"rangeStart", 8},
                                 {"rangeEnd", 12},
                                 {"attachment",
                                  {{"type", "resource"},
                                   {"label", "main.txt"},
                                   {"uri", uri("main.txt")},
                                   {"displayKind", "document"}}}});
  CHECK(labels(complete(chat, "@src/m", 6)) == std::vector<std::string>{"src/Main.cpp"});
  CHECK(complete(chat, "mail@main", 9).empty());
  CHECK(complete(chat, "@main ", 6).empty());
  CHECK(complete(chat, "", 0).empty());
  for (const std::uint64_t bad : {1, 3})
    CHECK(peer
            .request_error("completions", {{"channel", chat},
                                           {"kind", "userMessage"},
                                           {"text", "\xF0\x9F\x98\x80"},
                                           {"offset", bad}})
            .at("code") == jsonrpc::invalid_params);
}

TEST_CASE_FIXTURE(hub_watch_fixture, "a session that is made tells its progress to who asked") {
  tests::ahp_peer other(hub.url(), a_client("other"));
  other.initialize({"ahp-root://"});
  peer.request("createSession", {{"channel", "ahp-session:/p"}, {"progressToken", "t"}});
  std::vector<std::int64_t> steps;
  for (const auto& frame : peer.frames())
    if (json::string_member(frame, "method") == "root/progress") {
      const auto& params = frame.at("params");
      CHECK(params.at("progressToken") == "t");
      CHECK(params.at("total") == 2);
      steps.push_back(params.at("progress").to_number<std::int64_t>());
    }
  CHECK(steps == std::vector<std::int64_t>{1, 2});
  peer.request_error("createSession",
                     {{"channel", "ahp-session:/q"}, {"provider", "none"}, {"progressToken", "u"}});
  other.request("ping");
  for (const auto* each : {&peer, &other})
    for (const auto& frame : each->frames())
      if (json::string_member(frame, "method") == "root/progress")
        CHECK((each == &peer && frame.at("params").at("progressToken") == "t"));
}
