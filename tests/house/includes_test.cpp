#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

/// Which folders each folder may include from, and which libraries it may not.
struct floor_rule {
  std::set<std::string> may_include;
  std::vector<std::string> forbidden; ///< prefixes of system includes
};

const std::map<std::string, floor_rule> rules{
  {"protocol",
   {{"protocol"}, {"caf/", "boost/beast", "boost/asio", "boost/process", "spdlog/", "sqlite3"}}},
  {"protocol/transport", {{"protocol"}, {"caf/", "boost/process", "spdlog/", "sqlite3"}}},
  {"config",
   {{"config", "protocol"}, {"caf/", "boost/beast", "boost/asio", "boost/process", "spdlog/"}}},
  {"runtimes", {{"runtimes", "config", "protocol"}, {"caf/", "boost/beast", "sqlite3"}}},
  {"actors",
   {{"actors", "runtimes", "config", "protocol"},
    {"boost/asio", "boost/beast", "boost/process", "sqlite3"}}},
  {"tools", {{"tools", "actors", "runtimes", "config", "protocol"}, {"boost/beast", "sqlite3"}}},
};

/// The one file above `runtimes` that knows Asio: actors run on its threads.
const std::string scheduler = "actors/core/scheduler.";

std::vector<std::string> violations(const std::string& file, const std::string& text) {
  const std::string top = file.substr(0, file.find('/'));
  const bool transport = file.rfind("protocol/transport/", 0) == 0;
  const floor_rule& rule = rules.at(transport ? "protocol/transport" : top);
  std::vector<std::string> out;
  static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch m;
    if (!std::regex_search(line, m, include))
      continue;
    const std::string name = m[2];
    if (m[1] == "\"") {
      if (!rule.may_include.count(name.substr(0, name.find('/'))))
        out.push_back(file + " includes " + name);
      if (top == "protocol" && !transport && name.rfind("protocol/transport/", 0) == 0)
        out.push_back(file + " includes " + name);
    } else {
      for (const auto& prefix : rule.forbidden)
        if (name.rfind(prefix, 0) == 0 && file.rfind(scheduler, 0) != 0)
          out.push_back(file + " includes " + name);
    }
  }
  return out;
}

} // namespace

TEST_CASE("no include goes up a floor") {
  std::vector<std::string> all;
  std::size_t files = 0;
  for (const char* top : {"protocol", "config", "runtimes", "actors", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(AHPD_SOURCE_DIR) / top)) {
      const auto ext = entry.path().extension();
      if (ext != ".hpp" && ext != ".cpp")
        continue;
      ++files;
      const auto name = fs::relative(entry.path(), AHPD_SOURCE_DIR).string();
      for (auto& v : violations(name, ahpd::tests::read_file(entry.path().string())))
        all.push_back(v);
    }
  }
  CHECK(files > 10);
  for (const auto& v : all)
    FAIL_CHECK(v);
}

TEST_CASE("the include check sees each kind of violation") {
  CHECK(violations("protocol/a.cpp", "#include \"actors/b.hpp\"\n").size() == 1);
  CHECK(violations("protocol/a.cpp", "#include <caf/all.hpp>\n").size() == 1);
  CHECK(violations("protocol/a.cpp", "#include \"protocol/transport/http.hpp\"\n").size() == 1);
  CHECK(violations("runtimes/a.cpp", "#include <boost/beast.hpp>\n").size() == 1);
  CHECK(violations("actors/a.cpp", "#include <boost/asio.hpp>\n").size() == 1);
  CHECK(violations("actors/core/scheduler.cpp", "#include <boost/asio.hpp>\n").empty());
  CHECK(violations("actors/a.cpp", "#include \"runtimes/exec.hpp\"\n").empty());
}

namespace {

/// Whether the head of a `while` awaits behind `&&` or `||`: GCC 12 awaits there although the left
/// side has settled the condition already.
bool awaits_in_a_head(const std::string& text) {
  const std::string opening = "while (";
  for (auto at = text.find(opening); at != std::string::npos; at = text.find(opening, at + 1)) {
    auto end = at + opening.size();
    for (int depth = 1; end < text.size() && depth > 0; ++end)
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    const auto head = text.substr(at, end - at);
    const auto first = std::min(head.find("&&"), head.find("||"));
    if (first != std::string::npos && head.find("co_await", first) != std::string::npos)
      return true;
  }
  return false;
}

} // namespace

TEST_CASE("no while awaits behind a short-circuit in its head") {
  CHECK(awaits_in_a_head("while (!a() &&\n  co_await b()) {\n}"));
  CHECK(awaits_in_a_head("while (a || co_await b())\n  c();"));
  CHECK_FALSE(awaits_in_a_head("while (!a()) {\n  if (b && co_await c())\n  d();\n}"));
  CHECK_FALSE(awaits_in_a_head("while (a() && !b)\n  co_await c();"));
  CHECK_FALSE(awaits_in_a_head("while (co_await a()) {\n}"));
  for (const char* top : {"protocol", "config", "runtimes", "actors", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(AHPD_SOURCE_DIR) / top)) {
      const auto ext = entry.path().extension();
      if (ext == ".hpp" || ext == ".cpp")
        CHECK_MESSAGE(!awaits_in_a_head(ahpd::tests::read_file(entry.path().string())),
                      entry.path().filename().string());
    }
}
