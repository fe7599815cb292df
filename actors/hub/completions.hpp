#pragma once

#include "actors/hub/call.hpp"

#include <string_view>

namespace ahpd::hub {

/// What a word of a message begins with that names a file.
constexpr std::string_view completion_trigger = "@";

/// Answers `completions` (AHP "Requests"): the files of the session's folder that the word before
/// the cursor may mean.
void complete_message(const call& c);

} // namespace ahpd::hub
