#include "runtimes/process/byte_ring.hpp"

#include <algorithm>
#include <cstring>

namespace ahpd::process {

namespace {

constexpr std::size_t smallest_store = 4096;

} // namespace

std::uint64_t byte_ring::append(std::string_view bytes) {
  const std::uint64_t before = begin();
  end_ += bytes.size();
  if (bytes.size() >= bound_) {
    bytes.remove_prefix(bytes.size() - bound_);
    size_ = first_ = 0;
  }
  reserve(std::min(bound_, size_ + bytes.size()));
  put(bytes);
  return begin() - before;
}

void byte_ring::forget() {
  bound_ = first_ = size_ = 0;
  std::vector<char>().swap(store_);
}

runtimes::chunk byte_ring::read(std::uint64_t offset, std::size_t most) const {
  runtimes::chunk out;
  out.offset = std::clamp(offset, begin(), end_);
  out.end = end_;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(most, end_ - out.offset));
  if (count == 0)
    return out;
  const std::size_t at = (first_ + static_cast<std::size_t>(out.offset - begin())) % store_.size();
  const std::size_t run = std::min(count, store_.size() - at);
  out.bytes.reserve(count);
  out.bytes.append(store_.data() + at, run);
  out.bytes.append(store_.data(), count - run);
  return out;
}

/// Makes room for `wanted` bytes in all, doubling so that many small appends stay cheap.
void byte_ring::reserve(std::size_t wanted) {
  if (wanted <= store_.size())
    return;
  const std::size_t doubled = std::max({wanted, store_.size() * 2, smallest_store});
  std::vector<char> larger(std::min(bound_, doubled));
  const std::size_t run = std::min(size_, store_.size() - first_);
  if (run > 0)
    std::memcpy(larger.data(), store_.data() + first_, run);
  if (size_ > run)
    std::memcpy(larger.data() + run, store_.data(), size_ - run);
  store_.swap(larger);
  first_ = 0;
}

/// Writes behind the newest byte, over the oldest ones where it is full.
void byte_ring::put(std::string_view bytes) {
  if (bytes.empty())
    return;
  const std::size_t at = (first_ + size_) % store_.size();
  const std::size_t run = std::min(bytes.size(), store_.size() - at);
  std::memcpy(store_.data() + at, bytes.data(), run);
  if (bytes.size() > run)
    std::memcpy(store_.data(), bytes.data() + run, bytes.size() - run);
  const std::size_t kept = std::min(store_.size(), size_ + bytes.size());
  first_ = (first_ + size_ + bytes.size() - kept) % store_.size();
  size_ = kept;
}

} // namespace ahpd::process
