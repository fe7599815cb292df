#include "runtimes/host/served_folders.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ahpd::runtimes {

namespace {

using process::descriptor;

constexpr int most_links = 40;            ///< on one way, as Linux has it
constexpr std::size_t deepest_path = 128; ///< folders below the served one; each is a descriptor

/// Whether `path` is `folder` or in it.
bool covers(std::string_view folder, std::string_view path) {
  return path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || folder == "/" || path[folder.size()] == '/');
}

std::deque<std::string> names_of(std::string_view path) {
  std::deque<std::string> out;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    if (slash > 0 && path.substr(0, slash) != ".")
      out.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return out;
}

template <class Names> std::string joined(const Names& names) {
  std::string out;
  for (const auto& name : names)
    out += "/" + name;
  return out;
}

std::string without_dots(std::string_view path) {
  std::vector<std::string> kept;
  for (auto& name : names_of(path))
    if (name != "..")
      kept.push_back(std::move(name));
    else if (!kept.empty())
      kept.pop_back();
  return kept.empty() ? "/" : joined(kept);
}

/// What a link says, or nothing when the name is no link.
std::optional<std::string> link_target(int folder, const std::string& name) {
  std::array<char, PATH_MAX> text{};
  const auto size = ::readlinkat(folder, name.c_str(), text.data(), text.size());
  if (size < 0)
    return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(size));
}

std::optional<std::string> real_path(const std::string& folder) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.c_str(), nullptr),
                                                         &std::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

} // namespace

file_refusal refused_by_system(int error, std::string path) {
  switch (error) {
  case ENOENT:
    return {file_fault::not_there, std::move(path), "is not there"};
  case ENOTDIR:
    return {file_fault::not_there, std::move(path), "is not there: a part of it is not a folder"};
  case ELOOP:
    return {file_fault::not_there, std::move(path), "is a link, or became one meanwhile"};
  case EACCES:
  case EPERM:
  case EROFS:
    return {file_fault::denied, std::move(path),
            std::string("is closed to this host: ") + std::strerror(error)};
  case EEXIST:
  case ENOTEMPTY:
    return {file_fault::taken, std::move(path), "is there already"};
  case ENAMETOOLONG:
    return {file_fault::wrong, std::move(path), "has too long a name"};
  default:
    return {file_fault::failed, std::move(path),
            std::string("could not be reached: ") + std::strerror(error)};
  }
}

served_folders::served_folders(const std::vector<std::string>& folders) {
  std::vector<std::string> real;
  for (const auto& folder : folders)
    if (auto found = real_path(folder)) {
      spellings_.push_back({without_dots(folder), *found});
      real.push_back(std::move(*found));
    }
  // A folder in another one is reached through that: whoever may write there could move it.
  for (const auto& folder : real)
    if (std::none_of(real.begin(), real.end(),
                     [&](const auto& other) { return other != folder && covers(other, folder); }))
      roots_.push_back(folder);
  std::sort(spellings_.begin(), spellings_.end(),
            [](const auto& a, const auto& b) { return a.written.size() > b.written.size(); });
}

std::unique_lock<std::mutex> served_folders::changing(const std::string& path) const {
  return std::unique_lock(changes_.at(std::hash<std::string>{}(path) % changes_.size()));
}

/// One way through the folders. `open` has the descriptor of each folder entered, the served one
/// first; `names` has their names but for that.
struct served_folders::walk {
  const served_folders& in;
  const std::string& asked;
  std::vector<descriptor> open = {};
  std::vector<std::string> names = {};
  std::deque<std::string> rest = {};
  std::string root = {};
  int links = 0;

  file_refusal refuse(int error) const { return refused_by_system(error, asked); }

  std::string here() const {
    const auto below = joined(names);
    return root == "/" && !below.empty() ? below : root + below;
  }

  /// Starts at the served folder that an absolute path is in.
  std::optional<file_refusal> enter(std::string path) {
    for (const auto& known : in.spellings_)
      if (covers(known.written, path)) {
        path = known.real + "/" + path.substr(known.written.size());
        break;
      }
    const auto found = std::find_if(in.roots_.begin(), in.roots_.end(),
                                    [&](const auto& r) { return covers(r, path); });
    if (found == in.roots_.end())
      return file_refusal{file_fault::outside, asked, "is in no folder that this host serves"};
    root = *found;
    names.clear();
    open.clear();
    rest = names_of(std::string_view(path).substr(root.size()));
    open.emplace_back(::open(root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return open.back() ? std::nullopt : std::optional(refuse(errno));
  }

  std::optional<file_refusal> go_up() {
    if (names.empty()) // out of the served folder, perhaps into another one
      return enter(without_dots(root + "/..") + joined(rest));
    names.pop_back();
    open.pop_back();
    return std::nullopt;
  }

  std::optional<file_refusal> follow(const std::string& target) {
    if (++links > most_links)
      return file_refusal{file_fault::wrong, asked, "goes over too many links"};
    if (!target.empty() && target.front() == '/')
      return enter(target + joined(rest));
    auto first = names_of(target);
    rest.insert(rest.begin(), first.begin(), first.end());
    return std::nullopt;
  }

  std::optional<file_refusal> go_down(std::string name, parents missing) {
    constexpr int how = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int top = open.back().get();
    descriptor next(::openat(top, name.c_str(), how));
    if (!next && errno == ENOENT && missing == parents::made) {
      if (::mkdirat(top, name.c_str(), 0777) != 0 && errno != EEXIST)
        return refuse(errno);
      next = descriptor(::openat(top, name.c_str(), how));
    }
    if (!next && errno == ENOTDIR && missing == parents::made)
      return file_refusal{file_fault::taken, asked, "goes through something that is no folder"};
    if (!next)
      return refuse(errno);
    if (names.size() == deepest_path)
      return file_refusal{file_fault::wrong, asked,
                          "is deeper than " + std::to_string(deepest_path) + " folders"};
    names.push_back(std::move(name));
    open.push_back(std::move(next));
    return std::nullopt;
  }

  spot at(std::string name) {
    auto path = here() + (here() == "/" ? "" : "/") + name;
    return {std::move(open.back()), std::move(name), std::move(path), false};
  }

  /// The folder that the way ended in.
  spot at_folder() {
    if (names.empty())
      return {std::move(open.back()), ".", root, true};
    auto name = std::move(names.back());
    names.pop_back();
    open.pop_back();
    return at(std::move(name));
  }
};

file_outcome<spot> served_folders::find(std::string_view path, last_link last,
                                        parents missing) const {
  const std::string asked(path);
  walk way{*this, asked};
  auto no = way.enter(without_dots(path));
  while (!no && !way.rest.empty()) {
    auto name = std::move(way.rest.front());
    way.rest.pop_front();
    const bool is_last = way.rest.empty();
    if (name == "..") {
      no = way.go_up();
      continue;
    }
    if (is_last && last == last_link::keep)
      return way.at(std::move(name));
    if (const auto target = link_target(way.open.back().get(), name))
      no = way.follow(*target);
    else if (is_last)
      return way.at(std::move(name));
    else
      no = way.go_down(std::move(name), missing);
  }
  if (no)
    return std::move(*no);
  return way.at_folder();
}

} // namespace ahpd::runtimes
