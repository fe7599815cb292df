#include "protocol/aio/checks.hpp"

#include "protocol/percent.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ahpd::aio {

namespace {

constexpr std::size_t most_depth = 64;

json::object error_at(json::array location, std::string_view message, std::string_view kind) {
  return {{"location", std::move(location)}, {"message", message}, {"type", kind}};
}

const char* expected(type is) {
  switch (is) {
  case type::text:
    return "a string";
  case type::integer:
    return "an integer";
  case type::number:
    return "a number";
  case type::flag:
    return "a boolean";
  case type::texts:
    return "an array of strings";
  case type::integers:
    return "an array of integers";
  case type::text_by_name:
    return "an object of strings";
  case type::object:
  case type::object_by_name:
    return "an object";
  case type::objects:
    return "an array of objects";
  case type::any:
    break;
  }
  return "a value";
}

/// How serde names what it met instead.
std::string met(const json::value& v) {
  switch (v.kind()) {
  case json::kind::null:
    return "null";
  case json::kind::bool_:
    return "boolean `" + json::serialize(v) + "`";
  case json::kind::int64:
  case json::kind::uint64:
    return "integer `" + json::serialize(v) + "`";
  case json::kind::double_:
    return "floating point `" + json::serialize(v) + "`";
  case json::kind::string:
    return "string";
  case json::kind::array:
    return "sequence";
  case json::kind::object:
    break;
  }
  return "map";
}

bool is_whole(const json::value& v) {
  return v.is_int64() || v.is_uint64();
}

template <class Fits> bool all(const json::value& v, Fits fits) {
  const auto* list = v.if_array();
  return list && std::all_of(list->begin(), list->end(), fits);
}

bool fits(const json::value& v, type is) {
  const auto text = [](const json::value& each) { return each.is_string(); };
  switch (is) {
  case type::text:
    return v.is_string();
  case type::integer:
    return is_whole(v);
  case type::number:
    return v.is_number();
  case type::flag:
    return v.is_bool();
  case type::texts:
    return all(v, text);
  case type::integers:
    return all(v, is_whole);
  case type::text_by_name:
    return v.is_object() && std::all_of(v.get_object().begin(), v.get_object().end(),
                                        [](const auto& each) { return each.value().is_string(); });
  case type::object:
  case type::object_by_name:
    return v.is_object();
  case type::objects:
    return all(v, [](const json::value& each) { return each.is_object(); });
  case type::any:
    break;
  }
  return true;
}

std::string short_number(double v) {
  return v == std::floor(v) && std::abs(v) < 1e15 ? std::to_string(static_cast<std::int64_t>(v))
                                                  : json::serialize(json::value(v));
}

std::string out_of_bounds(const field& f) {
  if (!std::isinf(f.most))
    return "must be between " + short_number(f.least) + " and " + short_number(f.most);
  return "must be " + short_number(f.least) + " or more";
}

bool is_choice(const field& f, std::string_view word) {
  for (auto rest = f.choices; !rest.empty();) {
    const auto end = rest.find('|');
    if (rest.substr(0, end) == word)
      return true;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return false;
}

std::string unknown_choice(const field& f, std::string_view word) {
  std::string out = "unknown variant `" + std::string(word) + "`, expected one of `";
  for (const char c : f.choices)
    c == '|' ? out += "`, `" : out += c;
  return out + "`";
}

/// What is wrong with a value of the right type; empty: nothing.
std::string fault(const field& f, const json::value& v) {
  if (v.is_number()) {
    const auto number = v.to_number<double>();
    if (number < f.least || number > f.most || !std::isfinite(number))
      return out_of_bounds(f);
  }
  if (!f.choices.empty() && v.is_string() && !is_choice(f, v.get_string()))
    return unknown_choice(f, v.get_string());
  return {};
}

void fill_in(const field& f, json::object& members) {
  if (!f.fallback.empty())
    members[f.name] = json::parse(json::string_view(f.fallback.data(), f.fallback.size()));
}

/// Where a text ends, as serde counts: lines from 1, columns from 1.
std::string place_of_end(std::string_view body) {
  const auto end = body.find_last_not_of(" \t\r\n");
  const auto upto = body.substr(0, end == std::string_view::npos ? 0 : end + 1);
  const auto lines = std::count(upto.begin(), upto.end(), '\n');
  const auto last = upto.rfind('\n');
  const auto column = last == std::string_view::npos ? upto.size() : upto.size() - last - 1;
  return "line " + std::to_string(lines + 1) + " column " + std::to_string(column);
}

} // namespace

checked check_body(std::string_view body, std::span<const field> fields) {
  checked out;
  const auto text = body.find_first_not_of(" \t\r\n") == std::string_view::npos ? "{}" : body;
  std::string why;
  const auto parsed = json::parse_text(text, most_depth, why);
  if (!parsed) {
    out.errors.push_back(error_at({"body"}, "the body is not JSON: " + why, "json_invalid"));
    return out;
  }
  const auto* given = parsed->if_object();
  if (!given) {
    out.errors.push_back(
      error_at({"body"}, "invalid type: " + met(*parsed) + ", expected an object", "type_error"));
    return out;
  }
  for (const auto& f : fields) {
    const json::array location{"body", f.name};
    const auto* value = given->if_contains(f.name);
    if (!value || (value->is_null() && !f.required && f.is != type::any)) {
      if (f.required)
        out.errors.push_back(
          error_at(location, "missing field `" + std::string(f.name) + "` at " + place_of_end(text),
                   "value_error.missing"));
      else
        fill_in(f, out.members);
    } else if (!fits(*value, f.is)) {
      out.errors.push_back(error_at(
        location, "invalid type: " + met(*value) + ", expected " + expected(f.is), "type_error"));
    } else if (const auto wrong = fault(f, *value); !wrong.empty()) {
      out.errors.push_back(error_at(location, wrong, "value_error"));
    } else {
      out.members[f.name] = *value;
    }
  }
  return out;
}

namespace {

/// A query's text as the type of its field, or the reason why it is none.
std::variant<json::value, std::string> typed(const field& f, const std::string& text) {
  const char* const end = text.data() + text.size();
  switch (f.is) {
  case type::integer: {
    if (text.empty())
      return std::string("cannot parse integer from empty string");
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec == std::errc::result_out_of_range)
      return std::string("number too large to fit in target type");
    if (read.ec != std::errc() || read.ptr != end)
      return std::string("invalid digit found in string");
    return number;
  }
  case type::number: {
    double number = 0;
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number))
      return std::string("invalid float literal");
    return number;
  }
  case type::flag:
    if (text != "true" && text != "false")
      return std::string("provided string was not `true` or `false`");
    return text == "true";
  default:
    return json::value(json::string(text));
  }
}

} // namespace

checked check_query(std::string_view query, std::span<const field> fields) {
  checked out;
  const auto pairs = pairs_of(query);
  for (const auto& f : fields) {
    const auto found = std::find_if(pairs.rbegin(), pairs.rend(),
                                    [&](const auto& each) { return each.first == f.name; });
    if (found == pairs.rend()) {
      if (f.required)
        out.errors.push_back(error_at(
          {"query", f.name}, "missing field `" + std::string(f.name) + "`", "value_error.missing"));
      else
        fill_in(f, out.members);
      continue;
    }
    auto value = typed(f, found->second);
    if (const auto* why = std::get_if<std::string>(&value)) {
      out.errors.push_back(error_at({"query"}, *why, "type_error"));
      continue;
    }
    auto& read = std::get<json::value>(value);
    if (const auto wrong = fault(f, read); !wrong.empty())
      out.errors.push_back(error_at({"query", f.name}, wrong, "value_error"));
    else
      out.members[f.name] = std::move(read);
  }
  return out;
}

std::string_view query_of(std::string_view target) {
  const auto question = target.find('?');
  return question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
}

std::vector<std::pair<std::string, std::string>> pairs_of(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto plain = [](std::string_view text) {
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return percent::decode(spaced).value_or(spaced);
  };
  while (!query.empty()) {
    const auto pair = query.substr(0, query.find('&'));
    const auto equals = pair.find('=');
    if (!pair.empty())
      out.emplace_back(plain(pair.substr(0, equals)),
                       equals == std::string_view::npos ? "" : plain(pair.substr(equals + 1)));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
  }
  return out;
}

} // namespace ahpd::aio
