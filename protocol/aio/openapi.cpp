#include "protocol/aio/openapi.hpp"

#include <cmath>

namespace ahpd::aio {

namespace {

using json::array;
using json::object;
using json::value;

object reference(std::string_view name) {
  return {{"$ref", "#/components/schemas/" + std::string(name)}};
}

object members_of(std::span<const field> fields, bool answer);

object schema_of_type(const field& f, bool answer) {
  const auto list = [](const char* item) {
    return object{{"type", "array"}, {"items", {{"type", item}}}};
  };
  switch (f.is) {
  case type::text:
    return {{"type", "string"}};
  case type::integer:
    return {{"type", "integer"}};
  case type::number:
    return {{"type", "number"}};
  case type::flag:
    return {{"type", "boolean"}};
  case type::texts:
    return list("string");
  case type::integers:
    return list("integer");
  case type::text_by_name:
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  case type::object:
    return f.of.empty() ? object{{"type", "object"}} : members_of(f.of, answer);
  case type::objects:
    return {{"type", "array"},
            {"items", f.of.empty() ? object{{"type", "object"}} : members_of(f.of, answer)}};
  case type::object_by_name:
    return {{"type", "object"},
            {"additionalProperties",
             f.of.empty() ? object{{"type", "object"}} : members_of(f.of, answer)}};
  case type::any:
    break;
  }
  return {};
}

object schema_of(const field& f, bool answer) {
  auto out = schema_of_type(f, answer);
  if (!f.choices.empty()) {
    array words;
    for (auto rest = f.choices; !rest.empty();) {
      const auto word = rest.substr(0, rest.find('|'));
      words.emplace_back(word);
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    out["enum"] = std::move(words);
  }
  const auto bound = [&](const char* name, double number) {
    if (std::isinf(number))
      return;
    if (number == std::floor(number))
      out[name] = static_cast<std::int64_t>(number);
    else
      out[name] = number;
  };
  bound("minimum", f.least);
  bound("maximum", f.most);
  const bool null_too = answer ? f.nullable : !f.required;
  if (null_too && f.is != type::any)
    out = object{{"anyOf", array{std::move(out), object{{"type", "null"}}}}};
  if (!f.about.empty())
    out["description"] = f.about;
  if (!f.fallback.empty())
    out["default"] = json::parse(json::string_view(f.fallback.data(), f.fallback.size()));
  return out;
}

/// An answer says what is described and nothing else; a body may hold more, which is not looked at.
object members_of(std::span<const field> fields, bool answer) {
  object properties;
  array required;
  for (const auto& f : fields) {
    properties[f.name] = schema_of(f, answer);
    if (f.required)
      required.emplace_back(f.name);
  }
  object out{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty())
    out["required"] = std::move(required);
  if (answer)
    out["additionalProperties"] = false;
  return out;
}

object in_envelope(object data, bool or_fault = false) {
  array kinds{std::move(data)};
  if (or_fault)
    kinds.push_back(reference("FileError"));
  kinds.push_back(object{{"type", "null"}});
  return {{"type", "object"},
          {"properties",
           {{"success", {{"type", "boolean"}}},
            {"message", {{"type", "string"}}},
            {"data", {{"anyOf", std::move(kinds)}}},
            {"hint", {{"type", array{"string", "null"}}}}}},
          {"required", array{"success", "message", "data", "hint"}},
          {"additionalProperties", false}};
}

object content(std::string_view media, object schema) {
  return {{media, {{"schema", std::move(schema)}}}};
}

object answer_content(const route& r) {
  switch (r.out) {
  case gives::object:
    return content("application/json", in_envelope(members_of(r.data, true), r.tells_faults));
  case gives::list:
    return content("application/json",
                   in_envelope({{"type", "array"}, {"items", members_of(r.data, true)}}));
  case gives::text:
    return content("application/json", in_envelope({{"type", "string"}}));
  case gives::empty:
    return content("application/json", in_envelope({{"type", "object"}, {"maxProperties", 0}}));
  case gives::bare:
    return content("application/json", members_of(r.data, true));
  case gives::document:
    return content("application/json", {{"type", "object"}});
  case gives::plain:
    return content("text/plain", {{"type", "string"}});
  case gives::bytes:
    return content("application/octet-stream", {});
  case gives::tar:
    return content("application/x-tar", {});
  case gives::events:
    return content("text/event-stream", {{"type", "string"}});
  case gives::nothing:
  case gives::websocket:
    break;
  }
  return {};
}

object answers_of(const route& r) {
  object ok{{"description", "Done"}};
  if (auto body = answer_content(r); !body.empty()) {
    if (!r.also_gives.empty())
      body[r.also_gives] = object{{"schema", {{"type", "string"}}}};
    ok["content"] = std::move(body);
  }
  const char* code = r.out == gives::websocket ? "101" : r.out == gives::nothing ? "204" : "200";
  object out{{code, std::move(ok)}};
  if (r.out == gives::nothing)
    out["401"] = object{{"description", "Not authorised"}};
  if (r.out == gives::bytes)
    out["206"] = out.at("200");
  if (r.out == gives::bytes)
    out["304"] = object{{"description", "It is what the caller has"}};
  if (!r.query.empty() || !r.body.empty())
    out["422"] = object{
      {"description", "The query or the body is wrong, or a file that is read as text is none"},
      {"content", content("application/json",
                          {{"anyOf", array{reference("Invalid"), reference("Failure")}}})}};
  out["default"] = object{{"description", "Not done, and why"},
                          {"content", content("application/json", reference("Failure"))}};
  return out;
}

array parameters_of(const route& r) {
  array out;
  for (auto rest = r.path; !rest.empty();) {
    const auto open = rest.find('{');
    if (open == std::string_view::npos)
      break;
    const auto close = rest.find('}', open);
    out.push_back(object{{"name", rest.substr(open + 1, close - open - 1)},
                         {"in", "path"},
                         {"required", true},
                         {"schema", {{"type", "string"}}}});
    rest.remove_prefix(close + 1);
  }
  for (const auto& f : r.query) {
    auto plain = f;
    plain.required = true; // a query knows no null
    out.push_back(object{{"name", f.name},
                         {"in", "query"},
                         {"required", f.required},
                         {"schema", schema_of(plain, false)}});
  }
  return out;
}

object operation_of(const route& r) {
  object out{{"operationId", r.operation}, {"tags", array{r.tag}}, {"summary", r.summary}};
  if (auto parameters = parameters_of(r); !parameters.empty())
    out["parameters"] = std::move(parameters);
  if (r.in != takes::nothing) {
    bool required = false;
    for (const auto& f : r.body)
      required = required || f.required;
    const char* media = r.in == takes::json        ? "application/json"
                        : r.in == takes::multipart ? "multipart/form-data"
                                                   : "application/x-tar";
    out["requestBody"] = object{
      {"required", required || r.in != takes::json},
      {"content", content(media, r.in == takes::tar ? object() : members_of(r.body, false))}};
  }
  out["responses"] = answers_of(r);
  if (r.who == access::open)
    out["security"] = array{};
  return out;
}

object security_schemes() {
  return {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}},
          {"header", {{"type", "apiKey"}, {"in", "header"}, {"name", "x-api-key"}}},
          {"query", {{"type", "apiKey"}, {"in", "query"}, {"name", "api_key"}}}};
}

object schemas() {
  object failure = in_envelope({{"type", "object"}});
  failure["properties"].as_object()["success"] = object{{"const", false}};
  const object error{
    {"type", "object"},
    {"properties",
     {{"location", {{"type", "array"}, {"items", {{"type", "string"}}}}},
      {"message", {{"type", "string"}}},
      {"type",
       {{"enum", array{"value_error.missing", "value_error", "type_error", "json_invalid"}}}}}},
    {"required", array{"location", "message", "type"}}};
  const object invalid{{"type", "object"},
                       {"properties",
                        {{"success", {{"const", false}}},
                         {"message", {{"const", "Request data validation failed"}}},
                         {"data", {{"type", "null"}}},
                         {"errors", {{"type", "array"}, {"items", error}}}}},
                       {"required", array{"success", "message", "data", "errors"}}};
  const auto nullable = [](const char* type) { return object{{"type", array{type, "null"}}}; };
  const object file_error{{"type", "object"},
                          {"properties",
                           {{"errno", nullable("integer")},
                            {"errno_name", nullable("string")},
                            {"error_type", {{"type", "string"}}},
                            {"exception_type", {{"type", "string"}}},
                            {"message", {{"type", "string"}}},
                            {"operation", {{"type", "string"}}},
                            {"path", {{"type", "string"}}},
                            {"retryable", {{"type", "boolean"}}}}},
                          {"required", array{"errno", "errno_name", "error_type", "exception_type",
                                             "message", "operation", "path", "retryable"}},
                          {"additionalProperties", false}};
  return {{"Failure", std::move(failure)}, {"FileError", file_error}, {"Invalid", invalid}};
}

bool is_in(const route& r, document which, surface served) {
  const bool v1 = r.path.starts_with("/v1/"), v2 = r.path.starts_with("/v2/");
  if (v1 && (served == surface::v2 || which == document::v2))
    return false;
  return !(v2 && which == document::v1);
}

} // namespace

object openapi(document which, surface served, std::string_view version) {
  object paths;
  for (const auto& r : routes()) {
    if (!is_in(r, which, served))
      continue;
    auto& path = paths[r.path];
    if (path.is_null())
      path = object();
    std::string method;
    for (const char c : r.method)
      method += static_cast<char>(c + ('a' - 'A'));
    path.as_object()[method] = operation_of(r);
  }
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "aiod"},
            {"version", version},
            {"description",
             "Commands, terminals, files and what else a sandbox offers, on the machine that aiod "
             "runs on."}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", schemas()}, {"securitySchemes", security_schemes()}}},
          {"security", array{object{{"bearer", array{}}}, object{{"header", array{}}},
                             object{{"query", array{}}}}}};
}

} // namespace ahpd::aio
