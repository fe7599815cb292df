#include "runtimes/host/file_search.hpp"

#include "runtimes/host/file_calls.hpp"
#include "runtimes/host/glob.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <sstream>
#include <tuple>

#include <unistd.h>

namespace ahpd::runtimes {

namespace {

using process::descriptor;

constexpr off_t longest_ignore_file = 64 << 10;
constexpr std::size_t most_patterns = 500; ///< of one .gitignore

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c < 0x80 ? std::tolower(c) : c); });
  return text;
}

/// A folder that is still to be looked into.
struct pending {
  std::string path; ///< relative, with a slash at its end; empty: the top
  /// What its own and the folders above have to say, each for paths below `path` of its folder.
  std::vector<std::pair<std::size_t, std::string>> ignored;
};

std::vector<std::string> ignore_patterns(int folder) {
  std::vector<std::string> out;
  const descriptor file(
    ::openat(folder, ".gitignore", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat s {};
  if (!file || ::fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode) ||
      s.st_size > longest_ignore_file)
    return out;
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  const auto got = ::read(file.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && out.size() < most_patterns;) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '/'))
      line.pop_back();
    if (line.empty() || line.front() == '#' || line.front() == '!')
      continue;
    // A name without a slash is ignored at any depth (gitignore "Pattern format").
    const auto slash = line.find('/');
    if (slash == std::string::npos)
      line = "**/" + line;
    else if (slash == 0)
      line.erase(0, 1);
    out.push_back(std::move(line));
  }
  return out;
}

bool is_ignored(const pending& at, const std::string& path, const std::string& name) {
  return name == ".git" || files::is_scratch_name(name) ||
         std::any_of(at.ignored.begin(), at.ignored.end(), [&](const auto& p) {
           return matches_pattern(p.second, std::string_view(path).substr(p.first));
         });
}

/// How good a match is; smaller is better. Nothing: none.
std::optional<int> rank(const std::string& path, const std::string& name,
                        const std::string& query) {
  const auto in_name = lower(name).find(query);
  if (in_name == 0)
    return 0;
  if (in_name != std::string::npos)
    return 1;
  return lower(path).find(query) != std::string::npos ? std::optional(2) : std::nullopt;
}

} // namespace

std::vector<found_file> search_files(const served_folders& in, const std::string& folder,
                                     const std::string& query, const search_bounds& bounds) {
  struct match {
    int rank;
    std::size_t depth;
    found_file what;
  };
  const auto deadline = std::chrono::steady_clock::now() + bounds.longest;
  const auto wanted = lower(query);
  std::vector<match> matches;
  std::size_t seen = 0;
  std::deque<pending> to_do{{}};
  while (!to_do.empty() && seen < bounds.most_seen && std::chrono::steady_clock::now() < deadline) {
    auto at = std::move(to_do.front());
    to_do.pop_front();
    const auto found = in.find(folder + "/" + at.path, served_folders::last_link::keep);
    const auto* where = std::get_if<spot>(&found);
    if (!where)
      continue;
    const descriptor open(::openat(where->folder.get(), where->name.c_str(),
                                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!open)
      continue;
    for (auto& pattern : ignore_patterns(open.get()))
      at.ignored.emplace_back(at.path.size(), std::move(pattern));
    const auto depth = static_cast<std::size_t>(std::count(at.path.begin(), at.path.end(), '/'));
    files::for_each_name(open.get(), [&](const std::string& name) {
      const auto path = at.path + name;
      const auto s = files::stat_of(open.get(), name);
      if (!s || is_ignored(at, path, name))
        return true;
      const bool is_folder = S_ISDIR(s->st_mode);
      if (const auto good = rank(path, name, wanted))
        matches.push_back({*good, depth, {path, is_folder}});
      if (is_folder)
        to_do.push_back({path + "/", at.ignored});
      return ++seen < bounds.most_seen;
    });
  }
  std::sort(matches.begin(), matches.end(), [](const match& a, const match& b) {
    return std::tie(a.rank, a.depth, a.what.name) < std::tie(b.rank, b.depth, b.what.name);
  });
  std::vector<found_file> out;
  for (auto& m : matches)
    if (out.size() < bounds.most_found)
      out.push_back(std::move(m.what));
  return out;
}

} // namespace ahpd::runtimes
