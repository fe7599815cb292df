#pragma once

#include "runtimes/process/user.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::process {

/// The accounts of this machine as /etc/passwd and /etc/group list them, without the name service's
/// plugins, which a static program cannot load. Read again when a file has changed. Any thread; a
/// look costs two stats.
class accounts {
public:
  explicit accounts(std::string passwd = "/etc/passwd", std::string group = "/etc/group");

  /// By name or decimal id, with all groups. A decimal id that has no account is none.
  std::optional<user> find(const std::string& name_or_id) const;
  std::optional<user> find(uid_t id) const;

private:
  struct table {
    std::vector<user> users;
    std::string version; ///< of both files
  };
  std::shared_ptr<const table> now() const;

  const std::string passwd_;
  const std::string group_;
  mutable std::mutex guard_;
  mutable std::shared_ptr<const table> table_;
};

} // namespace ahpd::process
