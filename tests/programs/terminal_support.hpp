#pragma once

#include "tests/support/ahp_peer.hpp"

#include <string>

/// What tests of terminals share.
namespace ahpd::tests {

/// A terminal's text, gathered from the frames that a peer got.
class terminal_reader {
public:
  terminal_reader(ahp_peer& peer, std::string uri) : peer_(peer), uri_(std::move(uri)) {}

  /// Opens the terminal with this claim and follows it.
  void open(json::object claim, json::object more = {}) {
    more["channel"] = uri_;
    more["claim"] = std::move(claim);
    peer_.request("createTerminal", std::move(more));
    peer_.subscribe(uri_);
  }

  void type(const std::string& text) {
    peer_.dispatch(uri_, {{"type", "terminal/input"}, {"data", text}});
  }

  /// Waits until the terminal shows `text` behind what was waited for before.
  void wait(const std::string& text) {
    auto at = shown_.find(text);
    while (at == std::string::npos) {
      const auto more = peer_.wait_action("terminal/data", uri_);
      shown_ += more.at("action").at("data").as_string();
      at = shown_.find(text);
    }
    shown_.erase(0, at + text.size());
  }

private:
  ahp_peer& peer_;
  std::string uri_;
  std::string shown_;
};

} // namespace ahpd::tests
