#pragma once

#include "config/options.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace ahpd::tests {

/// A person's home and working folder, with nothing set.
struct home {
  scratch dir;
  config::surroundings around;

  home() {
    std::filesystem::create_directories(work());
    around.environment["HOME"] = dir.path() + "/home";
    around.working_directory = work();
    std::filesystem::create_directories(dir.path() + "/home");
  }

  std::string work() const { return dir.path() + "/work"; }
  std::string settings() const { return dir.path() + "/home/.config/ahpd"; }
  std::string config_file() const { return settings() + "/config.json"; }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  void configure(const std::string& text) const { write(config_file(), text); }

  config::run_options options(const std::vector<std::string>& flags = {}) const {
    auto answer = config::read_options(flags, around);
    if (const auto* refusal = std::get_if<config::start_refusal>(&answer))
      FAIL("refused: " << refusal->sentence);
    return std::get<config::run_options>(answer);
  }

  /// The sentence of a refusal with this exit code.
  std::string refusal(const std::vector<std::string>& flags = {}, int code = 2) const {
    auto answer = config::read_options(flags, around);
    const auto* refusal = std::get_if<config::start_refusal>(&answer);
    REQUIRE_MESSAGE(refusal, "was not refused");
    CHECK(refusal->exit_code == code);
    return refusal->sentence;
  }
};

} // namespace ahpd::tests
