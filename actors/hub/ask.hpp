#pragma once

#include "actors/hub/call.hpp"

/// Calls that another actor answers.
namespace ahpd::hub {

/// Asks an actor and answers the call with `result`, or with its refusal.
template <class Message>
void ask(const call& c, const caf::actor& whom, Message what, json::value result) {
  c.self->request(whom, caf::infinite, std::move(what))
    .then([c, result = std::move(result)]() { c.answer(result); },
          [c](const caf::error& why) { c.refuse(why); });
}

/// The same for an actor that gives the result itself.
template <class Message> void ask_json(const call& c, const caf::actor& whom, Message what) {
  c.self->request(whom, caf::infinite, std::move(what))
    .then([c](const json::shared& result) { c.answer(*result); },
          [c](const caf::error& why) { c.refuse(why); });
}

} // namespace ahpd::hub
