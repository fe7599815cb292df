#include "config/settings.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

using strings = std::vector<std::string>;

tests::program_result ahpd_with(strings words) {
  words.insert(words.begin(), AHPD_BINARY);
  return tests::run_program({std::move(words), {}, {}});
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What bash would offer for the last of these words.
std::string offered(const std::string& words) {
  const std::string script =
    "source <(" AHPD_BINARY " completion bash); COMP_WORDS=(" + words +
    "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ahpd; echo \"${COMPREPLY[@]}\"";
  const auto result = tests::run_program({{"/bin/bash", "-c", script}, {}, "/usr"});
  CHECK(result.errors.empty());
  return result.output.substr(0, result.output.size() - 1);
}

} // namespace

TEST_CASE("help names every verb and every flag, within a terminal's width") {
  const auto help = ahpd_with({"--help"});
  CHECK(help.exit_code == 0);
  for (const char* verb :
       {"start", "stop", "restart", "status", "run", "session", "computer", "completion", "help"})
    CHECK(holds(help.output, std::string("\n  ") + verb + " "));
  for (const auto& s : config::settings())
    if (!s.flag.empty()) {
      CAPTURE(s.flag);
      CHECK(holds(help.output, "\n  " + std::string(s.flag) + " ") == s.served());
    }
  for (std::size_t at = 0, end = 0; (end = help.output.find('\n', at)) != std::string::npos;
       at = end + 1)
    CHECK_MESSAGE(end - at <= 100, help.output.substr(at, end - at));
  CHECK(ahpd_with({"help"}).output == help.output);
}

TEST_CASE("each verb has help with its usage") {
  for (const char* verb :
       {"start", "stop", "restart", "status", "run", "session", "computer", "completion", "help"}) {
    CAPTURE(verb);
    const auto help = ahpd_with({"help", verb});
    CHECK(help.exit_code == 0);
    CHECK(holds(help.output, std::string("Usage: ahpd ") + verb));
    CHECK(ahpd_with({verb, "--help"}).output == help.output);
  }
}

TEST_CASE("wrong words are refused with what was probably meant") {
  const std::pair<strings, std::string> cases[] = {
    {{"strat"}, "ahpd has no verb strat; did you mean start?\n"},
    {{"help", "stats"}, "ahpd has no verb stats; did you mean status?\n"},
    {{"--conection-token", "x"},
     "--conection-token is not an option of ahpd; did you mean --connection-token?\n"},
    {{"status", "now"}, "ahpd status does not take now; ahpd status --help shows what it takes.\n"},
    {{"status", "--json", "--quiet"}, "Pass --json or --quiet, not both.\n"},
    {{"completion", "ksh"}, "ahpd completion takes one shell: bash, zsh or fish.\n"},
  };
  for (const auto& [words, sentence] : cases) {
    const auto result = ahpd_with(words);
    CHECK(result.exit_code == 2);
    CHECK(result.output.empty());
    CHECK(result.errors == sentence);
  }
  CHECK(holds(ahpd_with({"frobnicate"}).errors, "ahpd has no verb frobnicate; it has start, "));
  CHECK(holds(ahpd_with({"vault", "list"}).errors, "ahpd vault is not served by this version"));
}

TEST_CASE("the version is one line") {
  CHECK(ahpd_with({"--version"}).output == "ahpd " AHPD_VERSION "\n");
  CHECK(ahpd_with({"-v"}).output == "ahpd " AHPD_VERSION "\n");
}

TEST_CASE("bash completes verbs, flags and values") {
  CHECK(offered("ahpd st") == "start stop status");
  CHECK(offered("ahpd start --po") == "--port");
  CHECK(offered("ahpd --sessions ''") == "file memory");
  CHECK(offered("ahpd computer re") == "restart");
  CHECK(offered("ahpd --path shar") == "share");
  CHECK(offered("ahpd --port ''").empty());
  CHECK(offered("ahpd stop --po").empty());
}

TEST_CASE("every shell is told of every flag of a run") {
  for (const char* shell : {"zsh", "fish"}) {
    const auto script = ahpd_with({"completion", shell}).output;
    for (const auto& s : config::settings())
      if (s.served() && !s.flag.empty())
        CHECK(holds(script, std::string(s.flag.substr(2))));
  }
}
