#include "tests/programs/openapi_check.hpp"

#include <algorithm>

namespace ahpd::tests {

namespace {

bool is_type(const json::value& v, std::string_view type) {
  return (type == "string" && v.is_string()) || (type == "boolean" && v.is_bool()) ||
         (type == "null" && v.is_null()) || (type == "array" && v.is_array()) ||
         (type == "object" && v.is_object()) || (type == "number" && v.is_number()) ||
         (type == "integer" && (v.is_int64() || v.is_uint64()));
}

class checker {
public:
  explicit checker(const json::value& document) : document_(document) {}

  std::string fault(const json::value& v, const json::value& given, const std::string& at) const {
    const auto& schema = resolved(given);
    const auto& o = schema.as_object();
    if (const auto* type = o.if_contains("type")) {
      const bool fits = type->is_string()
                          ? is_type(v, type->as_string())
                          : std::any_of(type->as_array().begin(), type->as_array().end(),
                                        [&](const auto& t) { return is_type(v, t.as_string()); });
      if (!fits)
        return at + " is " + json::serialize(v).substr(0, 80) + ", not " + json::serialize(*type);
    }
    if (const auto* wanted = o.if_contains("const"); wanted && *wanted != v)
      return at + " is not " + json::serialize(*wanted);
    if (const auto* words = o.if_contains("enum");
        words &&
        std::find(words->as_array().begin(), words->as_array().end(), v) == words->as_array().end())
      return at + " is none of " + json::serialize(*words);
    if (const auto* any = o.if_contains("anyOf"))
      if (auto why = any_fault(v, any->as_array(), at); !why.empty())
        return why;
    if (v.is_object())
      return object_fault(v.as_object(), o, at);
    if (const auto* items = o.if_contains("items"); items && v.is_array())
      for (std::size_t i = 0; i < v.as_array().size(); ++i)
        if (auto why = fault(v.as_array()[i], *items, at + "[" + std::to_string(i) + "]");
            !why.empty())
          return why;
    return {};
  }

private:
  const json::value& resolved(const json::value& schema) const {
    const auto* ref = schema.as_object().if_contains("$ref");
    if (!ref)
      return schema;
    const auto name = std::string(ref->as_string());
    return document_.at("components").at("schemas").at(name.substr(name.rfind('/') + 1));
  }

  std::string any_fault(const json::value& v, const json::array& any, const std::string& at) const {
    std::string last;
    for (const auto& one : any) {
      last = fault(v, one, at);
      if (last.empty())
        return {};
    }
    return fault(v, any[0], at);
  }

  std::string object_fault(const json::object& v, const json::object& schema,
                           const std::string& at) const {
    if (const auto* most = schema.if_contains("maxProperties");
        most && v.size() > most->to_number<std::size_t>())
      return at + " has more members than it may";
    if (const auto* required = schema.if_contains("required"))
      for (const auto& name : required->as_array())
        if (!v.contains(name.as_string()))
          return at + " lacks " + std::string(name.as_string());
    const auto* known = schema.if_contains("properties");
    const auto* others = schema.if_contains("additionalProperties");
    for (const auto& [name, value] : v) {
      const auto* own = known ? known->as_object().if_contains(name) : nullptr;
      const auto where = at + "." + std::string(name);
      if (!own && others && others->is_bool() && !others->as_bool())
        return where + " is not described";
      const auto* by = own ? own : others && others->is_object() ? others : nullptr;
      if (by)
        if (auto why = fault(value, *by, where); !why.empty())
          return why;
    }
    return {};
  }

  const json::value& document_;
};

bool matches(std::string_view form, std::string_view path) {
  while (!form.empty() && !path.empty()) {
    const auto a = form.substr(0, form.find('/', 1)), b = path.substr(0, path.find('/', 1));
    if (a != b && !a.starts_with("/{"))
      return false;
    form.remove_prefix(a.size());
    path.remove_prefix(b.size());
  }
  return form.empty() && path.empty();
}

const json::value* operation_of(const json::value& document, std::string method,
                                std::string_view path) {
  std::transform(method.begin(), method.end(), method.begin(), ::tolower);
  for (const auto& [form, item] : document.at("paths").as_object())
    if (matches({form.data(), form.size()}, path))
      if (const auto* found = item.as_object().if_contains(method))
        return found;
  return nullptr;
}

} // namespace

std::string openapi_fault(const json::value& document, const std::string& method,
                          const std::string& target, unsigned status,
                          const std::string& content_type, const std::string& body) {
  const auto* operation = operation_of(document, method, target.substr(0, target.find('?')));
  if (!operation)
    return status == 404 || status == 405 || status == 401 ? "" : "no such operation is described";
  const auto& answers = operation->at("responses").as_object();
  const auto* answer = answers.if_contains(std::to_string(status));
  if (!answer && status < 300)
    return "status " + std::to_string(status) + " is not described";
  if (!answer)
    answer = &answers.at("default");
  const auto* content = answer->as_object().if_contains("content");
  if (!content)
    return body.empty() ? "" : "it has a body, and none is described";
  const auto media = content_type.substr(0, content_type.find(';'));
  const auto* described = content->as_object().if_contains(media);
  if (!described)
    return "content of type " + media + " is not described";
  if (media != "application/json")
    return {};
  std::string why;
  const auto parsed = json::parse_text(body, 64, why);
  if (!parsed)
    return "it is not JSON: " + why;
  return checker(document).fault(*parsed, described->at("schema"), "body");
}

} // namespace ahpd::tests
