#include "protocol/jsonrpc/params.hpp"

namespace ahpd::jsonrpc {

const json::value* params::find(std::string_view key) const {
  const auto* found = from_.if_contains(key);
  return found && !found->is_null() ? found : nullptr;
}

void params::wrong(std::string_view key, std::string_view expected) {
  if (problem_.empty())
    problem_ = std::string(key) + " must be " + std::string(expected);
}

std::string params::text(std::string_view key) {
  auto found = text_if(key);
  if (!found || found->empty())
    wrong(key, "a string");
  return found.value_or("");
}

std::optional<std::string> params::text_if(std::string_view key) {
  const auto* found = find(key);
  if (!found)
    return std::nullopt;
  if (!found->is_string()) {
    wrong(key, "a string");
    return std::nullopt;
  }
  return std::string(found->get_string());
}

std::optional<std::uint64_t> params::count_if(std::string_view key) {
  const auto* found = find(key);
  if (!found)
    return std::nullopt;
  if (found->is_uint64())
    return found->get_uint64();
  if (found->is_int64() && found->get_int64() >= 0)
    return static_cast<std::uint64_t>(found->get_int64());
  wrong(key, "a whole number, 0 or more");
  return std::nullopt;
}

bool params::flag_if(std::string_view key) {
  const auto* found = find(key);
  if (!found)
    return false;
  if (!found->is_bool())
    wrong(key, "true or false");
  return found->is_bool() && found->get_bool();
}

const json::object* params::object_if(std::string_view key) {
  const auto* found = find(key);
  if (found && !found->is_object())
    wrong(key, "an object");
  return found ? found->if_object() : nullptr;
}

const json::array* params::array_if(std::string_view key) {
  const auto* found = find(key);
  if (found && !found->is_array())
    wrong(key, "an array");
  return found ? found->if_array() : nullptr;
}

} // namespace ahpd::jsonrpc
