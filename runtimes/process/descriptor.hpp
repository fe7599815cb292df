#pragma once

#include <unistd.h>

#include <utility>

namespace ahpd::process {

/// Owns one file descriptor.
class descriptor {
public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  ~descriptor() { reset(); }
  descriptor(descriptor&& other) noexcept : number_(other.release()) {}
  descriptor& operator=(descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = other.release();
    }
    return *this;
  }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

  /// Hands the descriptor over; the caller closes it.
  int release() { return std::exchange(number_, -1); }

  void reset() {
    if (number_ >= 0)
      ::close(release());
  }

private:
  int number_ = -1;
};

} // namespace ahpd::process
