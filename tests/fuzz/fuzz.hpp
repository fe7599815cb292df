#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

/// What the fuzz targets share. Each is one source with `take`, which must hold what it promises
/// for any bytes: no exception, no fault of a sanitizer, nothing that `must` denies.
namespace ahpd::fuzz {

void take(std::string_view bytes);

inline void must(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

/// The part before the next `end`; `text` is what follows.
inline std::string_view cut(std::string_view& text, char end) {
  const auto at = text.find(end);
  const auto part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

} // namespace ahpd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ahpd::fuzz::take({reinterpret_cast<const char*>(data), size});
  return 0;
}
