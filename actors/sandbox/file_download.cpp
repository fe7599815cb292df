#include "actors/sandbox/file_download.hpp"

#include "protocol/aio/download.hpp"
#include "runtimes/disk/content.hpp"
#include "runtimes/disk/entries.hpp"
#include "runtimes/host/file_calls.hpp"

#include <sys/stat.h>

namespace ahpd::sandbox {

namespace {

std::string header(const call& c, const char* name) {
  const auto i = c.request.headers.find(name);
  return i == c.request.headers.end() ? std::string() : i->second;
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/// Whether a path still leads to the file that was opened, and that is what it was then.
bool is_unchanged(const disk::open_file& opened, const std::string& path) {
  struct stat by_path {
  }, itself{};
  return ::stat(path.c_str(), &by_path) == 0 && ::fstat(opened.file.get(), &itself) == 0 &&
         is_same(by_path, opened.s) && is_same(itself, opened.s);
}

disk::fault changed(const std::string& path) {
  return {disk::fault_kind::changed, "file changed since it was first read", path};
}

/// Files of /proc say that they are empty and are not. The system has to be asked for their bytes.
bool is_generated(const disk::open_file& opened, const std::string& path, std::string& bytes) {
  if (opened.s.st_size == 0)
    bytes = disk::read_whole(path);
  return !bytes.empty();
}

void send_part(call& c, transport::http_response out, const std::string& path,
               std::shared_ptr<const disk::open_file> opened, aio::byte_range part, bool pinned) {
  transport::file_body body;
  body.descriptor = opened->file.get();
  body.offset = part.offset;
  body.size = part.size;
  if (pinned)
    body.unchanged = [opened, path] { return is_unchanged(*opened, path); };
  body.held = std::const_pointer_cast<disk::open_file>(opened);
  out.file = std::make_shared<const transport::file_body>(std::move(body));
  c.send(std::move(out));
}

void download(call& c) {
  const auto path = path_of(c);
  const bool pinned = c.text("change_policy") == "abort";
  const auto opened = std::make_shared<const disk::open_file>(disk::open_regular(path));
  if (pinned && !is_unchanged(*opened, path))
    throw changed(path);
  const auto tag = "\"" + runtimes::files::version_of(opened->s) + "\"";
  const auto name = disk::look_at(path, false).name;
  transport::http_response out{200,
                               {{"Content-Type", "application/octet-stream"},
                                {"Accept-Ranges", "bytes"},
                                {"ETag", tag},
                                {"Last-Modified", aio::http_date(opened->s.st_mtim.tv_sec)},
                                {"Content-Disposition", aio::attachment(name)}},
                               {}};
  if (const auto wanted = header(c, "If-Match"); !wanted.empty() && !aio::has_tag(wanted, tag)) {
    if (pinned)
      throw changed(path);
    return c.fail(412, "Precondition Failed");
  }
  if (const auto known = header(c, "If-None-Match"); !known.empty() && aio::has_tag(known, tag)) {
    out.status = 304;
    out.headers.erase("Content-Type");
    return c.send(std::move(out));
  }
  if (is_generated(*opened, path, out.body))
    return c.send(std::move(out));
  const auto size = static_cast<std::uint64_t>(opened->s.st_size);
  const auto only_if = header(c, "If-Range");
  const bool applies =
    only_if.empty() || only_if == tag || only_if == out.headers.at("Last-Modified");
  const auto part = applies ? aio::range_of(header(c, "Range"), size) : std::nullopt;
  if (part && part->size == 0) {
    c.send(
      {416,
       {{"Content-Type", "application/json"}, {"Content-Range", "bytes */" + std::to_string(size)}},
       json::serialize(aio::failure("Range Not Satisfiable"))});
    return;
  }
  if (part) {
    out.status = 206;
    out.headers["Content-Range"] = "bytes " + std::to_string(part->offset) + "-" +
                                   std::to_string(part->offset + part->size - 1) + "/" +
                                   std::to_string(size);
  }
  send_part(c, std::move(out), path, opened, part.value_or(aio::byte_range{0, size}), pinned);
}

} // namespace

std::vector<handler> file_download_handlers() {
  return {{"downloadFile", served_on_pool<download>}, {"downloadFileV1", served_on_pool<download>}};
}

} // namespace ahpd::sandbox
