#pragma once

#include "runtimes/process/byte_ring.hpp"

#include <mutex>
#include <string_view>

namespace ahpd::process {

/// Both output streams of a program, written on its strand and read from any thread.
class outputs {
public:
  explicit outputs(std::size_t keep) : rings_{byte_ring(keep), byte_ring(keep)} {}

  /// Adds bytes; true when the owner is to be told that there is something new.
  bool append(runtimes::output which, std::string_view bytes);

  /// As `running::read`: from now on the owner is told again.
  runtimes::chunk read(runtimes::output which, std::uint64_t offset, std::size_t most);

private:
  std::mutex mutex_;
  byte_ring rings_[2];
  bool told_ = false;
};

} // namespace ahpd::process
