#include "tests/runtimes/process_support.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

using namespace ahpd;
using tests::host_fixture;
using tests::script;

namespace {

/// A user every Debian has, without anything of root's.
const std::string other_user = "nobody";

std::string own_name() {
  return ::getpwuid(::geteuid())->pw_name;
}

} // namespace

TEST_CASE_FIXTURE(host_fixture, "an unknown user is a sentence") {
  auto what = script("true");
  what.user = "no such user";
  CHECK(start(what)->refused == "there is no user 'no such user' on this host");
  what.user = "4000000000";
  CHECK(start(what)->refused == "there is no user '4000000000' on this host");
}

TEST_CASE_FIXTURE(host_fixture, "the daemon's own user needs nothing") {
  auto what = script("id -un; printf \"%s\" \"${HOME-none}\"");
  for (const std::string& name : {own_name(), std::to_string(::geteuid())}) {
    what.user = name;
    const auto run = start(what);
    CHECK(run->wait_exit().ok());
    CHECK(run->out() == own_name() + "\nnone");
  }
}

TEST_CASE_FIXTURE(host_fixture, "another user's program has that user's rights, groups and home") {
  if (::geteuid() != 0)
    return tests::skip("root");
  auto what = script("id -u; id -G; grep -E '^(Uid|Gid|Groups):' /proc/self/status | tr '\\t' ' '; "
                     "echo $HOME $USER $LOGNAME; ls /proc/self/fd | tr '\\n' ' '; "
                     "cat /etc/shadow 2>/dev/null || echo refused");
  what.user = other_user;
  const passwd* entry = ::getpwnam(other_user.c_str());
  REQUIRE(entry);
  const std::string uid = std::to_string(entry->pw_uid);
  const std::string gid = std::to_string(entry->pw_gid);
  const std::string home = entry->pw_dir;
  const auto run = start(what);
  CHECK(run->wait_exit().ok());
  const auto four = [](const std::string& id) { return id + ' ' + id + ' ' + id + ' ' + id; };
  CHECK(run->out() == uid + '\n' + gid + "\nUid: " + four(uid) + "\nGid: " + four(gid) +
                        "\nGroups: " + gid + " \n" + home + ' ' + other_user + ' ' + other_user +
                        "\n0 1 2 3 refused\n");

  what.argv = {"bash", "-c", "echo $HOME"};
  what.env["HOME"] = "/elsewhere";
  const auto asked = start(what);
  CHECK(asked->wait_exit().ok());
  CHECK(asked->out() == "/elsewhere\n");
}

TEST_CASE_FIXTURE(host_fixture, "another user gets a terminal of its own") {
  if (::geteuid() != 0)
    return tests::skip("root");
  auto what = script("stat -c %U $(tty); echo through >$(tty)");
  what.user = other_user;
  what.terminal = runtimes::window_size{};
  const auto run = start(what);
  CHECK(run->wait_exit().ok());
  CHECK(run->out() == other_user + "\r\nthrough\r\n");
}

TEST_CASE_FIXTURE(host_fixture, "another user does not start where it may not go") {
  if (::geteuid() != 0)
    return tests::skip("root");
  const tests::scratch folder;
  REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
  auto what = script("true");
  what.user = other_user;
  what.directory = folder.path();
  CHECK(start(what)->refused == "bash could not be started: Permission denied");
}
