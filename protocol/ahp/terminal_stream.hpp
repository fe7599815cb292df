#pragma once

#include "protocol/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a program writes into a terminal, as AHP shows it (AHP "Terminal channel").
namespace ahpd::ahp {

/// One thing a terminal's program said. Texts are UTF-8.
struct terminal_piece {
  enum class kind {
    text,             ///< to be shown, escape sequences included
    title,            ///< OSC 0 and 2; what says it stays in the text
    directory,        ///< OSC 7 and 633;P;Cwd: a file URI without a host
    command_started,  ///< OSC 633;C and 133;C: `text` is the command line where it was told
    command_finished, ///< OSC 633;D and 133;D
  };
  kind what = kind::text;
  std::string text = {};
  std::optional<int> exit_code = std::nullopt; ///< of a finished command
};

/// Reads a terminal's bytes as they come, cut anywhere. No character and no operating system
/// command (OSC) is ever split; what is not UTF-8 becomes U+FFFD; the escapes of shell integration
/// (OSC 633 and 133) are taken out.
class terminal_stream {
public:
  std::vector<terminal_piece> feed(std::string_view bytes);

  /// What was held back for a rest that does not come any more.
  std::vector<terminal_piece> finish();

private:
  void command(std::string_view osc, std::vector<terminal_piece>& out);

  std::string held_;         ///< an incomplete character or command at the end
  std::string command_line_; ///< told by 633;E, for the 633;C behind it
};

/// The text without escape sequences and control characters but line ends and tabs, for a preview.
std::string without_escapes(std::string_view text);

/// The last at most `most` bytes, from the beginning of a character.
std::string_view last_bytes(std::string_view text, std::size_t most);

/// The last at most `most` bytes, from the beginning of a line where there is one among them, else
/// of a character.
std::string_view last_lines(std::string_view text, std::size_t most);

/// Shortens a TerminalState's content from its beginning to at most `most` bytes of text. Gives how
/// many bytes are left.
std::size_t trim_content(json::value& state, std::size_t most);

} // namespace ahpd::ahp
