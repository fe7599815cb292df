#include "protocol/random.hpp"
#include "tools/ahpd/client/hub_link.hpp"
#include "tools/ahpd/client/print.hpp"
#include "tools/ahpd/client/session_names.hpp"
#include "tools/ahpd/client/turn_run.hpp"
#include "tools/ahpd/client/verbs.hpp"

#include <filesystem>
#include <iostream>
#include <iterator>

namespace ahpd::client {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t prompt_bytes = 1u << 20;

std::string prompt_of(const words& given) {
  std::string out;
  if (given.rest.size() == 1 && given.rest[0] == "-") {
    out.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    for (const auto& word : given.rest)
      out += (out.empty() ? "" : " ") + word;
  }
  if (out.empty())
    wrong_words(given, "a prompt is needed: what the agent is to do");
  if (out.size() > prompt_bytes)
    wrong_words(given, "the prompt is longer than 1 MiB");
  return out;
}

/// A folder as a file URI. Another machine's folders must be named in full.
std::string folder_uri(const words& given, const std::string& folder, bool local) {
  if (!local && !fs::path(folder).is_absolute())
    wrong_words(given, "`--folder` must be an absolute path on the hub's own machine");
  const auto path = fs::absolute(folder).lexically_normal().string();
  std::string out = "file://";
  for (const char c : path) {
    const bool as_it_is = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view("/-._~").find(c) != std::string_view::npos;
    if (as_it_is) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 0x0f]};
    }
  }
  return out;
}

} // namespace

int run_verb(const std::vector<std::string>& args) {
  const auto given =
    parse_words("run", args,
                {{"--computer", true}, {"--agent", true}, {"--folder", true}, {"--session", true}});
  if (given.has("--session"))
    for (const char* flag : {"--computer", "--agent", "--folder"})
      if (given.has(flag))
        wrong_words(given,
                    std::string("`") + flag + "` is for a new session, and `--session` names one");
  turn_request what;
  what.prompt = prompt_of(given);
  what.json = given.has("--json");
  const auto where = find_hub(given);
  if (const auto session = given.value("--session")) {
    what.session = session_uri(*session);
  } else {
    what.session = "ahp-session:/" + new_uuid();
    what.creates = true;
    what.agent = given.value("--agent").value_or("");
    if (const auto computer = given.value("--computer"))
      what.computer =
        computer->find("://") == std::string::npos && computer->rfind("disposable:", 0) != 0
          ? "computer://" + *computer
          : *computer;
    if (const auto folder = given.value("--folder"))
      what.folder = folder_uri(given, *folder, where.local);
  }
  return turn_run(std::move(what), [given] { return find_hub(given); }).go();
}

} // namespace ahpd::client
