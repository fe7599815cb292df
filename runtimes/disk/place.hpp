#pragma once

#include "runtimes/disk/fault.hpp"
#include "runtimes/process/descriptor.hpp"

#include <optional>
#include <string>

#include <sys/types.h>

namespace ahpd::disk {

/// Whose what is made becomes.
struct owner {
  uid_t uid = 0;
  gid_t gid = 0;
};
using maybe_owner = std::optional<owner>; ///< none: whoever runs this process

/// Where something is or can be: the folder that holds it, by descriptor, and its name in there,
/// which calls that follow no link are given. So whatever is put in its place meanwhile, nothing
/// outside of that folder is touched.
struct place {
  process::descriptor folder; ///< O_PATH
  std::string name;
};

enum class last_link : std::uint8_t { follow, keep };

/// The place of a path, whose last name may be absent. A path that ends in a folder as such ("/",
/// "." or "..") has none: EINVAL.
place find_place(const std::string& path, last_link last);

/// The same; folders on the way that are not there are made.
place make_place(const std::string& path, last_link last, const maybe_owner& whose);

/// Makes a folder and those it is in. False: it was there.
bool make_folders(const std::string& path, const maybe_owner& whose);

/// Gives an open file or folder (O_PATH does) to its owner.
void give(int file, const maybe_owner& whose, const std::string& path);

/// What has the same path, whoever spells it: the folder's identity and the name.
std::string key_of(const place& at);

} // namespace ahpd::disk
