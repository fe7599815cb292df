#pragma once

#include "protocol/json.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ahpd::client {

/// Prints a turn as it grows: given the turn's state again and again, it writes what is new. A
/// state that comes from a snapshot, after a reconnect, goes on where the last one ended.
class turn_view {
public:
  enum class stream { out, err };

  /// `write` gets bytes as they are, `note` a sentence about bytes that cannot be had any more.
  turn_view(std::function<void(stream, std::string_view)> write,
            std::function<void(const std::string&)> note);

  /// The Turn or ActiveTurn of the chat's state.
  void show(const json::value& turn);

  /// 0 while no tool call failed; else the exit status of the last failed one, 128 + its signal,
  /// or 1.
  int exit_code() const { return exit_code_; }

private:
  struct tool_call {
    std::uint64_t shown_out = 0; ///< bytes of each stream that were written or given up
    std::uint64_t shown_err = 0;
    std::string text; ///< what was written of content that names no stream
    bool finished = false;
  };

  void show_markdown(const std::string& id, std::string_view content);
  void show_tool_call(const json::value& call);
  void show_stream(tool_call& shown, stream which, std::uint64_t offset, std::string_view bytes);
  void finish(tool_call& shown, const json::value& call);

  std::function<void(stream, std::string_view)> write_;
  std::function<void(const std::string&)> note_;
  std::map<std::string, std::size_t> markdown_; ///< bytes written, by part id
  std::map<std::string, tool_call> calls_;
  int exit_code_ = 0;
};

} // namespace ahpd::client
