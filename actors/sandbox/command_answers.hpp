#pragma once

#include "actors/sandbox/command.hpp"

/// What a command's answers say (spec "v2 Commands", "/v1/bash").
namespace ahpd::sandbox {

/// Reads a program's output as text.
struct output_reader {
  const runtimes::running& program;
  bool is_over; ///< what is not a whole character at the end will not become one

  struct piece {
    std::string text;
    std::uint64_t end = 0;  ///< behind what `text` stands for
    bool truncated = false; ///< something behind the offset is not kept any more
  };

  /// From an offset on, at most `most` bytes. Part of a character at the end is left for later.
  piece increment(runtimes::output which, std::uint64_t offset, std::size_t most) const;

  /// All of it, its middle cut out when it has more than `limit` characters; 0: no limit.
  std::string whole(runtimes::output which, std::size_t limit) const;

  std::uint64_t end(runtimes::output which) const;
};

/// `data` of the answer that a run gives.
json::object run_answer(const command_state& st);

/// `data` of the answer to a read from these offsets.
json::object read_answer(const command_state& st, std::uint64_t offset, std::uint64_t error_offset);

/// The last frame of a stream; the status is "running" when only its time is over.
json::object exit_frame(const command_state& st);

/// Nothing, as a version says it.
json::value empty_data(const call& to);

/// The number of "SIGTERM" or "TERM".
std::optional<int> signal_number(std::string name);

std::chrono::milliseconds seconds_of(const json::value& number);

} // namespace ahpd::sandbox
