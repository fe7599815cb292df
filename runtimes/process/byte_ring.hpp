#pragma once

#include "runtimes/exec.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ahpd::process {

/// The last bytes of a stream, each at its offset from the stream's first byte.
///
/// Memory grows with what was written, up to the bound. Not thread-safe.
class byte_ring {
public:
  /// Keeps at most `bound` bytes; with 0 it only counts.
  explicit byte_ring(std::size_t bound) : bound_(bound) {}

  /// Adds bytes and gives how many older ones (or of these, their first) it no longer keeps.
  std::uint64_t append(std::string_view bytes);

  /// Keeps nothing of what it has, and from now on only counts.
  void forget();

  /// At most `most` bytes from `offset` on, or from the oldest kept one when that was evicted.
  runtimes::chunk read(std::uint64_t offset, std::size_t most = SIZE_MAX) const;

  std::uint64_t begin() const { return end_ - size_; }   ///< offset of the oldest kept byte
  std::uint64_t end() const { return end_; }             ///< offset behind the newest
  std::size_t capacity() const { return store_.size(); } ///< bytes of memory in use

private:
  void reserve(std::size_t wanted);
  void put(std::string_view bytes);

  std::size_t bound_;
  std::vector<char> store_;
  std::size_t first_ = 0; ///< where the oldest byte lies in `store_`
  std::size_t size_ = 0;
  std::uint64_t end_ = 0;
};

} // namespace ahpd::process
