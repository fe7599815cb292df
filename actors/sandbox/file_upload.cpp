#include "actors/sandbox/file_upload.hpp"

#include "protocol/aio/multipart.hpp"
#include "runtimes/disk/staged.hpp"

#include <mutex>
#include <optional>

namespace ahpd::sandbox {

namespace {

constexpr std::size_t longest_path = 16u << 10; ///< of the form's field

/// One form on its way in. Its file goes beside the target when that is known by then, else into
/// the directory for temporary files, and to its target at the end. Dropped before, nothing is left
/// of it.
class upload {
public:
  explicit upload(call_ptr of, std::string boundary)
      : call_(std::move(of)),
        reader_(std::move(boundary), {[this](aio::form_part part) { begin(std::move(part)); },
                                      [this](std::string_view bytes) { take(bytes); },
                                      [this] { now_in_ = field::other; }}) {}

  void feed(std::string_view bytes) {
    const std::lock_guard alone(guard_);
    if (!reader_.feed(bytes))
      throw refused("the body is not multipart/form-data");
  }

  void end(bool whole) {
    const std::lock_guard alone(guard_);
    if (!whole) {
      file_.reset();
      return;
    }
    if (!reader_.is_done())
      throw refused("the form ends before its last boundary");
    if (!file_)
      return call_->answer(422, aio::invalid({{{"location", {"body", "file"}},
                                               {"message", "missing field `file`"},
                                               {"type", "value_error.missing"}}}));
    const auto path = target();
    file_->put(disk::make_place(path, disk::last_link::follow, owner_of(*call_)), owner_of(*call_));
    call_->succeed(
      json::object{{"file_path", shown(path)}, {"file_size", size_}, {"success", true}});
  }

private:
  enum class field : std::uint8_t { other, file, path };

  disk::fault refused(const char* why) const {
    return {disk::fault_kind::bad_request, why, path_.value_or(std::string())};
  }

  std::string temporary() const {
    const auto& all = call_->host->environment;
    const auto i = all.find("TMPDIR");
    return i != all.end() && i->second.starts_with('/') ? i->second : "/tmp";
  }

  std::string target() const {
    if (!path_) {
      if (file_name_.empty() || file_name_ == "." || file_name_ == "..")
        throw refused("the file has no name, and path was not given");
      return path_from(*call_, temporary() + "/" + file_name_);
    }
    auto path = path_from(*call_, *path_);
    if (path.back() == '/')
      throw disk::fault(EISDIR, path);
    return path;
  }

  void begin(aio::form_part part) {
    now_in_ = field::other;
    if (part.name == "path") {
      now_in_ = field::path;
      path_.emplace();
    } else if (part.name == "file") {
      if (file_)
        throw refused("the form has more than one file");
      now_in_ = field::file;
      file_name_ = std::move(part.file_name);
      const auto whose = owner_of(*call_); // refused before anything is made
      if (path_)
        file_.emplace(disk::make_place(target(), disk::last_link::follow, whose), "upload",
                      target());
      else
        file_.emplace(
          disk::find_place(temporary() + "/" + disk::staged_name("upload"), disk::last_link::keep),
          "upload", temporary());
    }
  }

  void take(std::string_view bytes) {
    if (now_in_ == field::path) {
      if (path_->size() + bytes.size() > longest_path)
        throw refused("path is too long");
      *path_ += bytes;
    } else if (now_in_ == field::file) {
      file_->write(bytes);
      size_ += bytes.size();
    }
  }

  const call_ptr call_;
  std::mutex guard_; ///< pieces come one after the other; the end may come when the peer is gone
  aio::multipart_reader reader_;
  field now_in_ = field::other;
  std::optional<std::string> path_; ///< as it was given
  std::string file_name_;
  std::optional<disk::staged_file> file_;
  std::uint64_t size_ = 0;
};

transport::body_taker take_upload(const call_ptr& c) {
  const auto i = c->request.headers.find("Content-Type");
  auto boundary = i == c->request.headers.end() ? std::nullopt : aio::boundary_of(i->second);
  if (!boundary) {
    c->fail(415, "Expected request with `Content-Type: multipart/form-data`");
    return {[](const std::string&, const std::function<void()>&) {}, [](bool) {}};
  }
  const auto it = std::make_shared<upload>(c, std::move(*boundary));
  return {[c, it](std::string piece, std::function<void()> more) {
            on_pool(c, [it, piece = std::move(piece), more = std::move(more)] {
              it->feed(piece);
              more();
            });
          },
          [c, it](bool whole) { on_pool(c, [it, whole] { it->end(whole); }); }};
}

} // namespace

std::vector<handler> file_upload_handlers() {
  return {{"uploadFile", nullptr, take_upload}, {"uploadFileV1", nullptr, take_upload}};
}

} // namespace ahpd::sandbox
