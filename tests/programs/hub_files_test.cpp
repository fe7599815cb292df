// `resource*` on file: as clients of the real hub see it.

#include "tests/programs/hub_support.hpp"

#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace ahpd;
namespace fs = std::filesystem;

namespace {

struct hub_files_fixture {
  tests::hub_process hub;
  tests::ahp_peer peer{hub.url()};
  std::string root = hub.folder();

  hub_files_fixture() { peer.initialize(); }

  std::string uri(const std::string& name) const { return ahp::file_uri(root + "/" + name); }

  void put(const std::string& name, const std::string& text) const {
    std::ofstream(root + "/" + name, std::ios::binary) << text;
  }
  std::string disk(const std::string& name) const { return tests::read_file(root + "/" + name); }

  json::value read(const std::string& name, json::object more = {}) {
    more["uri"] = uri(name);
    return peer.request("resourceRead", std::move(more));
  }
  json::value write(const std::string& name, const std::string& data, json::object more = {}) {
    return peer.request("resourceWrite", write_params(name, data, std::move(more)));
  }
  json::object write_params(const std::string& name, const std::string& data,
                            json::object more = {}) const {
    more["uri"] = uri(name);
    more["data"] = data;
    if (!more.contains("encoding"))
      more["encoding"] = "utf-8";
    return more;
  }

  /// The code and the sentence of a refusal.
  std::string refused(const std::string& method, json::object params) {
    const auto error = peer.request_error(method, std::move(params));
    return json::serialize(error.at("code")) + " " + std::string(error.at("message").as_string());
  }
};

const json::object done;

} // namespace

TEST_CASE_FIXTURE(hub_files_fixture, "a file is read as text when it is text, else as base64") {
  put("a.txt", "gr\xC3\xBC\xC3\x9F");
  put("b.bin", std::string("\x00\xFF", 2));
  CHECK(read("a.txt") == json::object{{"data", "gr\xC3\xBC\xC3\x9F"}, {"encoding", "utf-8"}});
  CHECK(read("a.txt", {{"encoding", "base64"}}) ==
        json::object{{"data", "Z3LDvMOf"}, {"encoding", "base64"}});
  for (const json::object& wish : {json::object{}, json::object{{"encoding", "utf-8"}}})
    CHECK(read("b.bin", wish) == json::object{{"data", "AP8="}, {"encoding", "base64"}});
  // As text it would be a frame that clients do not take.
  put("c", std::string(6u << 20, '\x01'));
  CHECK(read("c").at("encoding") == "base64");
}

TEST_CASE_FIXTURE(hub_files_fixture, "writes follow their modes, and a read behind one sees it") {
  CHECK(write("f", "abcdef", {{"createOnly", true}}) == done);
  CHECK(write("f", "XY", {{"mode", "insert"}, {"position", 3}}) == done);
  CHECK(disk("f") == "abcXYdef");
  CHECK(write("f", "!", {{"mode", "append"}}) == done);
  CHECK(write("f", "?", {{"mode", "append"}, {"position", 1}}) == done);
  CHECK(disk("f") == "abcXYdef?!");
  CHECK(write("f", "AP8=", {{"encoding", "base64"}, {"mode", "truncate"}, {"position", 1}}) ==
        done);
  CHECK(disk("f") == std::string("a\x00\xFF", 3));
  // Sent in one go, done in order.
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 20; ++i) {
    ids.push_back(peer.begin("resourceWrite", write_params("f", std::to_string(i))));
    ids.push_back(peer.begin("resourceRead", {{"uri", uri("f")}}));
  }
  for (int i = 0; i < 20; ++i)
    CHECK(peer.answer(ids[static_cast<std::size_t>(2 * i + 1)]).at("result").at("data") ==
          json::value(std::to_string(i)));
}

TEST_CASE_FIXTURE(hub_files_fixture, "a resolve says what a URI is, and its etag guards a write") {
  write("f", "one");
  fs::create_symlink("f", root + "/link");
  const auto f = peer.request("resourceResolve", {{"uri", uri("f")}});
  CHECK(f.at("uri") == json::value(ahp::file_uri(fs::canonical(root + "/f").string())));
  CHECK(f.at("type") == "file");
  CHECK(f.at("size") == 3);
  for (const char* time : {"mtime", "ctime"})
    CHECK(f.at(time).as_string().back() == 'Z');
  CHECK(peer.request("resourceResolve", {{"uri", uri("link")}}) == f);
  const auto link =
    peer.request("resourceResolve", {{"uri", uri("link")}, {"followSymlinks", false}});
  CHECK(link.at("type") == "symlink");
  CHECK(peer.request("resourceResolve", {{"uri", uri("")}}).at("type") == "directory");

  CHECK(write("f", "two", {{"ifMatch", f.at("etag")}}) == done);
  CHECK(refused("resourceWrite", write_params("f", "three", {{"ifMatch", f.at("etag")}})) ==
        "-32011 " + uri("f") + " was changed meanwhile");
  CHECK(disk("f") == "two");
}

TEST_CASE_FIXTURE(hub_files_fixture, "folders are made, listed, copied, moved and removed") {
  CHECK(peer.request("resourceMkdir", {{"uri", uri("a/b")}}) == done);
  write("a/b/f", "f");
  CHECK(peer.request("resourceCopy", {{"source", uri("a")}, {"destination", uri("c")}}) == done);
  CHECK(peer.request("resourceMove", {{"source", uri("c/b/f")}, {"destination", uri("g")}}) ==
        done);
  CHECK(peer.request("resourceList", {{"uri", uri("")}}) ==
        json::object{{"entries", json::array{{{"name", "a"}, {"type", "directory"}},
                                             {{"name", "c"}, {"type", "directory"}},
                                             {{"name", "g"}, {"type", "file"}}}}});
  CHECK(disk("g") == "f");
  CHECK(peer.request("resourceDelete", {{"uri", uri("a")}, {"recursive", true}}) == done);
  CHECK_FALSE(fs::exists(root + "/a"));
}

TEST_CASE_FIXTURE(hub_files_fixture, "any byte in a name can be named") {
  const std::string odd = "caf\xE9 #?%41;\n";
  write(odd, "odd");
  CHECK(disk(odd) == "odd");
  const auto entry = peer.request("resourceList", {{"uri", uri("")}}).at("entries").at(0);
  CHECK(entry.at("name") == "caf%E9 #?%41;\n");
  const auto itself = entry.at("_meta").at("ahpd.uri");
  CHECK(peer.request("resourceRead", {{"uri", itself}}).at("data") == "odd");
  // What was not encoded names nothing, rather than another file.
  put("x", "x");
  for (const char* end : {"?x", "#x"})
    CHECK(refused("resourceRead", {{"uri", uri("x") + end}}) ==
          "-32602 uri must be a file: URI of an absolute path on this host");
}

TEST_CASE_FIXTURE(hub_files_fixture, "every refusal has its code and names what it is about") {
  put("f", "f");
  fs::create_directory(root + "/full");
  put("full/f", "f");
  const auto f = uri("f");
  CHECK(refused("resourceRead", {{"uri", uri("no")}}) == "-32008 " + uri("no") + " is not there");
  CHECK(refused("resourceRead", {{"uri", uri("full")}}) ==
        "-32008 " + uri("full") + " is a folder, not a file");
  CHECK(refused("resourceList", {{"uri", f}}) == "-32008 " + f + " is not a folder");
  CHECK(refused("resourceWrite", write_params("no/f", "x")) ==
        "-32008 " + uri("no/f") + " is not there");
  CHECK(refused("resourceWrite", write_params("f", "x", {{"createOnly", true}})) ==
        "-32010 " + f + " is there already");
  CHECK(refused("resourceMkdir", {{"uri", f}}) ==
        "-32010 " + f + " is there already, and no folder");
  CHECK(refused("resourceDelete", {{"uri", uri("full")}}) ==
        "-32602 " + uri("full") + " is not empty, and recursive was not asked for");
  CHECK(refused("resourceDelete", {{"uri", ahp::file_uri(root)}, {"recursive", true}}) ==
        "-32009 " + ahp::file_uri(root) + " is a served folder, and stays");
  for (const char* method : {"resourceCopy", "resourceMove"}) {
    CHECK(
      refused(method, {{"source", f}, {"destination", uri("full/f")}, {"failIfExists", true}}) ==
      "-32010 " + uri("full/f") + " is there already");
    CHECK(refused(method, {{"source", f}, {"destination", "computer://x"}}) ==
          "-32602 " + f + " and computer://x are served by different providers");
  }
  for (const json::object& wrong :
       {json::object{{"mode", "prepend"}}, json::object{{"encoding", "latin-1"}},
        json::object{{"position", 2}}, json::object{{"encoding", "base64"}},
        json::object{{"createOnly", true}, {"ifMatch", "x"}}})
    CHECK(peer.request_error("resourceWrite", write_params("f", "x", wrong)).at("code") ==
          jsonrpc::invalid_params);
  CHECK(disk("f") == "f");
  for (const char* bad : {"file:f", "file://elsewhere/f", "file:///f%00", "file:///%zz"})
    CHECK(peer.request_error("resourceRead", {{"uri", bad}}).at("code") == jsonrpc::invalid_params);
}

TEST_CASE_FIXTURE(hub_files_fixture, "what is outside of the served folders is refused, and the "
                                     "refusal says what was needed") {
  const auto error = peer.request_error("resourceRead", {{"uri", "file:///etc/passwd"}});
  CHECK(error.at("code") == ahp::permission_denied);
  CHECK(
    error.at("data") ==
    json::object{
      {"request", {{"channel", "ahp-root://"}, {"uri", "file:///etc/passwd"}, {"read", true}}}});
  const auto write = peer.request_error(
    "resourceWrite", {{"uri", "file:///etc/x"}, {"data", ""}, {"encoding", "utf-8"}});
  CHECK(write.at("code") == ahp::permission_denied);
  CHECK(write.at("data").at("request").at("write") == true);
  CHECK(refused("resourceRequest", {{"uri", "file:///etc/passwd"}}) ==
        "-32009 This host does not mediate file:///etc/passwd");
  CHECK(refused("resourceRequest", {{"uri", "bucket://x"}, {"read", true}}) ==
        "-32009 This host does not mediate bucket://x");
  for (const char* name : {"", "not/yet/there"})
    CHECK(peer.request("resourceRequest", {{"uri", uri(name)}, {"write", true}}) == done);
}
