#include "tools/ahpd/print.hpp"

#include <cerrno>
#include <string>

#include <unistd.h>

namespace ahpd::cli {

namespace {

void write_to(int file, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return; // nobody reads it any more
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

} // namespace

void print(std::string_view text) {
  write_to(1, text);
}

void say(std::string_view sentence) {
  write_to(2, std::string(sentence) + '\n');
}

} // namespace ahpd::cli
