#pragma once

#include "protocol/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ahpd::jsonrpc {

/// Reads the members of a request's params and remembers the first that is wrong, as a sentence that
/// names it and what was expected. JSON null counts as absent. Readers give an empty value for a wrong
/// member, so a handler reads all it needs and asks for `problem` once.
class params {
public:
  explicit params(const json::object& from) : from_(from) {}

  std::string text(std::string_view key); ///< required, not empty
  std::optional<std::string> text_if(std::string_view key);
  std::optional<std::uint64_t> count_if(std::string_view key); ///< a whole number, 0 or more
  bool flag_if(std::string_view key); ///< absent: false
  const json::object* object_if(std::string_view key);
  const json::array* array_if(std::string_view key);

  /// Empty when every member read so far was right.
  const std::string& problem() const { return problem_; }

private:
  const json::value* find(std::string_view key) const;
  void wrong(std::string_view key, std::string_view expected);

  const json::object& from_;
  std::string problem_;
};

} // namespace ahpd::jsonrpc
