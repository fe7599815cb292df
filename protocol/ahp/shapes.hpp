#pragma once

#include "protocol/json.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Checks of JSON values that clients send, each giving the sentence of a refusal or nothing.
namespace ahpd::ahp::shapes {

inline constexpr std::size_t max_text_bytes = 4u
                                              << 20; ///< message texts, tool input, terminal input
inline constexpr std::size_t max_label_bytes = 4096; ///< titles and names
inline constexpr std::size_t max_id_bytes = 256;
inline constexpr std::size_t max_items = 4096; ///< of any list that a client sends

using refusal = std::optional<std::string>;

/// Where a value stands: `{"chat/turnStarted", "message.text"}`.
struct place {
  std::string_view action;
  std::string path;

  place in(std::string_view member) const;
  place at(std::size_t index) const;
};

/// "chat/turnStarted needs message.text to be a string".
std::string needs(const place& where, std::string_view what);

/// The kinds of value that members of actions hold.
enum class kind {
  id,    ///< string of 1 to 256 bytes
  label, ///< string of at most 4 KiB
  text,  ///< string of at most 4 MiB
  uri,
  time, ///< ISO 8601 with a zone
  boolean,
  number, ///< finite and not negative
  cells,  ///< integer of 1 to 10,000: columns and rows
  object,
  array,
  ids,                ///< array of ids
  uris,               ///< array of URIs
  prose,              ///< string or {markdown}
  user_message,       ///< Message whose origin is a user
  automation_message, ///< Message whose origin is an automation
  active_client,
  enablement,
  tool_content,
  tool_result,
  answer,
  answers, ///< map of answers
  claim,   ///< TerminalClaim
  range,   ///< TextRange
  annotation,
  annotation_origin,
  annotation_entry,
  automation_definition,
  automation_changes,
};

refusal check(const place& where, const json::value& v, kind what);

/// Checks the member `name` of `o`: absent is refused when it is required.
refusal check_member(const place& where, const json::value& o, std::string_view name, kind what,
                     bool required);

/// One of a few words.
refusal check_word(const place& where, const json::value& o, std::string_view name,
                   std::initializer_list<std::string_view> words);

} // namespace ahpd::ahp::shapes
