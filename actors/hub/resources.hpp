#pragma once

#include "actors/hub/call.hpp"

#include <map>
#include <string_view>

/// The `resource*` methods (AHP "Resource family"), routed by the scheme of the URI.
namespace ahpd::hub {

/// One scheme and what it answers; a method it lacks is refused with -32601.
struct resource_scheme {
  std::string_view name;
  bool (*is_served)(const services& host);
  std::map<std::string_view, void (*)(const call&)> methods;
};

/// `computer:`, of the plugin @ahpd/computer.
const resource_scheme& computer_resources();

/// `file:`, the files of the served folders.
const resource_scheme& file_resources();

/// `ahp-content:`, what the changesets of sessions show.
const resource_scheme& content_resources();

/// Serves a `resource*` method or `createResourceWatch`. Its URIs are plausible, of one scheme, and
/// somebody serves that, before a scheme's own function is called.
void serve_resource(const call& c);

/// Serves x-ahpd/computers/*.
void serve_computer_command(const call& c);

} // namespace ahpd::hub
