// Searching by ripgrep.

#include "protocol/docker/text.hpp"
#include "protocol/json.hpp"
#include "runtimes/disk/entries.hpp"
#include "runtimes/disk/grep_results.hpp"
#include "runtimes/process/children.hpp"
#include "runtimes/process/pidfd.hpp"
#include "runtimes/process/spawner.hpp"

#include <array>
#include <csignal>

#include <poll.h>
#include <sys/wait.h>

namespace ahpd::disk {

namespace {

constexpr std::size_t longest_line = 256u << 20; ///< of its output; a line is escaped in there
constexpr std::size_t longest_complaint = 4u << 10;
constexpr std::size_t most_depth = 16;

/// A folder to search in and what to search there: globs with a slash are about paths below the
/// directory that rg runs in.
struct start {
  std::string directory;
  std::string what;
};

start start_of(const std::string& path) {
  if (look_at(path, true).is_folder)
    return {path, "."};
  const auto slash = path.rfind('/');
  return {slash == 0 ? "/" : path.substr(0, slash), "./" + path.substr(slash + 1)};
}

std::vector<std::string> words_of(const grep_request& what, const std::string& program,
                                  const std::string& where) {
  std::vector<std::string> out{program,       "--json",         "--no-config",
                               "--no-ignore", "--no-messages",  "--sort",
                               "path",        "--max-filesize", std::to_string(what.max_file_size)};
  if (what.case_insensitive)
    out.emplace_back("--ignore-case");
  if (what.fixed_strings)
    out.emplace_back("--fixed-strings");
  if (what.multiline)
    out.insert(out.end(), {"--multiline", "--multiline-dotall"});
  if (!what.recursive)
    out.insert(out.end(), {"--max-depth", "1"});
  if (!what.type.empty())
    out.push_back("--type=" + what.type);
  out.push_back("--before-context=" + std::to_string(what.context_before));
  out.push_back("--after-context=" + std::to_string(what.context_after));
  for (const auto& each : what.include)
    out.push_back("--glob=" + each);
  for (const auto& each : what.exclude)
    out.push_back("--glob=!" + each);
  out.insert(out.end(), {"--regexp", what.pattern, "--", where});
  return out;
}

/// Text that rg tells as such, or in base64 when it is no UTF-8.
std::string text_of(const json::value& where, const char* member) {
  const auto* it = json::member(where, member);
  if (!it)
    return {};
  if (const auto bytes = json::string_member(*it, "bytes"))
    return docker::decode_base64(*bytes).value_or(std::string());
  return json::text(*it, "text");
}

/// One run of rg. Dropped, it is killed and collected.
class rg_run {
public:
  explicit rg_run(process::spawned child) : child_(std::move(child)) {}
  ~rg_run() {
    process::signal_held(child_.pidfd, SIGKILL);
    await_end();
    process::children::of_this_process().collect(child_.pid);
  }
  rg_run(const rg_run&) = delete;
  rg_run& operator=(const rg_run&) = delete;

  /// Hands out lines until `each` has had enough, or the end. False: the time is over.
  template <class Each> bool read_lines(Each each) {
    const auto deadline = std::chrono::steady_clock::now() + longest_search;
    bool goes_on = true;
    while (goes_on && (child_.output || child_.error)) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0)
        return false;
      std::array<pollfd, 2> ends{
        {{child_.output.get(), POLLIN, 0}, {child_.error.get(), POLLIN, 0}}};
      ::poll(ends.data(), ends.size(), static_cast<int>(left.count()));
      take(child_.error, errors_);
      errors_.resize(std::min(errors_.size(), longest_complaint));
      take(child_.output, pending_);
      for (auto end = pending_.find('\n'); goes_on && end != std::string::npos;
           end = pending_.find('\n', read_)) {
        goes_on = each(std::string_view(pending_).substr(read_, end - read_));
        read_ = end + 1;
      }
      pending_.erase(0, std::exchange(read_, 0));
      goes_on = goes_on && pending_.size() <= longest_line;
    }
    return true;
  }

  const std::string& errors() const { return errors_; }

private:
  static void take(process::descriptor& from, std::string& to) {
    std::array<char, 64 << 10> piece{};
    for (int i = 0; from && i < 16; ++i) {
      const auto got = ::read(from.get(), piece.data(), piece.size());
      if (got > 0)
        to.append(piece.data(), static_cast<std::size_t>(got));
      else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        from.reset();
      else
        return;
    }
  }

  void await_end() const {
    pollfd end{child_.pidfd.get(), POLLIN, 0};
    while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
    }
  }

  process::spawned child_;
  std::string pending_;
  std::size_t read_ = 0;
  std::string errors_;
};

std::optional<std::uint64_t> number_at(const json::value& data, const char* member) {
  const auto* stats = json::member(data, "stats");
  const auto* number = stats ? json::member(*stats, member) : nullptr;
  return number && number->is_number() ? std::optional(number->to_number<std::uint64_t>())
                                       : std::nullopt;
}

} // namespace

bool grep_by_rg(const grep_request& what, const std::string& program, grep_answer& out) {
  const auto [directory, where] = start_of(what.path);
  process::spawn_request request;
  request.argv = words_of(what, program, where);
  request.directory = directory;
  auto started = process::spawn(request);
  if (!started.child)
    return false;
  rg_run run(std::move(*started.child));
  grep_results found(what);
  std::optional<std::uint64_t> searched, matched;
  const bool in_time = run.read_lines([&](std::string_view line) {
    std::string ignored;
    const auto message = json::parse_text(line, most_depth, ignored);
    const auto* data = message ? json::member(*message, "data") : nullptr;
    if (!data)
      return true;
    const auto type = json::text(*message, "type");
    if (type == "begin") {
      const auto path = text_of(*data, "path"); // "./…"
      found.begin((directory == "/" ? "" : directory) + path.substr(1));
    } else if (type == "match" || type == "context") {
      const auto* number = json::member(*data, "line_number");
      found.line(number && number->is_number() ? number->to_number<std::uint64_t>() : 0,
                 text_of(*data, "lines"), type == "match");
    } else if (type == "end") {
      found.end();
    } else if (type == "summary") {
      searched = number_at(*data, "searches");
      matched = number_at(*data, "searches_with_match");
    }
    return !found.is_full();
  });
  if (!run.errors().empty())
    throw fault(fault_kind::bad_request,
                run.errors().substr(0, run.errors().find_last_not_of('\n') + 1), what.path);
  if (!in_time)
    found.cut();
  out = found.take(searched, matched);
  return true;
}

} // namespace ahpd::disk
