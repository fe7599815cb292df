#include "runtimes/process/accounts.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <fstream>

using namespace ahpd;

TEST_CASE("accounts are what the files say now, with all their groups") {
  tests::scratch files;
  const auto passwd = files.path() + "/passwd", group = files.path() + "/group";
  std::ofstream(passwd) << "root:x:0:0:root:/root:/bin/bash\n"
                           "not a line\n"
                           "ada:x:1001:1001::/home/ada:/bin/zsh\n"
                           "1002:x:7:7::/home/seven:/bin/sh\n";
  std::ofstream(group) << "root:x:0:\nada:x:1001:\nwheel:x:10:ada,root\nbig:x:11:root,ada\n";
  const process::accounts sut(passwd, group);
  const auto ada = sut.find("ada");
  REQUIRE(ada);
  CHECK(ada->home == "/home/ada");
  CHECK(ada->shell == "/bin/zsh");
  CHECK(ada->who.uid == 1001);
  CHECK(ada->who.groups == std::vector<gid_t>{1001, 10, 11});
  CHECK(sut.find("1001")->name == "ada");
  CHECK(sut.find("1002")->who.uid == 7); // a name comes before a number
  CHECK_FALSE(sut.find("nobody"));
  CHECK_FALSE(sut.find("55"));
  CHECK_FALSE(sut.find(""));
  std::ofstream(passwd, std::ios::app) << "bob:x:1003:1003::/home/bob:/bin/sh\n";
  CHECK(sut.find("bob"));
  CHECK_FALSE(process::accounts(files.path() + "/none", files.path() + "/none").find("root"));
}

TEST_CASE("an entry longer than any buffer at first is read, too") {
  tests::scratch files;
  std::string members = "ada";
  for (int i = 0; i < 5000; ++i)
    members += ",user" + std::to_string(i);
  std::ofstream(files.path() + "/passwd") << "ada:x:1001:1001::/home/ada:/bin/sh\n";
  std::ofstream(files.path() + "/group") << "many:x:50:" << members << "\nlast:x:51:ada\n";
  const process::accounts sut(files.path() + "/passwd", files.path() + "/group");
  CHECK(sut.find("ada")->who.groups == std::vector<gid_t>{1001, 50, 51});
}
