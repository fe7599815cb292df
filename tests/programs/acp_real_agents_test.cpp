// Agents as their makers publish them, as far as they go without an account: they are found by
// their templates, speak the protocol and say how they want to be signed in.

#include "tests/programs/acp_support.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

/// How the first turn of a published agent fails.
std::string first_words(const std::string& folder, const std::string& id) {
  const scratch home;
  auto how = acp_options({});
  how.env = {{"PATH", folder + "/node_modules/.bin:" + std::getenv("PATH")}, {"HOME", home.path()}};
  for (const auto* key : {"CODEX_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"})
    how.env[key] = "";
  marked_hub it(std::move(how));
  acp_peer peer(it.hub);
  const auto in = open_session(peer, "ahp-session:/real", {{"provider", id}});
  auto out = failure(peer, in, "t", "hello");
  it.wait_no_programs();
  return out;
}

} // namespace

TEST_CASE("codex says in a turn how it wants to be signed in") {
  const auto folder = npm_package("@zed-industries/codex-acp", "0.16.0");
  if (!folder)
    return skip("npm's @zed-industries/codex-acp");
  CHECK(first_words(*folder, "codex") ==
        "authRequired: codex: this ACP server wants to be signed in before it answers, and offers "
        "chatgpt, codex-api-key, openai-api-key; set the authenticate option to the one to use");
}

TEST_CASE("gemini says in a turn how it wants to be signed in") {
  const auto folder = npm_package("@google/gemini-cli", "0.61.0");
  if (!folder)
    return skip("npm's @google/gemini-cli");
  const auto said = first_words(*folder, "gemini");
  CHECK(said.rfind("authRequired: gemini: this ACP server wants to be signed in before it answers, "
                   "and offers oauth-personal, gemini-api-key, ",
                   0) == 0);
  CHECK(said.find("; set the authenticate option to the one to use. It said: ") !=
        std::string::npos);
}
