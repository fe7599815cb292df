#include "protocol/acp/prompt.hpp"

#include "protocol/ahp/find.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/utf8.hpp"

#include <string>
#include <string_view>

namespace ahpd::acp {

namespace {

std::string_view text(const json::value& v, std::string_view key) {
  return json::string_member(v, key).value_or(std::string_view());
}

json::object text_block(std::string_view words) {
  return {{"type", "text"}, {"text", words}};
}

json::object link(const json::value& attachment, std::string_view uri) {
  const auto label = text(attachment, "label");
  json::object out{{"type", "resource_link"}, {"uri", uri}, {"name", label.empty() ? uri : label}};
  if (const auto type = text(attachment, "contentType"); !type.empty())
    out["mimeType"] = type;
  if (const auto size = ahp::integer_member(attachment, "sizeHint"))
    out["size"] = *size;
  return out;
}

json::object embedded(const json::value& attachment, const agent_facts& agent) {
  const auto label = std::string(text(attachment, "label"));
  const auto type = text(attachment, "contentType");
  const auto data = text(attachment, "data");
  if (agent.image && type.substr(0, 6) == "image/")
    return {{"type", "image"}, {"data", data}, {"mimeType", type}};
  if (agent.audio && type.substr(0, 6) == "audio/")
    return {{"type", "audio"}, {"data", data}, {"mimeType", type}};
  const auto bytes = ahp::base64_decode(data);
  const bool words = bytes && utf8::valid(*bytes);
  if (agent.embedded) {
    json::object resource{{"uri", "attachment:" + label}, {"mimeType", type}};
    if (words)
      resource["text"] = *bytes;
    else
      resource["blob"] = data;
    return {{"type", "resource"}, {"resource", std::move(resource)}};
  }
  if (words)
    return text_block(label + ":\n" + *bytes);
  return text_block("(The attachment " + label + " was left out: it is " + std::string(type) +
                    ", which this agent does not take.)");
}

} // namespace

json::array prompt_of(const json::value& message, const agent_facts& agent) {
  json::array out{text_block(text(message, "text"))};
  const auto* attachments = json::member(message, "attachments");
  if (!attachments || !attachments->is_array())
    return out;
  for (const auto& attachment : attachments->get_array()) {
    const auto type = text(attachment, "type");
    if (type == "simple") {
      const auto words = text(attachment, "modelRepresentation");
      out.push_back(text_block(words.empty() ? text(attachment, "label") : words));
    } else if (type == "embeddedResource") {
      out.push_back(embedded(attachment, agent));
    } else if (const auto uri = text(attachment, type == "resource" ? "uri" : "resource");
               !uri.empty()) {
      out.push_back(link(attachment, uri));
    }
  }
  return out;
}

} // namespace ahpd::acp
