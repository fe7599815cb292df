#include "tests/actors/hub_fixture.hpp"

#include "actors/hub/store_actor.hpp"
#include "actors/hub/tools.hpp"
#include "protocol/ahp/changesets.hpp"
#include "protocol/ahp/uris.hpp"

using namespace ahpd;
using namespace ahpd::tests;

namespace {

const std::string session = "ahp-session:/s";
const std::string chat = ahp::default_chat_uri(session);
const std::string changeset = session + "/changeset/session";

/// Answers each turn by one edit of /tmp/a, whose text becomes the message's.
caf::behavior editor(caf::event_based_actor* self, hub::agent_context context) {
  self->monitor(context.chat);
  self->set_down_handler([self](caf::down_msg&) { self->quit(); });
  return {
    [self, context](const hub::begin_turn& turn) {
      const std::string text(turn.message->at("text").as_string());
      self->send(context.chat,
                 hub::file_edited{turn.turn_id, turn.directory,
                                  std::make_shared<const ahp::file_edit>(
                                    ahp::file_edit{std::nullopt, ahp::edit_side{"/tmp/a", text}})});
      self->send(context.chat, hub::turn_ended{turn.turn_id, {}, {}});
    },
    [](const hub::cancel_turn&) {},
    [](const hub::session_settings&) {},
    [](const hub::session_tools&) {},
  };
}

void add_editor(hub::services& host) {
  hub::engine what;
  what.provider = "editor";
  what.tells_edits = true;
  what.spawn = [](caf::actor_system& system, hub::agent_context context) {
    return caf::actor_cast<caf::actor>(system.spawn(editor, std::move(context)));
  };
  host.engines.push_back(std::move(what));
}

struct fixture {
  live_hub hub{add_editor};
  loop_client c = hub.connect();

  fixture() {
    c.result("createSession", {{"channel", session}, {"provider", "editor"}});
    c.result("subscribe", {{"channel", chat}});
    c.result("subscribe", {{"channel", changeset}});
  }

  void edit(const std::string& turn, const std::string& text) {
    c.dispatch(chat, {{"type", "chat/turnStarted"},
                      {"turnId", turn},
                      {"startedAt", "2026-01-01T00:00:00.000Z"},
                      {"message", {{"text", text}, {"origin", {{"kind", "user"}}}}}});
  }

  /// The text of the one file that an action shows.
  std::string text_in(const json::value& file) {
    const auto uri = file.at("edit").at("after").at("content").at("uri");
    return std::string(c.result("resourceRead", {{"uri", uri}}).at("data").as_string());
  }

  /// The edit is told before its turn is complete.
  void check_edit(const std::string& turn) {
    edit(turn, "text of " + turn);
    const auto set = c.wait_action("changeset/fileSet", changeset);
    c.wait_action("chat/turnComplete", chat);
    CHECK(text_in(set.at("params").at("action").at("file")) == "text of " + turn);
  }

  caf::actor owner() { return hub.host->channels.owner_of(changeset); }

  /// Waits for the successor of a channel's owner, by its address.
  void wait_successor(const std::string& uri, const caf::actor& old) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (hub.host->channels.owner_of(uri) == old && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    REQUIRE(hub.host->channels.owner_of(uri) != old);
  }
};

} // namespace

TEST_CASE_FIXTURE(fixture, "killed changesets come back for their followers") {
  check_edit("t1");
  const auto old = owner();
  caf::anon_send_exit(old, caf::exit_reason::kill);
  check_edit("t2");
  CHECK(owner() != old);
}

TEST_CASE_FIXTURE(fixture, "a killed session comes back with its changesets") {
  check_edit("t1");
  const auto old = owner();
  const auto old_chat = hub.host->channels.owner_of(chat);
  caf::anon_send_exit(hub.host->channels.owner_of(session), caf::exit_reason::kill);
  wait_successor(chat, old_chat);
  wait_successor(changeset, old);
  check_edit("t2");
}

TEST_CASE_FIXTURE(fixture,
                  "what was written and not told before a crash is told by the successor") {
  check_edit("t1");
  const auto old = owner();
  caf::scoped_actor here(hub.system);
  here
    ->request(hub.host->store->get(), caf::infinite, hub::make_store_job([](config::store& db) {
                auto row = *db.find_change("s", "session", "file:///tmp/a");
                row.file = "file:///tmp/b";
                row.document.as_object()["id"] = row.file;
                db.put_change("s", row);
              }))
    .receive([] {}, [](const caf::error&) { FAIL("the store failed"); });
  caf::anon_send_exit(old, caf::exit_reason::kill);
  const auto told = c.wait_action("changeset/contentChanged", changeset);
  CHECK(told.at("params").at("action").at("files").as_array().size() == 2);
}

TEST_CASE_FIXTURE(fixture, "a disposed session leaves no channel of its changesets behind") {
  for (int i = 0; i < 3; ++i)
    c.result("subscribe", {{"channel", session + "/changeset/turn/" + std::to_string(i)}});
  CHECK(hub.host->channels.of_kind(ahp::channel_kind::changeset).size() == 4);
  auto ended = owner();
  caf::scoped_actor here(hub.system);
  here->monitor(ended);
  c.result("disposeSession", {{"channel", session}});
  here->receive([](const caf::down_msg&) {});
  CHECK(hub.host->channels.of_kind(ahp::channel_kind::changeset).empty());
}

TEST_CASE_FIXTURE(fixture,
                  "channels that nobody follows are bounded, and those that somebody does stay") {
  for (int i = 0; i < 100; ++i) {
    const auto uri = session + "/changeset/turn/" + std::to_string(i);
    c.result("subscribe", {{"channel", uri}});
    if (i > 0)
      c.events.on_text(jsonrpc::notification_frame("unsubscribe", {{"channel", uri}}));
  }
  c.result("ping", {});
  const auto left = hub.host->channels.of_kind(ahp::channel_kind::changeset);
  CHECK(left.size() <= 33);
  CHECK(hub.host->channels.find(changeset));
  CHECK(hub.host->channels.find(session + "/changeset/turn/0"));
  check_edit("50"); // a channel that is gone misses nothing: the store has it
  const auto shot = c.result("subscribe", {{"channel", session + "/changeset/turn/50"}});
  CHECK(text_in(shot.at("snapshot").at("state").at("files").at(0)) == "text of 50");
}
