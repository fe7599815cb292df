#pragma once

#include "runtimes/process/byte_ring.hpp"

#include <mutex>
#include <string_view>

namespace ahpd::process {

/// Both output streams of a program, written on its strand and read from any thread.
class outputs {
public:
  /// With `wait` its writer is to stop when `full` says so.
  outputs(std::size_t keep, bool wait)
      : most_unread_(wait ? keep / 2 : SIZE_MAX), rings_{byte_ring(keep), byte_ring(keep)} {}

  /// Adds bytes; true when the owner is to be told that there is something new.
  bool append(runtimes::output which, std::string_view bytes);

  /// As `running::read`: from now on the owner is told again.
  runtimes::chunk read(runtimes::output which, std::uint64_t offset, std::size_t most);

  /// Whether so much has not been read that the writer must wait; `room` then says when it is over.
  bool full(runtimes::output which);

  /// Keeps nothing from now on, and forgets what it has.
  void discard();

  /// True once after `full` said true and enough was read since: the writer is to go on.
  bool room(runtimes::output which);

private:
  std::uint64_t unread(std::size_t which) const { return rings_[which].end() - read_to_[which]; }

  const std::size_t most_unread_;
  std::mutex mutex_;
  byte_ring rings_[2];
  std::uint64_t read_to_[2] = {0, 0}; ///< offset behind the last byte that was read
  bool waiting_[2] = {false, false};  ///< its writer was told that it is full
  bool told_ = false;
};

} // namespace ahpd::process
