#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace ahpd::tests {

namespace fs = std::filesystem;

std::optional<std::string> shared_folder() {
  const char* named = std::getenv("AHPD_SHARED");
  const fs::path path = named ? fs::path(named) : fs::path(AHPD_SOURCE_DIR) / ".." / "shared";
  std::error_code ec;
  if (!fs::is_directory(path / "ahp", ec))
    return std::nullopt;
  return fs::weakly_canonical(path).string();
}

void skip(const std::string& missing) {
  const char* ci = std::getenv("CI");
  if (ci && std::string(ci) == "1")
    FAIL("CI needs " << missing << ", and it is not there");
  std::cout << "skipped: " << doctest::getContextOptions()->currentTest->m_name << ": no " << missing
            << '\n';
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path << " can be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

scratch::scratch() {
  std::string name = (fs::temp_directory_path() / "ahpd-test-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()));
  path_ = name;
}

scratch::~scratch() {
  std::error_code ec;
  fs::remove_all(path_, ec);
}

} // namespace ahpd::tests
