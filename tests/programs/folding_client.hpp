#pragma once

#include "tests/programs/hub_support.hpp"

#include "protocol/ahp/reducers.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

namespace ahpd::tests {

inline peer_options named(const std::string& name) {
  peer_options out;
  out.client_id = name;
  return out;
}

/// A channel as a client has it: the snapshot, and every later action folded into it.
struct folded_document {
  json::value state;
  std::int64_t seq = 0;
};

/// What a client holds, and takes along when its connection is lost.
struct folded {
  std::map<std::string, folded_document> documents;
  std::int64_t last_seq = 0;
  std::set<std::int64_t> numbers; ///< of all actions that it was told

  /// Folds an envelope; the numbers must go up over all channels.
  void fold_in(const json::value& envelope) {
    const auto seq = envelope.at("serverSeq").as_int64();
    if (json::member(envelope, "rejectionReason")) {
      CHECK(seq >= last_seq);
      return;
    }
    CHECK(seq > last_seq);
    last_seq = seq;
    numbers.insert(seq);
    const std::string uri(envelope.at("channel").as_string());
    const auto i = documents.find(uri);
    if (i != documents.end() && seq > i->second.seq)
      ahp::reduce(kind_of(uri), i->second.state, envelope.at("action"));
  }

  void take_snapshot(const json::value& shot) {
    documents[std::string(shot.at("resource").as_string())] = {shot.at("state"),
                                                               shot.at("fromSeq").as_int64()};
  }

  static ahp::channel_kind kind_of(const std::string& uri) {
    if (uri == "ahp-root://")
      return ahp::channel_kind::root;
    return uri.rfind("ahp-chat:", 0) == 0 ? ahp::channel_kind::chat : ahp::channel_kind::session;
  }
};

/// A client that keeps the channels it follows as a client should.
struct folding_client : ahp_peer, folded {
  std::size_t seen = 0; ///< frames that are folded

  folding_client(const hub_process& hub, const std::string& name)
      : ahp_peer(hub.url(), named(name)) {
    last_seq = initialize().at("serverSeq").as_int64();
    follow("ahp-root://");
  }

  /// Comes back with what an earlier connection held, saying that it saw everything up to
  /// `last_seen`.
  folding_client(const hub_process& hub, const std::string& name, folded held,
                 std::int64_t last_seen)
      : ahp_peer(hub.url(), named(name)), folded(std::move(held)) {
    std::vector<std::string> uris;
    for (const auto& [uri, document] : documents)
      uris.push_back(uri);
    resumed = ahp_peer::reconnect(last_seen, uris);
    if (resumed.at("type") == "snapshot") {
      documents.clear();
      for (const auto& shot : resumed.at("snapshots").as_array()) {
        take_snapshot(shot);
        last_seq = std::max(last_seq, shot.at("fromSeq").as_int64());
      }
      return;
    }
    for (const auto& envelope : resumed.at("actions").as_array())
      fold_in(envelope);
    for (const auto& uri : resumed.at("missing").as_array())
      documents.erase(std::string(uri.as_string()));
  }

  json::value resumed; ///< of the `reconnect`

  void follow(const std::string& uri) {
    const auto shot = request("subscribe", {{"channel", uri}}).at("snapshot");
    fold(); // what came before the answer belongs to the old document
    take_snapshot(shot);
  }

  void leave(const std::string& uri) {
    notify("unsubscribe", {{"channel", uri}});
    documents.erase(uri);
  }

  /// Folds what came since.
  void fold() {
    for (; seen < frames().size(); ++seen)
      if (json::string_member(frames()[seen], "method") == "action")
        fold_in(frames()[seen].at("params"));
  }

  /// Waits until the client has seen its own last word in every channel it follows.
  void catch_up(const std::string& session) {
    const auto n = dispatch(session, {{"type", "session/titleChanged"}, {"title", "over"}});
    wait_action("session/titleChanged", session, [n](const json::value& e) {
      const auto* origin = json::member(e, "origin");
      return origin && origin->at("clientSeq") == n;
    });
    request("ping");
    fold();
  }
};

inline void check_same(const std::string& who, const std::string& uri, const json::value& folded,
                       const json::value& held) {
  INFO(who << " on " << uri << "\nfolded: " << json::serialize(folded)
           << "\nheld:   " << json::serialize(held));
  CHECK(json::equivalent(folded, held));
}

} // namespace ahpd::tests
