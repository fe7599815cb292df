#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/uris.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ahpd::ahp;

TEST_CASE("a scheme is what stands before the first colon, in lower case") {
  CHECK(scheme_of("AHP-Session:/x") == "ahp-session");
  CHECK(scheme_of("computer://box/state") == "computer");
  CHECK(scheme_of("no scheme").empty());
}

TEST_CASE("session ids come from session URIs and from no others") {
  CHECK(session_id("ahp-session:/s-5c1d") == "s-5c1d");
  CHECK(session_id("claude:/0b5e") == "0b5e");
  CHECK(session_id("ahp-session://work") == "work");
  CHECK(session_id("acp:/" + std::string(256, 'x')) == std::string(256, 'x'));
  for (const std::string uri : {"ahp-root://",
                                "ahp-root:/x",
                                "ahp-chat:/c",
                                "ahp-terminal:/t",
                                "x-ahpd-computers:/x",
                                "file:/etc",
                                "computer://box",
                                "mcp:/x",
                                "https://example.com",
                                "ahp-session:",
                                "ahp-session:/",
                                "ahp-session:x",
                                "acp:/a b",
                                "acp:/a/b",
                                "acp:/a?b",
                                "acp:/a#b",
                                "acp:/a\n",
                                "acp:/a\x7f",
                                "",
                                ":/x",
                                "1a:/x",
                                "a_b:/x"})
    CHECK_MESSAGE(!session_id(uri), uri);
  CHECK(!session_id("acp:/" + std::string(257, 'x')));
}

TEST_CASE("the default chat's URI is the one that editors compute") {
  CHECK(default_chat_uri("claude:/0b5e") == "ahp-chat://default/Y2xhdWRlOi8wYjVl");
  CHECK(session_of_default_chat("ahp-chat://default/Y2xhdWRlOi8wYjVl") == "claude:/0b5e");
  for (const std::string session : {"acp:/a", "acp:/ab", "acp:/abc", "acp:/~~~", "acp:/\xc3\xbf?"})
    CHECK((session_of_default_chat(default_chat_uri(session)) == session) ==
          session_id(session).has_value());
  CHECK(!session_of_default_chat("ahp-chat:/c1"));
  CHECK(!session_of_default_chat("ahp-chat://default/"));
  CHECK(!session_of_default_chat("ahp-chat://default/!!"));
  CHECK(!session_of_default_chat("ahp-chat://default/" + base64url_encode("ahp-root://")));
}

TEST_CASE("computer URIs have a name and a leaf") {
  const auto at = [](std::string_view uri) {
    const auto parsed = parse_computer_uri(uri);
    return parsed ? parsed->name + "|" + parsed->leaf : "none";
  };
  CHECK(at("computer://box") == "box|");
  CHECK(at("computer://box/") == "box|");
  CHECK(at("computer://ssh.deb/server") == "ssh.deb|server");
  CHECK(at("COMPUTER://box/a/b") == "box|a/b");
  for (const char* root : {"computer://", "computer:/", "computer:", "computer:///"})
    CHECK(at(root) == "|");
  for (const char* bad : {"computer:box", "computer:/box", "computer:///box", "computer://b ox",
                          "computer://box?x", "computer://box#x", "file://box", "box"})
    CHECK_MESSAGE(at(bad) == "none", bad);
  CHECK(at("computer://" + std::string(3000, 'x')) == "none");
}

TEST_CASE("base64 is strict both ways") {
  const std::string all = "\xfb\xff\xfe";
  CHECK(base64_encode("") == "");
  CHECK(base64_encode("a") == "YQ==");
  CHECK(base64_encode("ab") == "YWI=");
  CHECK(base64_encode(all) == "+//+");
  CHECK(base64url_encode(all) == "-__-");
  CHECK(base64url_encode("a") == "YQ");
  std::string bytes;
  for (int i = 0; i < 600; ++i) {
    bytes += static_cast<char>(i * 7);
    REQUIRE(base64_decode(base64_encode(bytes)) == bytes);
    REQUIRE(base64url_decode(base64url_encode(bytes)) == bytes);
  }
  for (const char* bad : {"Y", "YQ", "YQ=", "YR==", "Y===", "====", "YQ==YQ==", "Y Q=", "-__-"})
    CHECK_MESSAGE(!base64_decode(bad), bad);
  for (const char* bad : {"Y", "YQ==", "YR", "+//+", "Y Q"})
    CHECK_MESSAGE(!base64url_decode(bad), bad);
}

TEST_CASE("a plausible URI has a scheme, no blanks and a bounded length") {
  CHECK(plausible_uri("a:"));
  CHECK(plausible_uri("ahp-root://"));
  CHECK(plausible_uri("a:" + std::string(2046, 'x')));
  CHECK(!plausible_uri("a:" + std::string(2047, 'x')));
  for (const char* bad : {"", "x", ":x", "a:b c", "a:\t", "a:\x7f", "1:x", "a b:c"})
    CHECK_MESSAGE(!plausible_uri(bad), bad);
}

TEST_CASE("a file's URI is its path, escaped") {
  CHECK(file_path("file:///srv/a%20b%2Fc") == "/srv/a b/c");
  CHECK(file_path("FILE://localhost/srv") == "/srv");
  CHECK(file_path("file:/srv") == "/srv");
  CHECK(file_path("file:///srv/@a:b") == "/srv/@a:b");
  CHECK_FALSE(file_path("file:///srv/a?b")); // a name's own '?' is %3F
  CHECK_FALSE(file_path("file:///srv/a#b"));
  CHECK(file_path("file:///") == "/");
  CHECK(file_uri("/srv/a b%/\xc3\xa4") == "file:///srv/a%20b%25/%C3%A4");
  std::string path = "/";
  for (int c = 1; c < 256; ++c)
    path += static_cast<char>(c);
  CHECK(file_path(file_uri(path)) == path);
}

TEST_CASE("what is no file's URI is refused, however broken") {
  for (const char* bad : {"",
                          "file",
                          "file:",
                          "file:?",
                          "file:\\",
                          "file: ",
                          "file:[",
                          "i:\\",
                          "i:?",
                          "file:a",
                          "file://",
                          "file://host/srv",
                          "file://localhost:80/srv",
                          "file://localhosts/srv",
                          "file:///a b",
                          "file:///a\\b",
                          "file:///%",
                          "file:///%4",
                          "file:///%zz",
                          "file:///%00",
                          "file:///[",
                          "file:///\xc3\xa4",
                          "http:///srv",
                          "/srv",
                          "xfile:///srv"})
    CHECK_MESSAGE(!file_path(bad), bad);
}
