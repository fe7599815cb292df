#include "config/files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ahpd::config {

namespace fs = std::filesystem;

namespace {

class descriptor {
public:
  explicit descriptor(int number) : number_(number) {}
  ~descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int number() const { return number_; }

private:
  int number_;
};

[[noreturn]] void fail(const std::string& path, const char* what, int error_number) {
  const char* name = strerrorname_np(error_number);
  throw file_error(path + ' ' + what + ": " + (name ? name : "errno") + ": " +
                     std::strerror(error_number),
                   error_number);
}

/// A file beside `path` that goes when it was not given its name.
class draft {
public:
  draft(const std::string& path, std::string_view text)
      : path_(path), name_(path + '.' + std::to_string(::getpid()) + ".tmp") {
    ::unlink(name_.c_str()); // of a dead process that had our number
    const descriptor file(
      ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.number() < 0)
      fail();
    for (std::size_t done = 0; done < text.size();) {
      const auto n = ::write(file.number(), text.data() + done, text.size() - done);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        fail();
      done += static_cast<std::size_t>(n);
    }
    if (::fsync(file.number()) != 0)
      fail();
  }
  ~draft() { ::unlink(name_.c_str()); }
  draft(const draft&) = delete;
  draft& operator=(const draft&) = delete;

  const char* name() const { return name_.c_str(); }

  [[noreturn]] void fail() const {
    const int error_number = errno;
    ::unlink(name_.c_str());
    config::fail(path_, "could not be written", error_number);
  }

private:
  std::string path_;
  std::string name_;
};

void sync_directory_of(const std::string& path) {
  const std::string directory = fs::path(path).parent_path().string();
  const descriptor folder(
    ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number() < 0 || ::fsync(folder.number()) != 0)
    fail(path, "could not be made durable", errno);
}

} // namespace

std::string read_whole(const std::string& path, std::size_t most) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0)
    fail(path, "could not be read", errno);
  std::string out;
  char block[16384];
  for (;;) {
    const auto n = ::read(file.number(), block, sizeof block);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      fail(path, "could not be read", errno);
    if (n == 0)
      return out;
    if (out.size() + static_cast<std::size_t>(n) > most)
      throw file_error(path + " is larger than " + std::to_string(most) + " bytes", EFBIG);
    out.append(block, static_cast<std::size_t>(n));
  }
}

bool is_absent(const std::string& path) {
  return ::access(path.c_str(), F_OK) != 0 && errno == ENOENT;
}

void write_whole(const std::string& path, std::string_view text) {
  const draft written(path, text);
  if (::rename(written.name(), path.c_str()) != 0)
    written.fail();
  sync_directory_of(path);
}

bool create_whole(const std::string& path, std::string_view text) {
  const draft written(path, text);
  if (::link(written.name(), path.c_str()) != 0) {
    if (errno == EEXIST)
      return false;
    written.fail();
  }
  sync_directory_of(path);
  return true;
}

void make_private_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0)
    return;
  if (errno == ENOENT && fs::path(path).has_relative_path()) {
    make_private_directory(fs::path(path).parent_path().string());
    if (::mkdir(path.c_str(), 0700) == 0)
      return;
  }
  const int error_number = errno;
  struct stat st {};
  if (error_number != EEXIST)
    fail(path, "could not be made", error_number);
  if (::stat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode))
    fail(path, "could not be made", ENOTDIR);
}

std::string absolute_path(const std::string& path, const std::string& base) {
  auto out = (fs::path(base) / path).lexically_normal().string();
  while (out.size() > 1 && out.back() == '/')
    out.pop_back();
  return out;
}

} // namespace ahpd::config
