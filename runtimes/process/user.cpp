#include "runtimes/process/user.hpp"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <charconv>
#include <system_error>

namespace ahpd::process {

namespace {

constexpr std::size_t largest_entry = 1u << 20;
constexpr int most_groups = 65536; ///< the kernel's own limit

/// Calls one of the `getpw*_r` functions with a buffer that grows until the entry fits.
template <class Look>
int look_up(Look look, std::vector<char>& text, passwd& entry, passwd*& found) {
  int error = ERANGE;
  for (std::size_t size = 1024; error == ERANGE && size <= largest_entry; size *= 4) {
    text.resize(size);
    do
      error = look(&entry, text.data(), text.size(), &found);
    while (error == EINTR);
  }
  return error;
}

std::optional<std::vector<gid_t>> groups_of(const passwd& entry) {
  int count = 64;
  std::vector<gid_t> out(static_cast<std::size_t>(count));
  while (::getgrouplist(entry.pw_name, entry.pw_gid, out.data(), &count) < 0) {
    if (out.size() >= most_groups)
      return std::nullopt;
    count = std::min(most_groups, std::max(count, static_cast<int>(out.size() * 2)));
    out.resize(static_cast<std::size_t>(count));
  }
  out.resize(static_cast<std::size_t>(count));
  return out;
}

} // namespace

user_result find_user(const std::string& name_or_id) {
  std::vector<char> text;
  passwd entry{};
  passwd* found = nullptr;
  int error = look_up([&](auto... rest) { return ::getpwnam_r(name_or_id.c_str(), rest...); }, text,
                      entry, found);
  uid_t id = 0;
  const char* const end = name_or_id.data() + name_or_id.size();
  const auto number = std::from_chars(name_or_id.data(), end, id);
  if (!found && number.ec == std::errc() && number.ptr == end)
    error = look_up([&](auto... rest) { return ::getpwuid_r(id, rest...); }, text, entry, found);
  const bool absent = error == 0 || error == ENOENT || error == ESRCH;
  if (!found && absent)
    return {std::nullopt, "there is no user '" + name_or_id + "' on this host"};
  if (!found)
    return {std::nullopt, "the user '" + name_or_id +
                            "' could not be looked up: " + std::generic_category().message(error)};
  auto groups = groups_of(entry);
  if (!groups)
    return {std::nullopt, "the user '" + name_or_id + "' is in too many groups"};
  return {user{entry.pw_name,
               entry.pw_dir,
               entry.pw_shell,
               {entry.pw_uid, entry.pw_gid, std::move(*groups)}},
          {}};
}

} // namespace ahpd::process
