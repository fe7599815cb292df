#include "tests/support/hub_process.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>

namespace ahpd::tests {

namespace fs = std::filesystem;

hub_process::hub_process(hub_options how) : how_(std::move(how)) {
  fs::create_directories(config_directory());
  fs::permissions(config_directory(), fs::perms::owner_all);
  fs::create_directories(folder());
  if (!how_.config.empty())
    std::ofstream(config_directory() + "/config.json") << how_.config;
  for (const auto& [name, text] : how_.files) {
    const auto path = fs::path(config_directory()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  start();
}

std::string hub_process::url() const {
  return "ws://127.0.0.1:" + std::to_string(port_);
}

int hub_process::stop(std::chrono::milliseconds limit, int number) {
  running_->signal(number);
  return running_->wait(limit);
}

void hub_process::start(std::uint16_t on_port) {
  REQUIRE((!running_ || !running_->running()));
  program_options what;
  what.argv = {AHPD_BINARY, "--port", std::to_string(on_port), "--path", folder()};
  what.argv.insert(what.argv.end(), how_.flags.begin(), how_.flags.end());
  what.env = how_.env;
  what.env["XDG_CONFIG_HOME"] = config_home();
  what.directory = folder();
  running_ = std::make_unique<program>(what);
  running_->wait_for_output("\npid ", how_.limit); // the announcement is one write, so all is there
  static const std::regex first_line(R"(^ahpd on wss?://\S+:(\d+) )");
  std::smatch found;
  const std::string text = running_->output();
  REQUIRE_MESSAGE(std::regex_search(text, found, first_line), text << " names the port");
  port_ = static_cast<std::uint16_t>(std::stoul(found[1]));
}

} // namespace ahpd::tests
