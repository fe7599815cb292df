#pragma once

#include "protocol/docker/image.hpp"
#include "protocol/json.hpp"
#include "runtimes/runtime.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the operator sets for machines: the options of the plugin `@ahpd/computer`.
namespace ahpd::runtimes {

/// A limit as it was written and as a number.
template <class Number> struct limit {
  std::string text;
  Number value{};
};

struct computer_options {
  std::string image = "debian:bookworm-slim"; ///< of a machine whose manifest names none
  std::vector<docker::image_scope> images;    ///< what a manifest may name; empty: any
  std::optional<limit<double>> cpus;          ///< of a machine whose manifest names none
  std::optional<limit<std::uint64_t>> memory; ///< the same, in bytes
  std::uint64_t max = 3;                      ///< how many machines agents' tools may make
  std::vector<std::string> mounts; ///< in every machine, "source:target" or "source:target:ro"
  bool body_mounts = false;        ///< whether a manifest may name mounts and a folder
  std::string label = "ahpd.computer=1"; ///< on every machine
  std::string prefix = "ahpd-computer";  ///< of names this host makes up
  std::map<std::string, std::string> env; ///< laid over the daemon's to find Docker: DOCKER_HOST, …
};

/// Options as far as they could be read.
struct computer_options_result {
  computer_options options;
  /// Options that are wrong, one sentence each: with any of these the plugin is not loaded.
  std::vector<std::string> wrong;
  /// Options that this host does not know or serve, one sentence each; the rest stands.
  std::vector<std::string> left_out;
};

computer_options_result read_computer_options(const json::object& options);

/// "2", "0.5": digits with at most one fraction.
std::optional<double> read_cpus(std::string_view text);

/// "512m", "1.5 GB", "1024": bytes, in powers of 1024.
std::optional<std::uint64_t> read_memory(std::string_view text);

/// "source:target" or "source:target:ro", neither with a blank or a colon.
std::optional<mount> read_mount(std::string_view text);

} // namespace ahpd::runtimes
