#pragma once

#include "actors/hub/machine.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/json.hpp"

#include <caf/error.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// The scheme computer: as pure functions: what its URIs mean, what its leaves answer, and the
/// words of its refusals (facts "Names, ids, patterns, codes").
namespace ahpd::hub {

/// What a write goes to: a name alone makes a machine, the leaf `state` changes one.
std::variant<ahp::computer_uri, caf::error> write_target(const std::string& uri);

/// A leaf that can be read: status, capabilities, stats or state of a named machine.
std::variant<ahp::computer_uri, caf::error> read_target(const std::string& uri);

bool is_leaf(std::string_view leaf);

/// -32008 `No computer resource at <uri>`.
caf::error no_resource(const std::string& uri);

/// -32009 `<uri> is not a computer: URI`.
caf::error no_computer_uri(const std::string& uri);

/// The refusal of a verb on a machine of a runtime that this host does not serve:
/// `<runtime>.<name>`.
std::optional<caf::error> other_runtime(const std::string& id);

/// What a body written to `state` asks for: running, stopped, restarted or suspended, trimmed and
/// case-blind.
std::optional<machine_verb> state_verb(const std::string& body);
caf::error bad_state_word(const std::string& body);

/// Results of `resourceRead`, of `resourceList` of the root and of one machine, and of
/// `resourceResolve`.
json::value text_resource(const std::string& text, std::string_view content_type);
json::value json_resource(const json::value& document);
json::value root_entries(const json::array& records);
json::value machine_entries();
json::value resolved(const std::string& uri, std::string_view type, const std::string& created,
                     std::optional<std::size_t> size);

/// `directory` on this host as the machine sees it: the longest mount of its record that covers it
/// wins, else `otherwise`, else the machine's own folder.
std::string mapped_directory(const json::value& status, const std::string& directory,
                             const std::string& otherwise = {});

/// The agents that a machine was prepared for, as its label has them, with a comma between; empty:
/// every agent may run in it.
std::string prepared_for(const json::value& status);
/// An empty `provider` is no agent, which every machine takes.
bool takes_agent(const json::value& status, std::string_view provider);

/// Rows for a picker: This host, then each running machine (spec "Config and pickers"), without
/// those that were not prepared for `provider`; empty: any.
json::value picker_rows(const json::array& records, const std::string& query,
                        const std::string& provider);

} // namespace ahpd::hub
