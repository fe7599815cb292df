#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace ahpd::core {

/// Every frame of every connection as a line of JSON in a file, for whoever wants to see what
/// clients say (`--wire`). A line is the frame with one more member, `_ahpLog`: time, connection
/// and direction. Callable from any thread; a failed write is dropped, for the log must not stop
/// the hub.
class wire_log {
public:
  /// Opens or makes the file (0600). Past `roll_bytes` it becomes `<path>.1` and a new one begins.
  /// Throws std::runtime_error with a sentence that names the file.
  explicit wire_log(std::string path, std::uint64_t roll_bytes = 75u << 20);
  ~wire_log();
  wire_log(const wire_log&) = delete;
  wire_log& operator=(const wire_log&) = delete;

  void in(std::uint64_t connection, std::string_view frame) { write(connection, "in", frame); }
  void out(std::uint64_t connection, std::string_view frame) { write(connection, "out", frame); }

private:
  void open();
  void write(std::uint64_t connection, const char* direction, std::string_view frame);

  std::mutex guard_;
  std::string path_;
  std::uint64_t roll_bytes_;
  std::uint64_t bytes_ = 0;
  std::FILE* file_ = nullptr;
};

} // namespace ahpd::core
