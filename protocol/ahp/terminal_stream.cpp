#include "protocol/ahp/terminal_stream.hpp"

#include "protocol/ahp/file_uri.hpp"
#include "protocol/percent.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace ahpd::ahp {

namespace {

using kind = terminal_piece::kind;

constexpr char escape = '\x1b';
constexpr char bell = '\x07';

/// An operating system command that is longer is shown as text: its end may never come.
constexpr std::size_t longest_osc = 16 * 1024;
constexpr std::size_t longest_title = 4096;

bool begins_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

void add_text(std::vector<terminal_piece>& out, std::string_view bytes) {
  if (bytes.empty())
    return;
  auto text = utf8::repaired(bytes);
  if (!out.empty() && out.back().what == kind::text)
    out.back().text += text;
  else
    out.push_back({kind::text, std::move(text)});
}

/// An OSC at the beginning of `bytes`: how long it is with its end, and what stands in it.
struct found_osc {
  std::size_t length = 0; ///< 0: its end is not there yet
  std::string_view body;
  bool complete = false; ///< false with a length: broken off by something else
};

found_osc read_osc(std::string_view bytes) {
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == bell)
      return {i + 1, bytes.substr(2, i - 2), true};
    if (c == '\x18' || c == '\x1a') // CAN and SUB break every sequence off
      return {i, {}, false};
    if (c != escape)
      continue;
    if (i + 1 == bytes.size())
      return {};
    if (bytes[i + 1] == '\\')
      return {i + 2, bytes.substr(2, i - 2), true};
    return {i, {}, false};
  }
  return {};
}

/// `file://<host>/<path>` without its host: in a machine that is a name nobody else knows.
std::string local_file_uri(std::string_view uri) {
  constexpr std::string_view scheme = "file://";
  if (!begins_with(uri, scheme))
    return {};
  const auto slash = uri.find('/', scheme.size());
  if (slash == std::string_view::npos)
    return {};
  auto out = std::string(scheme) + std::string(uri.substr(slash));
  return file_path(out) ? out : std::string{};
}

/// A value of OSC 633: `\\` and `\xHH` stand for one character, an unescaped ';' ends it.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size() && text[i] != ';'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\\') {
      ++i;
    } else if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x' &&
               percent::hex_digit(text[i + 2]) >= 0 && percent::hex_digit(text[i + 3]) >= 0) {
      out +=
        static_cast<char>(percent::hex_digit(text[i + 2]) * 16 + percent::hex_digit(text[i + 3]));
      i += 3;
      continue;
    }
    out += text[i];
  }
  return utf8::repaired(out);
}

std::optional<int> exit_code_of(std::string_view body) {
  int code = 0;
  const auto [at, ec] = std::from_chars(body.data(), body.data() + body.size(), code);
  return ec == std::errc{} && at != body.data() ? std::optional(code) : std::nullopt;
}

/// The member of a part that holds its text.
json::string* text_of(json::value& part) {
  auto* o = part.if_object();
  if (!o)
    return nullptr;
  auto* text = o->if_contains(json::string_member(part, "type") == "command" ? "output" : "value");
  return text ? text->if_string() : nullptr;
}

} // namespace

void terminal_stream::command(std::string_view osc, std::vector<terminal_piece>& out) {
  const auto semicolon = osc.find(';');
  const auto number = osc.substr(0, semicolon);
  const auto rest = semicolon == std::string_view::npos ? "" : osc.substr(semicolon + 1);
  if (number == "0" || number == "2")
    return out.push_back({kind::title, utf8::repaired(rest.substr(0, longest_title))});
  if (number == "7") {
    if (auto uri = local_file_uri(utf8::repaired(rest)); !uri.empty())
      out.push_back({kind::directory, std::move(uri)});
    return;
  }
  if ((number != "633" && number != "133") || rest.empty())
    return;
  const auto body = rest.size() > 2 ? rest.substr(2) : "";
  if (rest[0] == 'C')
    out.push_back({kind::command_started, std::exchange(command_line_, {})});
  else if (rest[0] == 'D')
    out.push_back({kind::command_finished, {}, exit_code_of(body)});
  else if (rest[0] == 'E' && number == "633")
    command_line_ = unescaped(body);
  else if (begins_with(rest, "P;Cwd="))
    out.push_back({kind::directory, file_uri(unescaped(rest.substr(6)))});
}

std::vector<terminal_piece> terminal_stream::feed(std::string_view bytes) {
  const auto all = std::exchange(held_, {}).append(bytes);
  std::vector<terminal_piece> out;
  std::string_view rest = all;
  std::size_t from = 0; // where to look for the next escape; what is before it is text
  while (true) {
    const auto at = rest.find(escape, from);
    if (at == std::string_view::npos) {
      const auto cut = rest.size() - utf8::trailing_part(rest);
      add_text(out, rest.substr(0, cut));
      held_ = rest.substr(cut);
      return out;
    }
    const auto sequence = rest.substr(at);
    const bool is_osc = sequence.size() > 1 && sequence[1] == ']';
    const auto osc = is_osc ? read_osc(sequence) : found_osc{};
    if (sequence.size() == 1 || (is_osc && osc.length == 0 && sequence.size() < longest_osc)) {
      add_text(out, rest.substr(0, at));
      held_ = sequence;
      return out;
    }
    if (!is_osc || !osc.complete) {
      from = at + std::max<std::size_t>(2, osc.length);
      from = std::min(from, rest.size());
      continue;
    }
    const bool hidden = begins_with(osc.body, "633;") || begins_with(osc.body, "133;");
    add_text(out, rest.substr(0, hidden ? at : at + osc.length));
    command(osc.body, out);
    rest.remove_prefix(at + osc.length);
    from = 0;
  }
}

std::vector<terminal_piece> terminal_stream::finish() {
  std::vector<terminal_piece> out;
  add_text(out, std::exchange(held_, {}));
  return out;
}

std::string without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == escape && i + 1 < text.size() && text[i + 1] == ']') {
      const auto osc = read_osc(text.substr(i));
      if (osc.length == 0)
        break;
      i += osc.length - 1;
    } else if (c == escape && i + 1 < text.size() && text[i + 1] == '[') {
      for (i += 2; i < text.size() && (text[i] < '@' || text[i] > '~');)
        ++i;
    } else if (c == escape) {
      // Intermediate bytes, as of "select a character set", then one that ends it.
      for (++i; i < text.size() && text[i] >= ' ' && text[i] <= '/';)
        ++i;
    } else if (static_cast<unsigned char>(c) >= ' ' ? c != '\x7f' : c == '\n' || c == '\t') {
      out += c;
    }
  }
  return out;
}

std::string_view last_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most)
    return text;
  const auto tail = text.substr(text.size() - most);
  return tail.substr(utf8::leading_rest(tail));
}

std::string_view last_lines(std::string_view text, std::size_t most) {
  const auto tail = last_bytes(text, most);
  const auto line = tail.size() < text.size() ? tail.find('\n') : std::string_view::npos;
  return line == std::string_view::npos || line + 1 == tail.size() ? tail : tail.substr(line + 1);
}

std::size_t trim_content(json::value& state, std::size_t most) {
  auto& content = state.as_object()["content"].as_array();
  std::size_t total = 0;
  for (auto& part : content)
    if (const auto* text = text_of(part))
      total += text->size();
  std::size_t whole = 0; // parts that go as they are
  for (; whole < content.size() && total > most; ++whole) {
    auto* text = text_of(content[whole]);
    const auto size = text ? text->size() : 0;
    if (total - size < most && text) {
      const std::string kept(last_lines({text->data(), size}, size - (total - most)));
      total -= size - kept.size();
      *text = kept;
      break;
    }
    total -= size;
  }
  content.erase(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(whole));
  return total;
}

} // namespace ahpd::ahp
