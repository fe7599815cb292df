#include "runtimes/docker/options.hpp"

#include <charconv>
#include <cmath>
#include <set>

namespace ahpd::runtimes {

namespace {

constexpr std::size_t most_entries = 256; // of any list an operator writes

/// Options that the plugin has and this host does not serve.
const std::set<std::string_view> unserved{
  "command", "devcontainer", "disposableDelay", "gitGuard",   "host",           "imageMounts",
  "needs",   "nodes",        "parts",           "profiles",   "sessionDefault", "ssh",
  "state",   "stateScope",   "sandbox",         "partImages", "title",          "tools"};

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Digits with at most one fraction.
std::optional<double> read_decimal(std::string_view text) {
  const auto dot = text.find('.');
  if (!digits(text.substr(0, dot)) || (dot != text.npos && !digits(text.substr(dot + 1))))
    return std::nullopt;
  double out = 0;
  const auto* end = text.data() + text.size();
  const auto [at, ec] = std::from_chars(text.data(), end, out);
  return ec == std::errc() && at == end ? std::optional(out) : std::nullopt;
}

/// Reads one option after the other and collects the sentences.
class reader {
public:
  explicit reader(computer_options_result& out) : out_(out) {}

  void wrong(std::string_view key, std::string_view expected, const json::value& v) {
    auto said = json::serialize(v);
    if (said.size() > 80)
      said = "something else";
    out_.wrong.push_back("option " + std::string(key) + " of @ahpd/computer is " +
                         std::string(expected) + ", and that is " + said);
  }

  void text(std::string_view key, const json::value& v, std::string& to) {
    if (v.is_string() && !v.get_string().empty())
      to = v.get_string();
    else
      wrong(key, "a text", v);
  }

  void flag(std::string_view key, const json::value& v, bool& to) {
    if (v.is_bool())
      to = v.get_bool();
    else
      wrong(key, "true or false", v);
  }

  void image(std::string_view key, const json::value& v) {
    std::string error;
    if (v.is_string() && docker::read_image(v.get_string(), error))
      out_.options.image = v.get_string();
    else
      wrong(key, "the name of an image", v);
  }

  void label(std::string_view key, const json::value& v) {
    const auto text = v.is_string() ? std::string_view(v.get_string()) : std::string_view();
    const auto equals = text.find('=');
    if (equals == text.npos || equals == 0 || equals + 1 == text.size())
      wrong(key, "a label such as ahpd.computer=1", v);
    else
      out_.options.label = text;
  }

  void prefix(std::string_view key, const json::value& v) {
    constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const auto text = v.is_string() ? std::string_view(v.get_string()) : std::string_view();
    if (text.empty() || text.size() > 40 || text.find_first_not_of(plain) != text.npos ||
        text.front() == '-' || text.front() == '_')
      wrong(key, "at most 40 letters, digits, _ and -, starting with a letter or a digit", v);
    else
      out_.options.prefix = text;
  }

  template <class Number>
  void amount(std::string_view key, std::string_view expected, const json::value& v,
              std::optional<Number> (*read)(std::string_view), std::optional<limit<Number>>& to) {
    const auto text = v.is_string()   ? std::string(v.get_string())
                      : v.is_number() ? json::serialize(v)
                                      : std::string();
    if (const auto value = read(text))
      to = limit<Number>{text, *value};
    else
      wrong(key, expected, v);
  }

  void count(std::string_view key, const json::value& v, std::uint64_t& to) {
    json::error_code ec;
    const auto value = v.is_number() ? v.to_number<std::uint64_t>(ec) : 0;
    if (v.is_number() && !ec && value > 0)
      to = value;
    else
      wrong(key, "a whole number above 0", v);
  }

  void mounts(std::string_view key, const json::value& v) {
    for_each_text(key, R"(a list of "source:target" or "source:target:ro")", v,
                  [this](const std::string& text) {
                    if (!read_mount(text))
                      return false;
                    out_.options.mounts.push_back(text);
                    return true;
                  });
  }

  void images(std::string_view key, const json::value& v) {
    std::string error;
    for_each_text(key, "a list of image scopes", v, [&](const std::string& text) {
      auto scope = docker::image_scope::read(text, error);
      if (!scope) {
        out_.wrong.push_back(
          "option images of @ahpd/computer holds a scope that can match nothing: " + error);
        return true; // said in better words
      }
      out_.options.images.push_back(std::move(*scope));
      return true;
    });
  }

  void env(std::string_view key, const json::value& v) {
    if (!v.is_object()) {
      out_.wrong.push_back("option env of @ahpd/computer is an object of texts, and that is none");
      return;
    }
    // A value may be a secret, so no sentence repeats one.
    for (const auto& entry : v.get_object()) {
      const std::string name(entry.key());
      if (!entry.value().is_string() || name.empty() || name.find('=') != name.npos)
        out_.wrong.push_back("option " + std::string(key) + "." + name +
                             " of @ahpd/computer is the value of a variable, and that is none");
      else
        out_.options.env[name] = entry.value().get_string();
    }
  }

private:
  template <class Take>
  void for_each_text(std::string_view key, std::string_view expected, const json::value& v,
                     Take take) {
    if (!v.is_array() || v.get_array().size() > most_entries)
      return wrong(key, expected, v);
    for (const auto& item : v.get_array())
      if (!item.is_string() || !take(std::string(item.get_string())))
        wrong(key, expected, item);
  }

  computer_options_result& out_;
};

} // namespace

std::optional<double> read_cpus(std::string_view text) {
  const auto out = read_decimal(text);
  return out && *out <= 1e6 ? out : std::nullopt;
}

std::optional<std::uint64_t> read_memory(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789.");
  const auto amount = read_decimal(text.substr(0, end));
  if (!amount)
    return std::nullopt;
  std::string unit(end == text.npos ? "" : text.substr(end));
  if (!unit.empty() && (unit.front() == ' ' || unit.front() == '\t'))
    unit.erase(0, 1);
  for (auto& c : unit)
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (unit.size() == 2 && unit[1] == 'b')
    unit.pop_back();
  const auto power = std::string_view("kmgt").find(unit);
  if (unit.size() > 1 || (!unit.empty() && power == std::string_view::npos))
    return std::nullopt;
  const auto bytes =
    *amount * std::pow(1024.0, unit.empty() ? 0.0 : static_cast<double>(power + 1));
  if (bytes > 9e18) // what the engine's signed number holds
    return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::optional<mount> read_mount(std::string_view text) {
  mount out;
  out.read_only = text.ends_with(":ro");
  if (out.read_only)
    text.remove_suffix(3);
  const auto colon = text.find(':');
  if (colon == text.npos || text.find_first_of(" \t\r\n\v\f") != text.npos)
    return std::nullopt;
  out.source = text.substr(0, colon);
  out.target = text.substr(colon + 1);
  if (out.source.empty() || out.target.empty() || out.target.find(':') != out.target.npos)
    return std::nullopt;
  return out;
}

computer_options_result read_computer_options(const json::object& options) {
  computer_options_result out;
  reader in(out);
  for (const auto& entry : options) {
    const std::string_view key = entry.key();
    const auto& v = entry.value();
    if (key == "image")
      in.image(key, v);
    else if (key == "images")
      in.images(key, v);
    else if (key == "cpus")
      in.amount(key, "a number", v, read_cpus, out.options.cpus);
    else if (key == "memory")
      in.amount(key, "a size such as 512m or 2g", v, read_memory, out.options.memory);
    else if (key == "max")
      in.count(key, v, out.options.max);
    else if (key == "mounts")
      in.mounts(key, v);
    else if (key == "bodyMounts")
      in.flag(key, v, out.options.body_mounts);
    else if (key == "label")
      in.label(key, v);
    else if (key == "prefix")
      in.prefix(key, v);
    else if (key == "env")
      in.env(key, v);
    else if (key == "runtime" && v != json::value("docker"))
      in.wrong(key, "\"docker\"", v);
    else if (key == "runtime" || (key == "devcontainer" && v == json::value(false)))
      continue; // already so
    else if (unserved.count(key) != 0)
      out.left_out.push_back("option " + std::string(key) +
                             " of @ahpd/computer is not served by this host and is left out");
    else
      out.left_out.push_back("option " + std::string(key) +
                             " of @ahpd/computer is not known and is left out");
  }
  return out;
}

} // namespace ahpd::runtimes
