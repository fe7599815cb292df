// What an agent says over ACP: its lines cut into pieces, its messages taken into a turn and into a
// session's settings. The turn's actions must be ones that a chat can fold.

#include "tests/fuzz/fuzz.hpp"

#include "protocol/acp/handshake.hpp"
#include "protocol/acp/lines.hpp"
#include "protocol/acp/peer.hpp"
#include "protocol/acp/permission.hpp"
#include "protocol/acp/prompt.hpp"
#include "protocol/acp/settings.hpp"
#include "protocol/acp/turn.hpp"
#include "protocol/ahp/actions.hpp"
#include "protocol/ahp/reducers.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace ahpd::fuzz {

namespace {

std::vector<std::string> lines(std::string_view bytes, std::size_t length) {
  constexpr std::size_t longest = 4096;
  acp::line_reader reader(longest);
  std::vector<std::string> out;
  while (!bytes.empty()) {
    for (auto& line : reader.feed(bytes.substr(0, length))) {
      must(line.size() <= longest && line.find('\n') == std::string::npos, "a line is one");
      out.push_back(std::move(line));
    }
    bytes.remove_prefix(std::min(length, bytes.size()));
  }
  out.push_back(reader.too_long() ? "too long" : "");
  return out;
}

/// Folds what a turn or a session came to into a document of that kind.
void fold(ahp::channel_kind kind, json::value& state, const std::vector<json::value>& actions) {
  for (const auto& action : actions) {
    const auto type = json::string_member(action, "type");
    const auto* rule = type ? ahp::find_action(*type) : nullptr;
    must(rule && rule->kind == kind, "an agent's words become actions of the right channel");
    ahp::reduce(kind, state, action);
  }
}

void read_result(const json::value& result, acp::settings& session, acp::turn& turn) {
  std::string problem;
  const auto agent = acp::read_initialize(result, problem);
  acp::prompt_of(result, agent);
  session.take_opened(result);
  turn.take_answer(result);
  acp::ending_of(result);
}

void read_call(const json::object& params, acp::turn& turn) {
  const auto* options = params.if_contains("options");
  acp::confirmation_options(options);
  acp::option_for(options, true, "allow");
  acp::option_for(options, false, "");
  if (const auto* call = params.if_contains("toolCall")) {
    const auto id = turn.ask(*call, acp::confirmation_options(options));
    if (!id.empty())
      turn.deny(id);
  }
}

} // namespace

void take(std::string_view bytes) {
  const auto all = lines(bytes, bytes.size() + 1);
  if (!bytes.empty())
    must(all == lines(bytes, 1 + static_cast<unsigned char>(bytes.front()) % 32u),
         "cut lines read the same");

  json::value chat = json::parse(R"({"turns": [], "status": 8, "activeTurn":
                                     {"id": "t", "message": {"text": "x"}, "responseParts": []}})");
  json::value doc = json::parse(R"({"chats": [], "activeClients": [], "status": 1,
                                    "config": {"schema": {}, "values": {}}})");
  acp::peer peer;
  acp::turn turn("t", {});
  acp::settings session("agent");
  peer.ask("session/prompt", json::object{}, [&](acp::outcome what) {
    if (const auto* result = std::get_if<json::value>(&what))
      read_result(*result, session, turn);
  });
  for (const auto& line : all) {
    const auto event = peer.take(line);
    if (const auto* call = std::get_if<acp::peer::call>(&event)) {
      read_call(call->params, turn);
      must(!peer.answer(call->id, nullptr).empty(), "a request is answered");
      must(peer.answer(call->id, nullptr).empty(), "a request is answered once");
    } else if (const auto* word = std::get_if<acp::peer::word>(&event)) {
      if (const auto* update = word->params.if_contains("update")) {
        session.take(*update);
        turn.take(*update);
      }
    } else if (const auto* fault = std::get_if<acp::peer::fault>(&event)) {
      must(!fault->why.empty(), "what cannot be used is said so");
    }
    turn.flush();
    fold(ahp::channel_kind::chat, chat, turn.drain());
    fold(ahp::channel_kind::session, doc, session.drain());
  }
  turn.finish();
  fold(ahp::channel_kind::chat, chat, turn.drain());
}

} // namespace ahpd::fuzz
