#include "config/process_id.hpp"

#include "config/files.hpp"

#include <sstream>

namespace ahpd::config {

namespace {

constexpr std::size_t most_bytes = 8192;

} // namespace

std::string start_of(pid_t pid) {
  try {
    const auto stat = read_whole("/proc/" + std::to_string(pid) + "/stat", most_bytes);
    // The name, in parentheses, may hold anything; the state is field 3 and the start field 22.
    std::istringstream fields(stat.substr(stat.rfind(')') + 1));
    std::string field;
    fields >> field;
    if (field == "Z" || field == "X")
      return {};
    for (int n = 4; n <= 22; ++n)
      fields >> field;
    const auto boot = read_whole("/proc/sys/kernel/random/boot_id", most_bytes);
    return field + '@' + boot.substr(0, boot.find('\n'));
  } catch (const file_error&) {
    return {};
  }
}

} // namespace ahpd::config
