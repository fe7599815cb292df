#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::config {

/// What a started hub says of itself. The token itself is not among it.
struct announcement {
  enum class admission { token, loopback_only, any_connection };

  std::string url;     ///< `ws://host:port`; empty: standard input and output
  std::string runtime; ///< name and version of the program
  std::vector<std::string> paths;
  std::string http_url; ///< empty: no API
  long pid = 0;
  std::optional<std::string> automations; ///< their file, or "" for in memory; nothing: not served
  std::vector<std::string> plugins;
  std::vector<std::string> files; ///< configuration files that were read
  std::string vault;              ///< its file; empty: there is none
  admission door = admission::token;
  std::string token_file; ///< where the token came from; empty: it was given
  std::string sign_in;    ///< `<identifier>[ (issuer <id>)]`; empty: no people
  bool advanced_tools = false;
  std::string closed_chats; ///< empty: not said
  std::string wire;         ///< file; empty: off
  std::vector<std::string> skipped;
  std::vector<std::string> said; ///< lines that plugins asked to say
  std::string update;            ///< empty: nothing to say
};

/// The block that is written at start: one fact a line, each line ended. What is put into it cannot
/// make further lines.
std::string announce(const announcement& facts);

/// The URL in a block's first line, or nothing.
std::optional<std::string> announced_url(std::string_view block);

} // namespace ahpd::config
