#pragma once

#include <cerrno>
#include <exception>
#include <string>
#include <utility>

/// Files of the whole machine, as whoever runs this process may reach them: no folder is out of
/// bounds here, and links lead where the kernel says. Paths are any bytes but NUL; a relative one
/// is below the process's own directory. Calls block: they belong on a pool for that.
namespace ahpd::disk {

/// What a fault without an errno is about.
enum class fault_kind : std::uint8_t {
  system,      ///< `fault::error` says it
  bad_request, ///< what was asked for cannot be done
  bad_path,    ///< it can be no path
  bad_target,  ///< not with what has the path
  not_text,    ///< the content is no UTF-8
  changed,     ///< it is not any more what it was when this began
  too_large,   ///< over a bound of this program
};

/// Why something was not done. Everything here throws it.
class fault : public std::exception {
public:
  fault(int error, std::string path) : error_(error), path_(std::move(path)) {}
  fault(fault_kind kind, std::string why, std::string path)
      : kind_(kind), path_(std::move(path)), why_(std::move(why)) {}

  fault_kind kind() const { return kind_; }
  int error() const { return error_; }              ///< errno; 0: `why` says it
  const std::string& path() const { return path_; } ///< any bytes
  const std::string& why() const { return why_; }   ///< a sentence; empty with an errno
  const char* what() const noexcept override { return why_.c_str(); }

private:
  fault_kind kind_ = fault_kind::system;
  int error_ = 0;
  std::string path_;
  std::string why_;
};

} // namespace ahpd::disk
