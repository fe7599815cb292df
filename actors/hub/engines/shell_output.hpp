#pragma once

#include "protocol/json.hpp"
#include "runtimes/exec.hpp"

#include <cstdint>

/// What a command wrote, as the content of its tool call. Bytes on the wire are the truth and text
/// is a view of them: output that is UTF-8 goes as text, other output as base64, and neither is
/// ever split inside a character.
namespace ahpd::hub {

/// One entry for each stream that has written anything, stdout first. `_meta` says which stream it
/// is
/// (`ahpd.stream`) and the offset of its first byte (`ahpd.offset`): above 0 when older bytes were
/// evicted. `final` false leaves out an incomplete character at the end; it comes with its rest.
json::array shell_content(const runtimes::running& program, bool final);

/// ToolCallResult of a command that ended: content, `structuredContent` with exit code or signal
/// and what was kept of each stream, and the error of a command that failed.
json::value shell_result(const runtimes::running& program, const runtimes::exit_status& status);

} // namespace ahpd::hub
