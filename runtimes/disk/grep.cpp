#include "runtimes/disk/grep.hpp"

#include "runtimes/disk/content.hpp"
#include "runtimes/disk/entries.hpp"
#include "runtimes/disk/grep_results.hpp"
#include "runtimes/disk/patterns.hpp"
#include "runtimes/process/executable.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace ahpd::disk {

namespace {

/// The kinds of files that callers ask for most, by ripgrep's names.
const std::map<std::string, std::vector<std::string>> kinds{
  {"c", {"*.c", "*.h"}},
  {"cpp", {"*.cc", "*.cpp", "*.cxx", "*.h", "*.hh", "*.hpp", "*.hxx", "*.inl"}},
  {"css", {"*.css", "*.scss"}},
  {"go", {"*.go"}},
  {"html", {"*.htm", "*.html"}},
  {"java", {"*.java"}},
  {"js", {"*.js", "*.jsx", "*.cjs", "*.mjs", "*.vue"}},
  {"json", {"*.json"}},
  {"kotlin", {"*.kt", "*.kts"}},
  {"md", {"*.md", "*.markdown", "*.mdown", "*.mkdn"}},
  {"php", {"*.php"}},
  {"py", {"*.py", "*.pyi"}},
  {"ruby", {"*.rb", "*.gemspec", "Gemfile", "Rakefile"}},
  {"rust", {"*.rs"}},
  {"sh", {"*.sh", "*.bash", "*.zsh"}},
  {"sql", {"*.sql"}},
  {"swift", {"*.swift"}},
  {"toml", {"*.toml", "Cargo.lock"}},
  {"ts", {"*.ts", "*.tsx", "*.cts", "*.mts"}},
  {"txt", {"*.txt"}},
  {"xml", {"*.xml", "*.xsd", "*.xsl"}},
  {"yaml", {"*.yaml", "*.yml"}},
};

std::unique_ptr<re2::RE2> compile(const std::string& pattern, const re2::RE2::Options& options,
                                  const std::string& path) {
  auto out = std::make_unique<re2::RE2>(pattern, options);
  if (!out->ok())
    throw fault(fault_kind::bad_request, "regex parse error: " + out->error(), path);
  return out;
}

re2::RE2::Options usual() {
  re2::RE2::Options out;
  out.set_log_errors(false);
  return out;
}

class engine {
public:
  explicit engine(const grep_request& what) : request_(what), found_(what) {
    auto options = usual();
    options.set_case_sensitive(!what.case_insensitive);
    options.set_literal(what.fixed_strings);
    options.set_dot_nl(what.multiline);
    // As in ripgrep's dialect "^" and "$" are about lines.
    const auto pattern =
      what.multiline && !what.fixed_strings ? "(?m)" + what.pattern : what.pattern;
    expression_ = compile(pattern, options, what.path);
    if (const auto i = kinds.find(what.type); i != kinds.end())
      kind_ = &i->second;
    else if (!what.type.empty())
      throw fault(fault_kind::bad_request, "unrecognized file type: " + what.type, what.path);
  }

  grep_answer run() {
    const auto top = look_at(request_.path, true);
    if (top.is_folder)
      search_folder();
    else if (top.size <= request_.max_file_size)
      search_file(request_.path);
    return found_.take(searched_, matched_);
  }

private:
  void search_folder() {
    const auto deadline = std::chrono::steady_clock::now() + longest_search;
    const auto root = request_.path == "/" ? "" : request_.path;
    walk_rules rules;
    rules.hidden = false;
    rules.sorted = true;
    if (!request_.recursive)
      rules.depth = 1;
    walk(request_.path, rules, [&](const entry& each) {
      if (is_of_any(request_.exclude, each.path))
        return then::skip;
      if (std::chrono::steady_clock::now() > deadline)
        found_.cut();
      else if (each.is_file && !each.is_link && is_wanted(each))
        search_file(root + "/" + each.path);
      return found_.is_full() ? then::stop : then::go_on;
    });
  }

  bool is_wanted(const entry& what) const {
    return what.size <= request_.max_file_size &&
           (request_.include.empty() || is_of_any(request_.include, what.path)) &&
           (!kind_ || is_of_any(*kind_, what.path));
  }

  void search_file(const std::string& path) {
    std::string text;
    try {
      text = read_whole(path);
    } catch (const fault&) {
      return; // it went meanwhile, or may not be read: as ripgrep has it
    }
    ++searched_;
    if (text.find('\0') != std::string::npos)
      return;
    const auto lines = lines_of(text);
    const auto hits = request_.multiline ? spans(text, lines) : single(text, lines);
    if (hits.empty())
      return;
    ++matched_;
    found_.begin(path);
    const auto line = [&](std::size_t first, std::size_t end, bool is_match) {
      found_.line(first + 1, text.substr(lines[first], lines[end] - lines[first]), is_match);
    };
    for (const auto& [first, end] : hits) {
      const auto from = first - std::min(first, request_.context_before);
      const auto to = std::min(lines.size() - 1, end + request_.context_after);
      for (auto i = from; i < to; ++i)
        if (i < first || i >= end)
          line(i, i + 1, false);
    }
    for (const auto& [first, end] : hits) // over what is context of another one
      line(first, end, true);
    found_.end();
  }

  /// Where lines begin, and the end.
  static std::vector<std::size_t> lines_of(const std::string& text) {
    std::vector<std::size_t> out{0};
    for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
      out.push_back(at + 1);
    if (out.back() != text.size())
      out.push_back(text.size());
    return out;
  }

  using ranges = std::vector<std::pair<std::size_t, std::size_t>>; ///< of lines, end exclusive

  ranges single(const std::string& text, const std::vector<std::size_t>& lines) const {
    ranges out;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      auto end = lines[i + 1];
      if (end > lines[i] && text[end - 1] == '\n')
        --end;
      if (re2::RE2::PartialMatch(re2::StringPiece(text.data() + lines[i], end - lines[i]),
                                 *expression_))
        out.emplace_back(i, i + 1);
    }
    return out;
  }

  ranges spans(const std::string& text, const std::vector<std::size_t>& lines) const {
    ranges out;
    const re2::StringPiece all(text);
    const auto line_at = [&](std::size_t offset) {
      const auto next = std::upper_bound(lines.begin(), lines.end() - 1, offset);
      return static_cast<std::size_t>(next - lines.begin()) - 1;
    };
    for (std::size_t at = 0; at < text.size();) {
      re2::StringPiece match;
      if (!expression_->Match(all, at, text.size(), re2::RE2::UNANCHORED, &match, 1))
        break;
      const auto from = static_cast<std::size_t>(match.data() - text.data());
      if (from == text.size())
        break;
      const auto last = from + (match.empty() ? 0 : match.size() - 1);
      const auto first_line = line_at(from), end_line = line_at(last) + 1;
      if (!out.empty() && first_line < out.back().second)
        out.back().second = std::max(out.back().second, end_line);
      else
        out.emplace_back(first_line, end_line);
      at = std::max(last + 1, from + 1);
    }
    return out;
  }

  const grep_request& request_;
  grep_results found_;
  std::unique_ptr<re2::RE2> expression_;
  const std::vector<std::string>* kind_ = nullptr;
  std::uint64_t searched_ = 0;
  std::uint64_t matched_ = 0;
};

} // namespace

grep_answer grep_here(const grep_request& what) {
  return engine(what).run();
}

grep_answer grep(const grep_request& what, const std::map<std::string, std::string>& environment) {
  const auto top = look_at(what.path, true);
  if (!top.is_folder && !top.is_file)
    throw fault(fault_kind::bad_target, "not a regular file or a directory", what.path);
  const auto rg = process::find_executable("rg", environment);
  grep_answer out;
  if (rg.error == 0 && grep_by_rg(what, rg.path, out))
    return out;
  return grep_here(what);
}

std::optional<std::uint64_t> size_of_text(const std::string& text) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  std::uint64_t number = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || end - read.ptr > 1 || number > most)
    return std::nullopt;
  if (read.ptr == end)
    return number;
  switch (*read.ptr) {
  case 'K':
  case 'k':
    return number << 10;
  case 'M':
  case 'm':
    return number << 20;
  case 'G':
  case 'g':
    return number << 30;
  default:
    return std::nullopt;
  }
}

std::vector<std::pair<std::uint64_t, std::string>> lines_with(const std::string& path,
                                                              const std::string& expression) {
  const auto text = read_text(path);
  const auto compiled = compile(expression, usual(), path);
  std::vector<std::pair<std::uint64_t, std::string>> out;
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    if (re2::RE2::PartialMatch(line, *compiled))
      out.emplace_back(number, std::move(line));
    at = end + 1;
  }
  return out;
}

} // namespace ahpd::disk
