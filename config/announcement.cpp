#include "config/announcement.hpp"

namespace ahpd::config {

namespace {

constexpr std::string_view over_socket = "ahpd on ";

std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = ' ';
  return text;
}

std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const auto& item : list)
    out += (out.empty() ? "" : ", ") + item;
  return out.empty() ? "none" : out;
}

std::string door_line(const announcement& facts) {
  switch (facts.door) {
  case announcement::admission::loopback_only:
    return "no token: loopback only";
  case announcement::admission::any_connection:
    return "no token: any connection is accepted";
  case announcement::admission::token:
    break;
  }
  return facts.token_file.empty() ? "token: as given" : "token: from " + facts.token_file;
}

} // namespace

std::string announce(const announcement& facts) {
  std::string out;
  const auto line = [&](const std::string& text) { out += one_line(text) + '\n'; };
  const auto line_of = [&](const char* before, const std::string& what, const char* after = "") {
    if (!what.empty())
      line(before + what + after);
  };
  line((facts.url.empty() ? "ahpd over stdio" : std::string(over_socket) + facts.url) + " (" +
       facts.runtime + "), sessions in " + joined(facts.paths));
  line_of("http on ", facts.http_url, "/api");
  line("pid " + std::to_string(facts.pid));
  if (facts.automations && facts.automations->empty())
    line("automations in memory, schedules do not fire");
  else if (facts.automations)
    line("automations in " + *facts.automations + ", schedules fire");
  line("plugins " + joined(facts.plugins));
  line("config " + joined(facts.files));
  line_of("vault ", facts.vault);
  line(door_line(facts));
  line_of("sign-in ", facts.sign_in);
  if (facts.advanced_tools)
    line("advanced tools: offered to every session");
  line_of("closed chats: ", facts.closed_chats);
  line_of("wire to ", facts.wire);
  for (const auto& sentence : facts.skipped)
    line("skipped: " + sentence);
  for (const auto& sentence : facts.said)
    line(sentence);
  line_of("update: ", facts.update);
  return out;
}

std::optional<std::string> announced_url(std::string_view block) {
  if (block.substr(0, over_socket.size()) != over_socket)
    return std::nullopt;
  block.remove_prefix(over_socket.size());
  return std::string(block.substr(0, block.find_first_of(" \n")));
}

} // namespace ahpd::config
