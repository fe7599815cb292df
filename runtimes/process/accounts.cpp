#include "runtimes/process/accounts.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>

namespace ahpd::process {

namespace {

constexpr std::size_t largest_entry = 1u << 20;

/// Calls `each` with every entry of a file; a line that is none is passed over.
template <class Entry, class Get, class Each>
void for_each_entry(const std::string& path, Get get, Each each) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  if (!file)
    return;
  std::vector<char> text(4096);
  Entry entry{};
  Entry* found = nullptr;
  for (;;) {
    const auto start = std::ftell(file.get());
    const int error = get(file.get(), &entry, text.data(), text.size(), &found);
    if (error == ERANGE && text.size() < largest_entry) {
      text.resize(text.size() * 4);
      std::fseek(file.get(), start, SEEK_SET);
    } else if (error != 0) {
      return;
    } else {
      each(*found);
    }
  }
}

std::string version_of(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0)
    return "-";
  return std::to_string(s.st_ino) + '.' + std::to_string(s.st_size) + '.' +
         std::to_string(s.st_mtim.tv_sec) + '.' + std::to_string(s.st_mtim.tv_nsec);
}

void join(std::vector<user>& users, const group& of) {
  for (char** name = of.gr_mem; name && *name; ++name)
    for (auto& each : users)
      if (each.name == *name && each.who.gid != of.gr_gid)
        each.who.groups.push_back(of.gr_gid);
}

} // namespace

accounts::accounts(std::string passwd, std::string group)
    : passwd_(std::move(passwd)), group_(std::move(group)) {}

std::optional<user> accounts::find(const std::string& name_or_id) const {
  const auto all = now();
  for (const auto& each : all->users)
    if (each.name == name_or_id)
      return each;
  uid_t id = 0;
  const char* const end = name_or_id.data() + name_or_id.size();
  const auto number = std::from_chars(name_or_id.data(), end, id);
  if (number.ec == std::errc() && number.ptr == end)
    return find(id);
  return std::nullopt;
}

std::optional<user> accounts::find(uid_t id) const {
  const auto all = now();
  for (const auto& each : all->users)
    if (each.who.uid == id)
      return each;
  return std::nullopt;
}

std::shared_ptr<const accounts::table> accounts::now() const {
  const auto version = version_of(passwd_) + ' ' + version_of(group_);
  const std::lock_guard hold(guard_);
  if (table_ && table_->version == version)
    return table_;
  auto read = std::make_shared<table>();
  read->version = version;
  for_each_entry<passwd>(passwd_, ::fgetpwent_r, [&](const passwd& each) {
    read->users.push_back(
      {each.pw_name, each.pw_dir, each.pw_shell, {each.pw_uid, each.pw_gid, {each.pw_gid}}});
  });
  for_each_entry<group>(group_, ::fgetgrent_r, [&](const group& each) { join(read->users, each); });
  table_ = std::move(read);
  return table_;
}

} // namespace ahpd::process
