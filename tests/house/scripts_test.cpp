#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace fs = std::filesystem;

namespace {

/// Every file below the folders of scripts that bash runs, relative to the project.
std::vector<std::string> bash_scripts() {
  std::vector<std::string> out;
  for (const char* top : {".ci", "tools", "tests", "examples", "deploy"}) {
    const auto folder = fs::path(AHPD_SOURCE_DIR) / top;
    if (!fs::is_directory(folder))
      continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file())
        continue;
      const auto text = ahpd::tests::read_file(entry.path().string());
      if (text.rfind("#!/usr/bin/env bash\n", 0) == 0 || entry.path().extension() == ".sh")
        out.push_back(fs::relative(entry.path(), AHPD_SOURCE_DIR).string());
    }
  }
  return out;
}

} // namespace

TEST_CASE("shellcheck has nothing to say about the scripts") {
  const std::string shellcheck = "/usr/bin/shellcheck";
  if (!fs::exists(shellcheck))
    return ahpd::tests::skip("shellcheck");
  std::vector<std::string> argv{shellcheck, "-x"};
  const auto scripts = bash_scripts();
  CHECK(scripts.size() >= 7);
  argv.insert(argv.end(), scripts.begin(), scripts.end());
  const auto ran = ahpd::tests::run_program({argv, {}, AHPD_SOURCE_DIR});
  CHECK_MESSAGE(ran.exit_code == 0, ran.output << ran.errors);
}

TEST_CASE("every script that is run stops at the first failure and can be run") {
  for (const auto& script : bash_scripts()) {
    CAPTURE(script);
    const auto path = (fs::path(AHPD_SOURCE_DIR) / script).string();
    const auto text = ahpd::tests::read_file(path);
    if (text.rfind("#!", 0) != 0)
      continue; // it is sourced
    CHECK(text.find("\nset -euo pipefail\n") != std::string::npos);
    CHECK((fs::status(path).permissions() & fs::perms::owner_exec) != fs::perms::none);
  }
}

TEST_CASE("scripts answer --help with their own text and refuse words they do not know") {
  for (const char* name :
       {"tools/install-deps", "tools/test", "tools/bench", "tools/fuzz", "tools/soak", "tools/quickstart",
        "tests/support/docker-up", "tests/support/base-image", "tests/support/node-image",
        "tests/support/npm-package"}) {
    CAPTURE(name);
    const auto path = (fs::path(AHPD_SOURCE_DIR) / name).string();
    const auto help = ahpd::tests::run_program({{path, "--help"}, {}, {}});
    CHECK(help.exit_code == 0);
    CHECK(help.output.find(fs::path(name).filename().string() + ": ") == 0);
    const auto refused = ahpd::tests::run_program({{path, "--no-such-flag"}, {}, {}});
    CHECK(refused.exit_code == 2);
    CHECK(refused.errors.find("--no-such-flag") != std::string::npos);
  }
}
