#pragma once

#include "runtimes/docker/options.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// What a client writes to make a machine.
namespace ahpd::runtimes {

/// What a manifest is read for.
struct manifest_context {
  std::string name;  ///< of the machine
  std::string owner; ///< typed reference such as "user:alice"; empty: none
  /// Whether a path is there, on the host whose paths a machine mounts.
  std::function<bool(const std::string&)> path_exists;
};

/// Nothing for a name a machine on this host may have, else the refusal.
std::optional<refusal> check_machine_name(std::string_view name);

/// Reads the body of a write to `computer://<name>`. An empty body is `{}`. What is wrong is
/// refused in one sentence that names the field; members this host does not know are no fault.
std::variant<machine_spec, refusal> read_manifest(const computer_options& options,
                                                  const manifest_context& context,
                                                  std::string_view body);

/// The schema a create form is drawn from.
json::object create_schema(const computer_options& options);

/// The document `computer://<id>/capabilities` of a Docker machine.
json::object capabilities(const computer_options& options);

/// Whether a path on this host is there: `manifest_context::path_exists` of the daemon.
bool path_is_there(const std::string& path);

} // namespace ahpd::runtimes
