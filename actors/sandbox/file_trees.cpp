#include "actors/sandbox/file_trees.hpp"

#include "protocol/aio/download.hpp"
#include "protocol/aio/tar.hpp"
#include "runtimes/disk/tree_intake.hpp"
#include "runtimes/disk/tree_outflow.hpp"

#include <charconv>
#include <mutex>
#include <optional>
#include <utility>

namespace ahpd::sandbox {

namespace {

constexpr std::uint64_t most_body = std::uint64_t{4} << 30;
constexpr std::size_t piece_bytes = 256u << 10;

// ---- out ----------------------------------------------------------------------------------------

/// A directory as the bytes of an archive.
class archive {
public:
  explicit archive(const std::string& path) : from_(path) {}

  /// The next bytes; none: that was all.
  std::string next() {
    std::string out;
    while (out.size() < piece_bytes && !over_) {
      if (auto bytes = from_.read(piece_bytes - out.size()); !bytes.empty())
        out += bytes;
      else
        out += begin_next();
    }
    return out;
  }

private:
  /// What stands between the file that was read and the next one's bytes.
  std::string begin_next() {
    auto padding = std::exchange(padding_, {});
    disk::tree_item item;
    if (!from_.next(item)) {
      over_ = true;
      return padding + aio::tar_end();
    }
    aio::tar_member out;
    out.kind = S_ISDIR(item.s.st_mode)   ? aio::tar_kind::folder
               : S_ISLNK(item.s.st_mode) ? aio::tar_kind::link
                                         : aio::tar_kind::file;
    out.path = std::move(item.path);
    out.target = std::move(item.target);
    out.size = out.kind == aio::tar_kind::file ? static_cast<std::uint64_t>(item.s.st_size) : 0;
    out.mode = item.s.st_mode & 07777;
    out.modified = item.s.st_mtim.tv_sec;
    padding_ = aio::tar_padding(out.size);
    return padding + aio::tar_header(out);
  }

  disk::tree_outflow from_;
  std::string padding_; ///< behind the file that is being read
  bool over_ = false;
};

/// An archive on its way: the next piece is made when the one before is taken.
struct outflow : std::enable_shared_from_this<outflow> {
  call_ptr what;
  archive from;
  std::unique_ptr<transport::body_stream> to;

  outflow(call_ptr of, const std::string& path) : what(std::move(of)), from(path) {}

  void go_on() {
    to->when_taken([self = shared_from_this()] { on_pool(self->what, [self] { self->send(); }); });
  }
  void send() {
    try {
      auto bytes = from.next();
      if (bytes.empty())
        return to.reset();
      to->send(std::move(bytes));
      go_on();
    } catch (const std::exception&) { // the status is sent; the peer sees that it is not whole
      to->cut();
    }
  }
};

void get_tree(const call_ptr& c) {
  on_pool(c, [c] {
    const auto path = path_of(*c);
    const auto out = std::make_shared<outflow>(c, path);
    auto first = out->from.next();
    auto name = path.substr(0, path.find_last_not_of('/') + 1);
    name.erase(0, name.rfind('/') + 1);
    c->send({200,
             {{"Content-Type", "application/x-tar"},
              {"Content-Disposition", aio::attachment((name.empty() ? "root" : name) + ".tar")}},
             std::move(first),
             [out](std::unique_ptr<transport::body_stream> to) -> std::function<void()> {
               out->to = std::move(to);
               out->go_on();
               return [] {};
             }});
  });
}

// ---- in -----------------------------------------------------------------------------------------

/// An archive that becomes a directory as it comes.
class intake {
public:
  explicit intake(call_ptr of)
      : call_(std::move(of)), reader_({[this](aio::tar_member member) { begin(member); },
                                       [this](std::string_view bytes) { into_->write(bytes); }}) {}

  void feed(std::string_view bytes) {
    const std::lock_guard alone(guard_);
    if (!into_) {
      path_ = path_of(*call_);
      into_.emplace(path_, owner_of(*call_));
    }
    body_ += bytes.size();
    if (body_ > most_body)
      throw disk::fault(disk::fault_kind::too_large, "the body is larger than 4 GiB", path_);
    if (auto why = reader_.feed(bytes); !why.empty())
      throw refused(std::move(why));
  }

  void end(bool whole) {
    const std::lock_guard alone(guard_);
    if (whole) {
      if (!into_ || !reader_.is_complete())
        throw refused("the archive ends in the middle of a member");
      const auto how = into_->put();
      call_->succeed(
        json::object{{"path", shown(path_)},
                     {"mode", how == disk::tree_intake::mode::merge ? "merge" : "rename"},
                     {"entries", into_->entries()},
                     {"bytes", into_->bytes()}});
    }
    into_.reset();
  }

  /// Nothing is kept of what cannot be taken.
  void drop() {
    const std::lock_guard alone(guard_);
    into_.reset();
  }

private:
  disk::fault refused(std::string why) const {
    return {disk::fault_kind::bad_request, std::move(why), path_};
  }

  void begin(const aio::tar_member& member) {
    const auto path = aio::inner_path(member.path);
    if (!path)
      throw refused("a member of the archive leads out of it: " + shown_name(member.path));
    if (path->empty()) {
      if (member.kind != aio::tar_kind::folder)
        throw refused("a member of the archive has no name");
      return;
    }
    switch (member.kind) {
    case aio::tar_kind::folder:
      return into_->add_folder(*path);
    case aio::tar_kind::file:
      return into_->begin_file(*path);
    case aio::tar_kind::link:
      if (!aio::stays_inside(*path, member.target))
        throw refused("a link of the archive leads out of it: " + shown_name(member.path));
      return into_->add_link(*path, member.target);
    case aio::tar_kind::hard_link: {
      const auto of = aio::inner_path(member.target);
      if (!of || of->empty())
        throw refused("a link of the archive leads out of it: " + shown_name(member.path));
      return into_->add_name(*path, *of);
    }
    }
  }

  const call_ptr call_;
  std::mutex guard_; ///< pieces come one after the other; the end may come when the peer is gone
  aio::tar_reader reader_;
  std::string path_;
  std::optional<disk::tree_intake> into_;
  std::uint64_t body_ = 0;
};

/// Does a part of the work; when that fails nothing is left of all before the call is answered.
template <class Part> void attempt(const std::shared_ptr<intake>& it, Part part) {
  try {
    part();
  } catch (...) {
    it->drop();
    throw;
  }
}

transport::body_taker put_tree(const call_ptr& c) {
  const auto i = c->request.headers.find("Content-Length");
  std::uint64_t length = 0;
  if (i != c->request.headers.end())
    std::from_chars(i->second.data(), i->second.data() + i->second.size(), length);
  if (length > most_body) {
    on_pool(c, [c] {
      throw disk::fault(disk::fault_kind::too_large, "the body is larger than 4 GiB", path_of(*c));
    });
    return {[](const std::string&, const std::function<void()>&) {}, [](bool) {}};
  }
  const auto it = std::make_shared<intake>(c);
  return {
    [c, it](std::string piece, std::function<void()> more) {
      on_pool(c, [it, piece = std::move(piece), more = std::move(more)] {
        attempt(it, [&] { it->feed(piece); });
        more();
      });
    },
    [c, it](bool whole) { on_pool(c, [it, whole] { attempt(it, [&] { it->end(whole); }); }); }};
}

} // namespace

std::vector<handler> file_tree_handlers() {
  return {{"getTree", get_tree}, {"putTree", nullptr, put_tree}};
}

} // namespace ahpd::sandbox
