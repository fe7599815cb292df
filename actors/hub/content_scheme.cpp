#include "actors/hub/resources.hpp"
#include "actors/hub/store_actor.hpp"
#include "protocol/ahp/changesets.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/params.hpp"
#include "protocol/utf8.hpp"

namespace ahpd::hub {

namespace {

/// `resourceRead`: one side of an edit, as text where it is text and that is wanted.
void read_content(const call& c) {
  jsonrpc::params in(c.params);
  const auto uri = in.text("uri");
  const auto encoding = in.text_if("encoding").value_or("utf-8");
  if (!in.problem().empty())
    return c.refuse(jsonrpc::invalid_params, in.problem());
  if (encoding != "utf-8" && encoding != "base64")
    return c.refuse(jsonrpc::invalid_params, "encoding must be utf-8 or base64");
  const auto name = ahp::parse_content_uri(uri);
  if (!name)
    return c.refuse(jsonrpc::invalid_params,
                    "uri must be ahp-content:/<session>/<id>, as a changeset says it");
  auto found = std::make_shared<std::optional<std::string>>();
  c.self
    ->request(c.self->state.host->store->get(), caf::infinite,
              make_store_job([found, name](config::store& db) {
                *found = db.content(name->session_id, name->id);
              }))
    .then(
      [c, found, uri, text = encoding == "utf-8"] {
        if (!*found)
          return c.refuse(ahp::not_found, "No content is kept at " + uri);
        const auto& bytes = **found;
        const bool plain = text && bytes.find('\0') == std::string::npos && utf8::valid(bytes);
        c.answer({{"data", plain ? bytes : ahp::base64_encode(bytes)},
                  {"encoding", plain ? "utf-8" : "base64"}});
      },
      [c](const caf::error& why) { c.refuse(why); });
}

} // namespace

const resource_scheme& content_resources() {
  static const resource_scheme scheme{
    ahp::content_scheme, [](const services&) { return true; }, {{"resourceRead", read_content}}};
  return scheme;
}

} // namespace ahpd::hub
