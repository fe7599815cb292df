#include "protocol/mcp/tools.hpp"

#include <algorithm>

namespace ahpd::mcp {

namespace {

using json::text;

json::object text_block(std::string_view words) {
  return {{"type", "text"}, {"text", words}};
}

/// Bytes inside a result. They have no address of their own, and MCP wants one.
json::object embedded(const json::value& item) {
  const auto kind = text(item, "contentType");
  const auto data = text(item, "data");
  for (const auto* media : {"image", "audio"})
    if (kind.starts_with(std::string(media) + "/"))
      return {{"type", media}, {"data", data}, {"mimeType", kind}};
  return {{"type", "resource"},
          {"resource", {{"uri", "ahp-tool-result:/"}, {"mimeType", kind}, {"blob", data}}}};
}

json::object link(const json::value& item) {
  const auto uri = text(item, "uri");
  const auto name = uri.substr(uri.find_last_of('/') + 1);
  json::object out{{"type", "resource_link"}, {"uri", uri}, {"name", name.empty() ? uri : name}};
  if (const auto kind = text(item, "contentType"); !kind.empty())
    out["mimeType"] = kind;
  return out;
}

json::object block(const json::value& item) {
  const auto type = text(item, "type");
  if (type == "text")
    return text_block(text(item, "text"));
  if (type == "embeddedResource")
    return embedded(item);
  if (type == "resource")
    return link(item);
  return text_block(json::serialize(item));
}

/// StringOrMarkdown as text.
std::string prose(const json::value* v) {
  if (!v)
    return {};
  return v->is_string() ? std::string(v->get_string()) : text(*v, "markdown");
}

json::object schema_of_object(const json::value* given) {
  auto out = given && given->is_object() ? given->get_object() : json::object{};
  out["type"] = "object";
  return out;
}

} // namespace

std::string client_tool_name(std::string_view client, std::string_view tool) {
  auto out = std::string(client) + "__" + std::string(tool);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  std::replace_if(
    out.begin(), out.end(), [&](char c) { return !plain(c); }, '_');
  return out.size() <= longest_name ? out : out.substr(out.size() - longest_name);
}

json::object tool(const json::value& definition, std::string_view name) {
  json::object out{{"name", name}};
  for (const auto* key : {"title", "description"})
    if (const auto words = json::string_member(definition, key))
      out[key] = *words;
  out["inputSchema"] = schema_of_object(json::member(definition, "inputSchema"));
  if (const auto* given = json::member(definition, "outputSchema"); given && given->is_object())
    out["outputSchema"] = schema_of_object(given);
  for (const auto* key : {"annotations", "_meta"})
    if (const auto* given = json::member(definition, key); given && given->is_object())
      out[key] = *given;
  return out;
}

json::object result(const json::value& what) {
  json::array content;
  const auto* error = json::member(what, "error");
  if (const auto words = error ? text(*error, "message") : std::string(); !words.empty())
    content.push_back(text_block(words));
  const auto* given = json::member(what, "content");
  if (given && given->is_array())
    for (const auto& item : given->get_array())
      content.push_back(block(item));
  if (content.empty())
    if (const auto words = prose(json::member(what, "pastTenseMessage")); !words.empty())
      content.push_back(text_block(words));
  json::object out{{"content", std::move(content)}};
  if (const auto* data = json::member(what, "structuredContent"); data && data->is_object())
    out["structuredContent"] = *data;
  const auto* success = json::member(what, "success");
  if (!success || !success->is_bool() || !success->get_bool())
    out["isError"] = true;
  return out;
}

json::object failure(std::string_view why) {
  return {{"content", json::array{text_block(why)}}, {"isError", true}};
}

} // namespace ahpd::mcp
