#include "actors/sandbox/file_call.hpp"

#include "actors/core/scheduler.hpp"
#include "actors/sandbox/runner.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/aio/file_error.hpp"
#include "protocol/utf8.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <unistd.h>

namespace ahpd::sandbox {

namespace {

constexpr std::string_view uri_start = "file:///";

struct operation {
  std::string_view word; ///< as the path of its route ends
  std::string_view doing;
};

constexpr operation operations[] = {
  {"read", "read file"},
  {"write", "write file"},
  {"stat", "stat path"},
  {"list", "list directory"},
  {"edit", "edit file"},
  {"mkdir", "create directory"},
  {"copy", "copy"},
  {"move", "move"},
  {"delete", "delete"},
  {"search", "search"},
  {"grep", "search files"},
  {"upload", "upload file"},
  {"download", "download file"},
  {"tree", "transfer directory"},
  {"replace", "replace in file"},
  {"find", "find files"},
  {"glob", "find files"},
  {"str_replace_editor", "edit file"},
};

operation operation_of(const call& what) {
  const auto path = what.route->path;
  const auto word = path.substr(path.rfind('/') + 1);
  for (const auto& each : operations)
    if (each.word == word)
      return each;
  return {word, word};
}

aio::file_problem problem_of(disk::fault_kind kind) {
  switch (kind) {
  case disk::fault_kind::bad_target:
    return aio::file_problem::bad_target;
  case disk::fault_kind::not_text:
    return aio::file_problem::not_text;
  case disk::fault_kind::changed:
    return aio::file_problem::changed;
  case disk::fault_kind::too_large:
    return aio::file_problem::too_large;
  case disk::fault_kind::bad_path:
    return aio::file_problem::bad_path;
  case disk::fault_kind::system:
  case disk::fault_kind::bad_request:
    break;
  }
  return aio::file_problem::bad_request;
}

} // namespace

caf::behavior files_actor(caf::event_based_actor* self, services_ptr) {
  return {[self](const file_work& what) { core::run_blocking(self->system(), what.what); }};
}

void on_pool(const call_ptr& what, std::function<void()> work) {
  caf::anon_send(what->host->files->get(), file_work{[what, work = std::move(work)] {
                   try {
                     work();
                   } catch (const disk::fault& why) {
                     refuse(*what, why);
                   } catch (const refusal& why) {
                     what->fail(why.status, why.message);
                   } catch (const std::exception&) {
                     what->fail(500, "Internal error: the request was not answered");
                   }
                 }});
}

void refuse(call& to, const disk::fault& why) {
  const auto [word, doing] = operation_of(to);
  const auto path = shown(why.path());
  auto error =
    why.kind() == disk::fault_kind::system
      ? aio::file_error_of(why.error(), word, doing, path)
      : aio::file_error_of(problem_of(why.kind()), utf8::repaired(why.why()), word, path);
  const bool always_fine = is_v1(to) && word != "download";
  to.fail(always_fine ? 200 : error.status, error.message, std::move(error.data));
}

bool is_v1(const call& what) {
  return what.route->path.starts_with("/v1/");
}

std::string path_of(const call& what, std::string_view member) {
  return path_from(what, what.text(member));
}

std::string path_from(const call& what, const std::string& text) {
  auto path = text;
  if (text.starts_with(uri_start)) {
    const auto read = ahp::file_path(text);
    if (!read)
      throw disk::fault(disk::fault_kind::bad_path, "path is a malformed file URI", text);
    path = *read;
  }
  if (path.empty())
    throw disk::fault(disk::fault_kind::bad_path, "path is empty", path);
  if (path.find('\0') != std::string::npos)
    throw disk::fault(disk::fault_kind::bad_path, "path holds a NUL byte", path);
  return directory_of(*what.host, path);
}

std::string shown(const std::string& path) {
  return utf8::valid(path) && !path.starts_with(uri_start) ? path : ahp::file_uri(path);
}

std::string shown_name(const std::string& name) {
  return utf8::repaired(name);
}

disk::maybe_owner owner_of(const call& what) {
  const auto& fallback = what.host->options.default_user;
  auto name = what.text("user");
  if (flag_of(what.body, "sudo"))
    name = "root";
  const bool is_default = name.empty();
  if (is_default && fallback.empty())
    return std::nullopt;
  auto found = find_runner(*what.host, is_default ? fallback : name);
  if (const auto* no = std::get_if<refusal>(&found))
    throw *no;
  const auto& as = std::get<runner>(found).as;
  return as ? disk::owner{as->uid, as->gid} : disk::owner{::geteuid(), ::getegid()};
}

bool flag_of(const json::object& from, std::string_view member) {
  const auto* value = from.if_contains(member);
  return value && value->is_bool() && value->get_bool();
}

} // namespace ahpd::sandbox
