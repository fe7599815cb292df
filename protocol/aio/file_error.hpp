#pragma once

#include "protocol/json.hpp"

#include <string>
#include <string_view>

/// What an answer says of a file operation that was not done (spec 8.6).
namespace ahpd::aio {

/// The kinds of `error_type` that no errno stands for.
enum class file_problem : std::uint8_t {
  bad_request,
  bad_path,
  bad_target,
  not_text,
  changed,
  too_large
};

struct file_error {
  unsigned status = 500; ///< of version 2
  json::object data;     ///< the eight members
  std::string message;   ///< the same as in `data`
};

/// Of a call that the system refused. `doing` completes "Failed to": "read file".
file_error file_error_of(int error, std::string_view operation, std::string_view doing,
                         std::string_view path);

/// Of one that this program refused with a sentence.
file_error file_error_of(file_problem what, std::string_view why, std::string_view operation,
                         std::string_view path);

} // namespace ahpd::aio
