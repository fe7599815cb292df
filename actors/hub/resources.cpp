#include "actors/hub/resources.hpp"

#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/params.hpp"

namespace ahpd::hub {

namespace {

/// Every scheme that this host can serve.
const resource_scheme* find_scheme(std::string_view name) {
  for (const auto* scheme : {&file_resources(), &computer_resources(), &content_resources()})
    if (scheme->name == name)
      return scheme;
  return nullptr;
}

/// The URIs a method takes, the one that says the scheme first.
std::vector<std::string_view> uris_of(const std::string& method) {
  if (method == "resourceCopy" || method == "resourceMove")
    return {"source", "destination"};
  return {"uri"};
}

} // namespace

void serve_resource(const call& c) {
  jsonrpc::params in(c.params);
  std::string first;
  for (const auto key : uris_of(c.method)) {
    const auto uri = in.text(key);
    if (!in.problem().empty())
      return c.refuse(jsonrpc::invalid_params, in.problem());
    if (!ahp::plausible_uri(uri))
      return c.refuse(jsonrpc::invalid_params, std::string(key) + " must be a URI with a scheme");
    if (!first.empty() && ahp::scheme_of(first) != ahp::scheme_of(uri))
      return c.refuse(jsonrpc::invalid_params,
                      first + " and " + uri + " are served by different providers");
    if (first.empty())
      first = uri;
  }
  const auto name = ahp::scheme_of(first);
  const auto* scheme = find_scheme(name);
  const bool served = scheme && scheme->is_served(*c.self->state.host);
  if (c.method == "resourceRequest" && (!served || !scheme->methods.count(c.method)))
    return c.refuse(ahp::permission_denied, "This host does not mediate " + first);
  if (!served)
    return c.refuse(jsonrpc::method_not_found, "nothing here serves " + name + ":");
  const auto method = scheme->methods.find(c.method);
  if (method == scheme->methods.end())
    return c.refuse(jsonrpc::method_not_found, name + ": does not answer " + c.method);
  method->second(c);
}

} // namespace ahpd::hub
