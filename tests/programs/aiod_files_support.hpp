#pragma once

#include "protocol/percent.hpp"
#include "tests/programs/aiod_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace ahpd::tests {

/// aiod, and a folder for its files.
struct files_fixture {
  tests::aiod_process aiod;
  std::string root = aiod.folder() + "/w";

  explicit files_fixture(std::vector<std::string> words = {},
                         std::map<std::string, std::string> env = {})
      : aiod(std::move(words), std::move(env)) {
    std::filesystem::create_directory(root);
  }

  std::string at(const std::string& name) const { return root + "/" + name; }
  void put(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
    std::ofstream(at(name), std::ios::binary) << bytes;
  }
  std::string disk(const std::string& name) const { return tests::read_file(at(name)); }
  std::size_t names() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(root),
                                                  std::filesystem::directory_iterator()));
  }

  tests::aiod_answer get(const std::string& route, const std::string& name,
                         const std::string& more = {}) {
    return aiod.ask("GET", "/v2/fs/" + route + "?path=" + percent::encode(at(name)) + more);
  }
  tests::aiod_answer post(const std::string& route, json::object body,
                          const std::string& query = {}) {
    for (const char* member : {"path", "source", "destination"})
      if (auto* given = body.if_contains(member))
        *given = at(std::string(given->as_string()));
    return aiod.ask("POST", "/v2/fs/" + route + query, json::value(std::move(body)));
  }
};

inline struct stat stat_of(const std::string& path) {
  struct stat s {};
  REQUIRE(::lstat(path.c_str(), &s) == 0);
  return s;
}

/// That an answer is the error object of a file operation.
inline void check_error(const tests::aiod_answer& got, unsigned status, const std::string& type,
                        const char* errno_name) {
  CHECK_MESSAGE(got.status == status, got.body);
  CHECK(got.json().at("success") == false);
  const auto data = got.data();
  REQUIRE(data.is_object());
  std::vector<std::string> keys;
  for (const auto& each : data.get_object())
    keys.emplace_back(each.key());
  CHECK(keys == std::vector<std::string>{"errno", "errno_name", "error_type", "exception_type",
                                         "message", "operation", "path", "retryable"});
  CHECK(json::text(data, "error_type") == type);
  CHECK(json::text(data, "errno_name") == errno_name);
  CHECK(got.message() == json::text(data, "message"));
}

} // namespace ahpd::tests
