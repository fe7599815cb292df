#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// Tar archives (POSIX.1-2017 pax and ustar; GNU's long names are read, too), piece by piece.
namespace ahpd::aio {

enum class tar_kind : std::uint8_t { file, folder, link, hard_link };

struct tar_member {
  tar_kind kind = tar_kind::file;
  std::string path;       ///< any bytes but NUL
  std::string target;     ///< of a link
  std::uint64_t size = 0; ///< of a file
  unsigned mode = 0644;
  std::int64_t modified = 0; ///< Unix seconds
};

/// What stands before a member's content.
std::string tar_header(const tar_member& what);

/// What stands behind a content of that size.
std::string tar_padding(std::uint64_t size);

/// What stands behind the last member.
std::string tar_end();

/// Reads an archive as it comes, in memory of a fixed size.
class tar_reader {
public:
  struct listener {
    std::function<void(tar_member)> begin;
    std::function<void(std::string_view)> data; ///< of the file that began
  };

  explicit tar_reader(listener to) : to_(std::move(to)) {}

  /// The next bytes; calls the listener, whose exceptions pass. Gives a sentence when this is no
  /// archive that can be read, and nothing else.
  std::string feed(std::string_view bytes);

  /// Whether the archive may end here.
  bool is_complete() const {
    return at_ == state::done || (begun_ && at_ == state::header && buffer_.empty());
  }

private:
  enum class state : std::uint8_t { header, extension, data, padding, done };

  void take_header();
  void take_extension();
  void fail(std::string why);
  void begin(char type);

  const listener to_;
  state at_ = state::header;
  std::string why_;
  std::string buffer_;
  std::uint64_t left_ = 0; ///< bytes of what is being read
  std::uint64_t padding_ = 0;
  bool begun_ = false;
  char extension_ = 0; ///< the type of the extension that is being read
  tar_member next_;
  std::optional<std::string> path_;   ///< of extensions, for the next member
  std::optional<std::string> target_; ///< the same
  std::optional<std::uint64_t> size_; ///< the same
};

/// A member's path without `.` and doubled slashes; empty for the top. Nothing for one that is
/// absolute or has `..` in it.
std::optional<std::string> inner_path(std::string_view path);

/// Whether a link at that inner path stays inside: it is relative and goes up, at its beginning
/// alone, no further than to the top.
bool stays_inside(std::string_view path, std::string_view target);

} // namespace ahpd::aio
