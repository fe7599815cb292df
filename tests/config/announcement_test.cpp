#include "config/announcement.hpp"

#include <doctest/doctest.h>

using ahpd::config::announce;
using ahpd::config::announced_url;
using ahpd::config::announcement;

namespace {

announcement small() {
  announcement a;
  a.url = "ws://127.0.0.1:9187";
  a.runtime = "ahpd 0.1.0";
  a.paths = {"/srv/app", "/srv/lib"};
  a.pid = 42;
  return a;
}

} // namespace

TEST_CASE("a small announcement says what holds") {
  CHECK(announce(small()) ==
        "ahpd on ws://127.0.0.1:9187 (ahpd 0.1.0), sessions in /srv/app, /srv/lib\n"
        "pid 42\n"
        "plugins none\n"
        "config none\n"
        "token: as given\n");
}

TEST_CASE("every fact of an announcement has its line and its place") {
  auto a = small();
  a.http_url = "http://127.0.0.1:9188";
  a.automations = "/c/automations.json";
  a.plugins = {"computer", "x"};
  a.files = {"/c/config.json"};
  a.vault = "/c/vault.json";
  a.token_file = "/c/token";
  a.sign_in = "https://h/ (issuer github)";
  a.advanced_tools = true;
  a.closed_chats = "hidden";
  a.wire = "/c/wire";
  a.skipped = {"one", "two\nlines"};
  a.said = {"a plugin's line"};
  a.update = "2.0 is there";
  CHECK(announce(a) == "ahpd on ws://127.0.0.1:9187 (ahpd 0.1.0), sessions in /srv/app, /srv/lib\n"
                       "http on http://127.0.0.1:9188/api\n"
                       "pid 42\n"
                       "automations in /c/automations.json, schedules fire\n"
                       "plugins computer, x\n"
                       "config /c/config.json\n"
                       "vault /c/vault.json\n"
                       "token: from /c/token\n"
                       "sign-in https://h/ (issuer github)\n"
                       "advanced tools: offered to every session\n"
                       "closed chats: hidden\n"
                       "wire to /c/wire\n"
                       "skipped: one\n"
                       "skipped: two lines\n"
                       "a plugin's line\n"
                       "update: 2.0 is there\n");
}

TEST_CASE("an announcement says who is let in without a token") {
  auto a = small();
  a.door = announcement::admission::loopback_only;
  CHECK(announce(a).find("\nno token: loopback only\n") != std::string::npos);
  a.door = announcement::admission::any_connection;
  CHECK(announce(a).find("\nno token: any connection is accepted\n") != std::string::npos);
  a.automations = "";
  CHECK(announce(a).find("\nautomations in memory, schedules do not fire\n") != std::string::npos);
}

TEST_CASE("the address is found in an announcement") {
  CHECK(announced_url(announce(small())) == "ws://127.0.0.1:9187");
  auto a = small();
  a.url.clear();
  CHECK(announce(a).find("ahpd over stdio (ahpd 0.1.0), sessions in /srv/app") == 0);
  CHECK_FALSE(announced_url(announce(a)));
}
