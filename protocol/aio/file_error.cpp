#include "protocol/aio/file_error.hpp"

#include <cerrno>
#include <cstring>

namespace ahpd::aio {

namespace {

struct known_error {
  int number;
  std::string_view name;
  std::string_view type;
};

/// Those that a call on files can give; what is not here is an `io_error` without a name.
constexpr known_error known[] = {
  {ENOENT, "ENOENT", "not_found"},
  {EACCES, "EACCES", "permission_denied"},
  {EPERM, "EPERM", "permission_denied"},
  {EEXIST, "EEXIST", "already_exists"},
  {EISDIR, "EISDIR", "invalid_target"},
  {ENOTDIR, "ENOTDIR", "invalid_target"},
  {ENOTEMPTY, "ENOTEMPTY", "invalid_target"},
  {ENXIO, "ENXIO", "invalid_target"},
  {EINVAL, "EINVAL", "invalid_path"},
  {ENAMETOOLONG, "ENAMETOOLONG", "invalid_path"},
  {ELOOP, "ELOOP", "invalid_path"},
  {ENOSPC, "ENOSPC", "no_space_left"},
  {EDQUOT, "EDQUOT", "no_space_left"},
  {EROFS, "EROFS", "read_only_filesystem"},
  {E2BIG, "E2BIG", "io_error"},
  {EAGAIN, "EAGAIN", "io_error"},
  {EBUSY, "EBUSY", "io_error"},
  {EFBIG, "EFBIG", "io_error"},
  {EINTR, "EINTR", "io_error"},
  {EIO, "EIO", "io_error"},
  {EMFILE, "EMFILE", "io_error"},
  {EMLINK, "EMLINK", "io_error"},
  {ENFILE, "ENFILE", "io_error"},
  {ENODEV, "ENODEV", "io_error"},
  {ENOMEM, "ENOMEM", "io_error"},
  {ENOSYS, "ENOSYS", "io_error"},
  {EOPNOTSUPP, "EOPNOTSUPP", "io_error"},
  {EOVERFLOW, "EOVERFLOW", "io_error"},
  {ESTALE, "ESTALE", "io_error"},
  {ETIMEDOUT, "ETIMEDOUT", "io_error"},
  {ETXTBSY, "ETXTBSY", "io_error"},
  {EXDEV, "EXDEV", "io_error"},
};

struct known_type {
  std::string_view name;
  unsigned status;
  std::string_view exception;
};

constexpr known_type types[] = {
  {"not_found", 404, "FileNotFoundError"},     {"permission_denied", 403, "PermissionError"},
  {"already_exists", 409, "FileExistsError"},  {"bad_request", 400, "ValueError"},
  {"invalid_path", 400, "ValueError"},         {"invalid_target", 400, "ValueError"},
  {"decode_error", 422, "UnicodeDecodeError"}, {"no_space_left", 507, "OSError"},
  {"read_only_filesystem", 500, "OSError"},
};

known_type look_up(std::string_view type) {
  for (const auto& each : types)
    if (each.name == type)
      return each;
  return {type, 500, "OSError"};
}

bool may_succeed_later(int error) {
  return error == EAGAIN || error == EBUSY || error == EINTR || error == ETXTBSY || error == ESTALE;
}

file_error make(const known_type& type, const known_error* error, std::string message,
                std::string_view operation, std::string_view path) {
  file_error out{type.status, {}, std::move(message)};
  out.data["errno"] = error ? json::value(error->number) : json::value(nullptr);
  out.data["errno_name"] =
    error && !error->name.empty() ? json::value(error->name) : json::value(nullptr);
  out.data["error_type"] = type.name;
  out.data["exception_type"] = type.exception;
  out.data["message"] = out.message;
  out.data["operation"] = operation;
  out.data["path"] = path;
  out.data["retryable"] = error && may_succeed_later(error->number);
  return out;
}

} // namespace

file_error file_error_of(int error, std::string_view operation, std::string_view doing,
                         std::string_view path) {
  known_error what{error, {}, "io_error"};
  for (const auto& each : known)
    if (each.number == error)
      what = each;
  auto type = look_up(what.type);
  if (error == EISDIR)
    type.exception = "IsADirectoryError";
  if (error == ENOTDIR)
    type.exception = "NotADirectoryError";
  return make(type, &what,
              "Failed to " + std::string(doing) + ": " + std::strerror(error) + " (os error " +
                std::to_string(error) + ")",
              operation, path);
}

file_error file_error_of(file_problem what, std::string_view why, std::string_view operation,
                         std::string_view path) {
  auto type = look_up("bad_request");
  switch (what) {
  case file_problem::bad_request:
    break;
  case file_problem::bad_path:
    type = look_up("invalid_path");
    break;
  case file_problem::bad_target:
    type = look_up("invalid_target");
    break;
  case file_problem::not_text:
    type = look_up("decode_error");
    break;
  case file_problem::changed:
    type = {"changed", 409, "OSError"};
    break;
  case file_problem::too_large:
    type.status = 413;
    break;
  }
  return make(type, nullptr, std::string(why), operation, path);
}

} // namespace ahpd::aio
