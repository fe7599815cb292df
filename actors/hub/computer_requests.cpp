#include "actors/hub/ask.hpp"
#include "actors/hub/call.hpp"
#include "actors/hub/machines.hpp"
#include "actors/hub/resources.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/params.hpp"

namespace ahpd::hub {

namespace {

std::string root_owner(const call& c) {
  return "root:" + c.self->state.host->host_name;
}

progress_sink sink_of(const call& c) {
  return sink_for(c.self->state.box, c.params);
}

void read_resource(const call& c) {
  jsonrpc::params in(c.params);
  const auto uri = in.text("uri");
  const auto encoding = in.text_if("encoding").value_or("utf-8");
  if (encoding != "utf-8" && encoding != "base64")
    return c.refuse(jsonrpc::invalid_params, "encoding must be utf-8 or base64");
  c.self->request(c.self->state.host->machines->get(), caf::infinite, read_computer{uri})
    .then(
      [c, encoding](const json::shared& result) {
        if (encoding == "utf-8")
          return c.answer(*result);
        auto copy = result->get_object();
        copy["data"] = ahp::base64_encode(std::string_view(copy.at("data").get_string()));
        copy["encoding"] = "base64";
        c.answer(copy);
      },
      [c](const caf::error& why) { c.refuse(why); });
}

void write_resource(const call& c) {
  jsonrpc::params in(c.params);
  const auto uri = in.text("uri");
  auto data = in.text_if("data");
  const auto encoding = in.text_if("encoding").value_or("utf-8");
  const auto mode = in.text_if("mode").value_or("truncate");
  in.flag_if("createOnly");
  std::string problem = in.problem();
  if (problem.empty() && !data)
    problem = "data must be a string";
  if (problem.empty() && encoding != "utf-8" && encoding != "base64")
    problem = "encoding must be utf-8 or base64";
  if (problem.empty() && mode != "truncate")
    problem = "mode must be truncate: a computer: resource is written whole";
  if (problem.empty() && encoding == "base64" && !(data = ahp::base64_decode(*data)))
    problem = "data must be base64, as encoding says";
  if (!problem.empty())
    return c.refuse(jsonrpc::invalid_params, problem);
  ask(c, c.self->state.host->machines->get(), write_computer{uri, *data, root_owner(c), sink_of(c)},
      json::object{});
}

/// Passes the URI on in a message that is answered with the wire result.
template <class Message> void ask_about(const call& c) {
  ask_json(c, c.self->state.host->machines->get(),
           Message{std::string(c.params.at("uri").get_string())});
}

void delete_resource(const call& c) {
  ask(c, c.self->state.host->machines->get(),
      delete_computer{std::string(c.params.at("uri").get_string())}, json::object{});
}

// ---- x-ahpd/computers/* -------------------------------------------------------------------------

/// The URI of the machine a command names; else the call is refused.
std::optional<std::string> named_computer(const call& c) {
  if (!c.self->state.host->computers) {
    c.refuse(jsonrpc::method_not_found, "nothing here serves computer:");
    return std::nullopt;
  }
  jsonrpc::params in(c.params);
  const auto name = in.text("name");
  std::string problem = in.problem();
  const auto uri = ahp::parse_computer_uri("computer://" + name);
  if (problem.empty() && (!uri || uri->name != name))
    problem = "name must be the name of a computer, as in computer://<name>";
  if (problem.empty())
    return "computer://" + name;
  c.refuse(jsonrpc::invalid_params, problem);
  return std::nullopt;
}

void command_create(const call& c) {
  const auto uri = named_computer(c);
  if (!uri)
    return;
  const auto* manifest = c.params.if_contains("manifest");
  if (!manifest || manifest->is_null())
    return c.refuse(jsonrpc::invalid_params, "manifest must be an object");
  ask(c, c.self->state.host->machines->get(),
      write_computer{*uri, json::serialize(*manifest), root_owner(c), sink_of(c)}, json::object{});
}

void command_state(const call& c, std::string word) {
  if (const auto uri = named_computer(c))
    ask(c, c.self->state.host->machines->get(),
        write_computer{*uri + "/state", std::move(word), root_owner(c), {}}, json::object{});
}

void command_remove(const call& c) {
  if (const auto uri = named_computer(c))
    ask(c, c.self->state.host->machines->get(), delete_computer{*uri}, json::object{});
}

} // namespace

const resource_scheme& computer_resources() {
  static const resource_scheme scheme{
    "computer",
    [](const services& host) { return host.computers.has_value(); },
    {{"resourceRead", read_resource},
     {"resourceWrite", write_resource},
     {"resourceList", ask_about<list_computer>},
     {"resourceDelete", delete_resource},
     {"resourceResolve", ask_about<resolve_computer>}}};
  return scheme;
}

void serve_computer_command(const call& c) {
  const auto verb = std::string_view(c.method).substr(std::string_view("x-ahpd/computers/").size());
  if (verb == "create")
    return command_create(c);
  if (verb == "remove")
    return command_remove(c);
  command_state(c, verb == "start" ? "running" : verb == "stop" ? "stopped" : "restarted");
}

} // namespace ahpd::hub
