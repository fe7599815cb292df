#include "protocol/json.hpp"

namespace ahpd::json {

namespace {

void write_pretty(std::string& out, const value& v, std::size_t indent) {
  const auto line = [&](std::size_t depth) {
    out += '\n';
    out.append(depth * 2, ' ');
  };
  if (const auto* o = v.if_object(); o && !o->empty()) {
    out += '{';
    bool first = true;
    for (const auto& [key, item] : *o) {
      out += first ? "" : ",";
      first = false;
      line(indent + 1);
      out += serialize(string(key));
      out += ": ";
      write_pretty(out, item, indent + 1);
    }
    line(indent);
    out += '}';
  } else if (const auto* a = v.if_array(); a && !a->empty()) {
    out += '[';
    bool first = true;
    for (const auto& item : *a) {
      out += first ? "" : ",";
      first = false;
      line(indent + 1);
      write_pretty(out, item, indent + 1);
    }
    line(indent);
    out += ']';
  } else {
    out += serialize(v);
  }
}

std::size_t present(const object& o) {
  std::size_t n = 0;
  for (const auto& kv : o)
    n += kv.value().is_null() ? 0 : 1;
  return n;
}

} // namespace

std::optional<value> parse_text(std::string_view text, std::size_t max_depth, std::string& error) {
  parse_options options;
  options.max_depth = max_depth;
  error_code ec;
  auto v = parse(text, ec, {}, options);
  if (!ec)
    return v;
  error = ec == make_error_code(boost::json::error::too_deep)
            ? "nested deeper than " + std::to_string(max_depth) + " levels"
            : ec.message();
  return std::nullopt;
}

const value* member(const value& v, std::string_view key) {
  const auto* o = v.if_object();
  const auto* found = o ? o->if_contains(key) : nullptr;
  return found && !found->is_null() ? found : nullptr;
}

value* member(value& v, std::string_view key) {
  return const_cast<value*>(member(static_cast<const value&>(v), key));
}

std::optional<std::string_view> string_member(const value& v, std::string_view key) {
  const auto* found = member(v, key);
  if (!found || !found->is_string())
    return std::nullopt;
  return std::string_view(found->get_string());
}

std::string text(const value& v, std::string_view key) {
  return std::string(string_member(v, key).value_or(std::string_view()));
}

std::string pretty(const value& v) {
  std::string out;
  write_pretty(out, v, 0);
  return out;
}

bool equivalent(const value& a, const value& b) {
  if (a.is_object() && b.is_object()) {
    const auto& x = a.get_object();
    const auto& y = b.get_object();
    if (present(x) != present(y))
      return false;
    for (const auto& kv : x) {
      if (kv.value().is_null())
        continue;
      const auto* other = y.if_contains(kv.key());
      if (!other || !equivalent(kv.value(), *other))
        return false;
    }
    return true;
  }
  if (a.is_array() && b.is_array()) {
    const auto& x = a.get_array();
    const auto& y = b.get_array();
    if (x.size() != y.size())
      return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!equivalent(x[i], y[i]))
        return false;
    return true;
  }
  return a == b;
}

} // namespace ahpd::json
