#include "protocol/ahp/reducers.hpp"

#include "protocol/ahp/reducing.hpp"

namespace ahpd::ahp {

namespace {

const reducing::steps& steps_of(channel_kind kind) {
  static const reducing::steps none; // the state of a resource watch never changes
  switch (kind) {
  case channel_kind::root:
    return reducing::root_steps();
  case channel_kind::session:
    return reducing::session_steps();
  case channel_kind::chat:
    return reducing::chat_steps();
  case channel_kind::terminal:
    return reducing::terminal_steps();
  case channel_kind::changeset:
    return reducing::changeset_steps();
  case channel_kind::annotations:
    return reducing::annotations_steps();
  case channel_kind::resource_watch:
    return none;
  case channel_kind::automations:
    return reducing::automations_steps();
  case channel_kind::automation_run:
    return reducing::automation_run_steps();
  case channel_kind::computers:
    return reducing::computers_steps();
  }
  return none;
}

} // namespace

bool reduce(channel_kind kind, json::value& state, const json::value& action) {
  auto* document = state.if_object();
  const auto type = json::string_member(action, "type");
  if (!document || !type)
    return false;
  const auto& steps = steps_of(kind);
  const auto step = steps.find(*type);
  return step != steps.end() && step->second(*document, action);
}

} // namespace ahpd::ahp
