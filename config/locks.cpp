#include "config/daemon_record.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace ahpd::config {

namespace {

int open_lock(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    throw std::runtime_error(path + " could not be opened: " + std::strerror(errno));
  return file;
}

} // namespace

launch_lock::launch_lock(const std::string& directory)
    : file_(open_lock(directory + "/launch.lock")) {
  while (::flock(file_, LOCK_EX) != 0) {
    if (errno == EINTR)
      continue;
    const int error_number = errno;
    ::close(file_);
    throw std::runtime_error(directory +
                             "/launch.lock could not be locked: " + std::strerror(error_number));
  }
}

launch_lock::~launch_lock() {
  ::close(file_);
}

directory_lock::directory_lock(const std::string& directory) {
  const std::string path = directory + "/ahpd.lock";
  file_ = open_lock(path);
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const int error_number = errno;
    char text[32]{};
    const auto size = ::pread(file_, text, sizeof text - 1, 0);
    ::close(file_);
    if (error_number != EWOULDBLOCK)
      throw std::runtime_error(path + " could not be locked: " + std::strerror(error_number));
    const std::string pid(text, std::strcspn(text, "\n"));
    throw std::runtime_error("Another ahpd" + (size > 0 ? " (pid " + pid + ")" : std::string()) +
                             " keeps its sessions in " + directory +
                             "; stop it, or pass --sessions memory");
  }
  const std::string pid = std::to_string(::getpid()) + '\n';
  if (::ftruncate(file_, 0) != 0 ||
      ::pwrite(file_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    const int error_number = errno;
    ::close(file_);
    throw std::runtime_error(path + " could not be written: " + std::strerror(error_number));
  }
}

directory_lock::~directory_lock() {
  ::close(file_);
}

} // namespace ahpd::config
