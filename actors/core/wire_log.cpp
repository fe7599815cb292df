#include "actors/core/wire_log.hpp"

#include "actors/core/clock.hpp"
#include "protocol/ahp/time.hpp"
#include "protocol/json.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ahpd::core {

wire_log::wire_log(std::string path, std::uint64_t roll_bytes)
    : path_(std::move(path)), roll_bytes_(roll_bytes) {
  open();
  if (!file_)
    throw std::runtime_error(path_ + " cannot be written: " + std::strerror(errno));
}

wire_log::~wire_log() {
  if (file_)
    std::fclose(file_);
}

void wire_log::open() {
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  file_ = fd < 0 ? nullptr : ::fdopen(fd, "a");
  struct stat info {};
  bytes_ = fd >= 0 && ::fstat(fd, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

void wire_log::write(std::uint64_t connection, const char* direction, std::string_view frame) {
  std::string line = R"({"_ahpLog":{"time":")" + ahp::iso8601(now_ms()) + R"(","connection":)" +
                     std::to_string(connection) + R"(,"direction":")" + direction + "\"}";
  // A frame is one line of JSON as it is; what is none is kept as text.
  std::string ignored;
  const auto parsed = json::parse_text(frame, 100, ignored);
  const auto* object = parsed ? parsed->if_object() : nullptr;
  const auto text = object ? json::serialize(*object) : std::string{};
  if (!object)
    line += ",\"text\":" + json::serialize(json::string(frame)) + '}';
  else
    line += object->empty() ? "}" : "," + text.substr(1);
  line += '\n';

  std::lock_guard lock(guard_);
  if (file_ && bytes_ + line.size() > roll_bytes_) {
    std::fclose(file_);
    std::rename(path_.c_str(), (path_ + ".1").c_str());
    open();
  }
  if (!file_)
    return;
  bytes_ += std::fwrite(line.data(), 1, line.size(), file_);
  std::fflush(file_);
}

} // namespace ahpd::core
