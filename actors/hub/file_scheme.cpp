#include "actors/hub/file_scheme.hpp"

#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/time.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/params.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>

namespace ahpd::hub {

namespace {

namespace files = runtimes::files;

/// Text that is longer than this as JSON goes out as base64: clients take frames of 32 MiB.
constexpr std::size_t longest_text = 24u << 20;

constexpr std::size_t most_patterns = 64; ///< of a watch
constexpr std::size_t longest_pattern = 256;

jsonrpc::error invalid(std::string why) {
  return {jsonrpc::invalid_params, std::move(why), nullptr};
}

/// The members of a request that all must be right before it is served.
class request {
public:
  explicit request(const json::object& params) : in(params) {}

  /// The path of the URI named `key`.
  std::string path(std::string_view key) {
    const auto uri = in.text(key);
    auto found = ahp::file_path(uri);
    if (!found)
      wrong(std::string(key) + " must be a file: URI of an absolute path on this host");
    return found.value_or("");
  }

  /// The member named `key`, one of two or three words.
  std::string word(std::string_view key, std::string_view otherwise,
                   std::initializer_list<std::string_view> words, std::string_view expected) {
    auto given = in.text_if(key).value_or(std::string(otherwise));
    if (std::find(words.begin(), words.end(), given) == words.end())
      wrong(std::string(key) + " must be " + std::string(expected));
    return given;
  }

  /// `<key>.items`: glob patterns.
  std::vector<std::string> patterns(std::string_view key) {
    const auto* given = in.object_if(key);
    const auto* items = given ? given->if_contains("items") : nullptr;
    std::vector<std::string> out;
    if (!items || !items->is_array())
      return out;
    for (const auto& item : items->get_array())
      if (item.is_string() && item.get_string().size() <= longest_pattern)
        out.emplace_back(item.get_string());
    if (out.size() != items->get_array().size() || out.size() > most_patterns)
      wrong(std::string(key) + ".items must be an array of at most " +
            std::to_string(most_patterns) + " strings of at most " +
            std::to_string(longest_pattern) + " bytes");
    return out;
  }

  void wrong(std::string why) {
    if (problem_.empty())
      problem_ = std::move(why);
  }
  const std::string& problem() {
    wrong(in.problem());
    return problem_;
  }

  jsonrpc::params in;

private:
  std::string problem_;
};

pool_answer done_or_error(const runtimes::file_outcome<files::done>& outcome) {
  if (const auto* no = std::get_if<runtimes::file_refusal>(&outcome))
    return wire_error(*no, true);
  return std::string("{}");
}

bool fits_as_text(std::string_view bytes) {
  std::size_t size = bytes.size();
  for (const char c : bytes)
    size += static_cast<unsigned char>(c) < 0x20 ? 5 : c == '"' || c == '\\' ? 1 : 0;
  return size <= longest_text && bytes.find('\0') == std::string_view::npos && utf8::valid(bytes);
}

std::string_view type_of(files::kind what) {
  switch (what) {
  case files::kind::file:
    return "file";
  case files::kind::folder:
    return "directory";
  case files::kind::link:
    return "symlink";
  }
  return "";
}

/// A name as JSON has it. One that is no UTF-8 has its other bytes percent-encoded, and its URI
/// beside it: a client cannot make that from such a name.
json::object entry_of(const files::entry& e, const std::string& folder) {
  json::object out{{"name", e.name}, {"type", e.is_folder ? "directory" : "file"}};
  if (utf8::valid(e.name))
    return out;
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string shown;
  for (const char c : e.name) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x80)
      shown += c;
    else
      (shown += '%') += {digits[u / 16], digits[u % 16]};
  }
  out["name"] = shown;
  out["_meta"] =
    json::object{{"ahpd.uri", ahp::file_uri(folder + (folder.back() == '/' ? "" : "/") + e.name)}};
  return out;
}

int code_of(runtimes::file_fault what) {
  switch (what) {
  case runtimes::file_fault::outside:
  case runtimes::file_fault::denied:
    return ahp::permission_denied;
  case runtimes::file_fault::not_there:
    return ahp::not_found;
  case runtimes::file_fault::taken:
    return ahp::already_exists;
  case runtimes::file_fault::stale:
    return ahp::conflict;
  case runtimes::file_fault::wrong:
    return jsonrpc::invalid_params;
  case runtimes::file_fault::failed:
    return jsonrpc::internal_error;
  }
  return jsonrpc::internal_error;
}

} // namespace

jsonrpc::error wire_error(const runtimes::file_refusal& why, bool write) {
  const auto uri = ahp::file_uri(why.path);
  json::value data;
  if (why.what == runtimes::file_fault::outside)
    data = json::object{
      {"request", {{"channel", ahp::root_uri}, {"uri", uri}, {write ? "write" : "read", true}}}};
  return {code_of(why.what), uri + " " + why.why, std::move(data)};
}

pool_answer read_file(const runtimes::served_folders& in, const json::object& params) {
  request r(params);
  const auto path = r.path("uri");
  const auto wish = r.word("encoding", "utf-8", {"utf-8", "base64"}, "utf-8 or base64");
  if (!r.problem().empty())
    return invalid(r.problem());
  const auto found = files::read(in, path);
  if (const auto* no = std::get_if<runtimes::file_refusal>(&found))
    return wire_error(*no, false);
  const auto& bytes = std::get<std::string>(found);
  const bool text = wish == "utf-8" && fits_as_text(bytes);
  return json::serialize(json::object{{"data", text ? bytes : ahp::base64_encode(bytes)},
                                      {"encoding", text ? "utf-8" : "base64"}});
}

pool_answer write_file(const runtimes::served_folders& in, const json::object& params) {
  request r(params);
  files::write what;
  what.path = r.path("uri");
  auto data = r.in.text_if("data");
  if (!data)
    r.wrong("data must be a string");
  const auto encoding = r.word("encoding", "utf-8", {"utf-8", "base64"}, "utf-8 or base64");
  const auto mode =
    r.word("mode", "truncate", {"truncate", "append", "insert"}, "truncate, append or insert");
  what.mode = mode == "append"   ? files::write_mode::append
              : mode == "insert" ? files::write_mode::insert
                                 : files::write_mode::truncate;
  what.position = r.in.count_if("position").value_or(0);
  what.create_only = r.in.flag_if("createOnly");
  what.if_version = r.in.text_if("ifMatch");
  if (data && encoding == "base64" && !(data = ahp::base64_decode(*data)))
    r.wrong("data must be base64, as encoding says");
  if (what.create_only && what.if_version)
    r.wrong("createOnly and ifMatch exclude each other");
  if (!r.problem().empty())
    return invalid(r.problem());
  what.data = std::move(*data);
  return done_or_error(files::put(in, what));
}

pool_answer list_folder(const runtimes::served_folders& in, const json::object& params) {
  request r(params);
  const auto path = r.path("uri");
  if (!r.problem().empty())
    return invalid(r.problem());
  const auto found = files::list(in, path);
  if (const auto* no = std::get_if<runtimes::file_refusal>(&found))
    return wire_error(*no, false);
  json::array entries;
  for (const auto& e : std::get<std::vector<files::entry>>(found))
    entries.push_back(entry_of(e, path));
  return json::serialize(json::object{{"entries", std::move(entries)}});
}

pool_answer resolve_file(const runtimes::served_folders& in, const json::object& params) {
  request r(params);
  const auto path = r.path("uri");
  const auto* follow = params.if_contains("followSymlinks");
  r.in.flag_if("followSymlinks");
  if (!r.problem().empty())
    return invalid(r.problem());
  const auto found = files::look(in, path, !follow || follow->is_null() || follow->get_bool());
  if (const auto* no = std::get_if<runtimes::file_refusal>(&found))
    return wire_error(*no, false);
  const auto& info = std::get<files::info>(found);
  json::object out{{"uri", ahp::file_uri(info.path)},
                   {"type", type_of(info.what)},
                   {"size", info.size},
                   {"mtime", ahp::iso8601(info.modified_ms)},
                   {"ctime", ahp::iso8601(info.changed_ms)}};
  if (!info.version.empty())
    out["etag"] = info.version;
  return json::serialize(out);
}

pool_answer copy_file(const runtimes::served_folders& in, const json::object& params) {
  request r(params);
  const auto from = r.path("source");
  const auto to = r.path("destination");
  const bool only_new = r.in.flag_if("failIfExists");
  if (!r.problem().empty())
    return invalid(r.problem());
  return done_or_error(files::copy(in, from, to, only_new));
}

pool_answer move_file(const runtimes::served_folders& in, const json::object& params) {
  request r(params);
  const auto from = r.path("source");
  const auto to = r.path("destination");
  const bool only_new = r.in.flag_if("failIfExists");
  if (!r.problem().empty())
    return invalid(r.problem());
  return done_or_error(files::move(in, from, to, only_new));
}

pool_answer make_folder(const runtimes::served_folders& in, const json::object& params) {
  request r(params);
  const auto path = r.path("uri");
  if (!r.problem().empty())
    return invalid(r.problem());
  return done_or_error(files::make_folder(in, path));
}

pool_answer delete_file(const runtimes::served_folders& in, const json::object& params) {
  request r(params);
  const auto path = r.path("uri");
  const bool with_content = r.in.flag_if("recursive");
  if (!r.problem().empty())
    return invalid(r.problem());
  return done_or_error(files::remove(in, path, with_content));
}

std::variant<runtimes::watch_request, jsonrpc::error> read_watch(const json::object& params) {
  request r(params);
  runtimes::watch_request what;
  what.path = r.path("uri");
  what.recursive = r.in.flag_if("recursive");
  what.includes = r.patterns("includes");
  what.excludes = r.patterns("excludes");
  if (!r.problem().empty())
    return invalid(r.problem());
  return what;
}

pool_answer request_file(const runtimes::served_folders& in, const json::object& params) {
  request r(params);
  const auto path = r.path("uri");
  if (!r.problem().empty())
    return invalid(r.problem());
  const auto found = in.find(path);
  const auto* no = std::get_if<runtimes::file_refusal>(&found);
  if (no && no->what == runtimes::file_fault::outside)
    return jsonrpc::error{ahp::permission_denied, "This host does not mediate " + r.in.text("uri"),
                          nullptr};
  return std::string("{}");
}

} // namespace ahpd::hub
