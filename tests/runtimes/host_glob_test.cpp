#include "runtimes/host/glob.hpp"

#include <doctest/doctest.h>

#include <string>

using ahpd::runtimes::matches_pattern;

TEST_CASE("a pattern matches whole relative paths") {
  for (const auto& [pattern, path] : {std::pair{"a", "a"},
                                      {"*", "a.txt"},
                                      {"*.txt", "a.txt"},
                                      {"a?c", "abc"},
                                      {"**", "a/b/c"},
                                      {"**/c", "c"},
                                      {"**/c", "a/b/c"},
                                      {"a/**", "a/b/c"},
                                      {"a/**/c", "a/c"},
                                      {"a/**/c", "a/x/y/c"},
                                      {"**/b/**", "b/x"},
                                      {"**/b/**", "a/b/x/y"},
                                      {"a/*/c*", "a/b/cd"},
                                      {"", ""}})
    CHECK_MESSAGE(matches_pattern(pattern, path), pattern << " takes " << path);
  for (const auto& [pattern, path] : {std::pair{"a", "b"},
                                      {"a", "ab"},
                                      {"*", "a/b"},
                                      {"a?c", "a/c"},
                                      {"**/c", "bc"},
                                      {"a/**/c", "a/xc"},
                                      {"a/*/c", "a/b/x/c"},
                                      {"**/b/**", "b"},
                                      {"", "a"},
                                      {"a", ""}})
    CHECK_MESSAGE(!matches_pattern(pattern, path), pattern << " does not take " << path);
}

TEST_CASE("a pattern of many stars is decided at once") {
  std::string stars;
  for (int i = 0; i < 80; ++i)
    stars += "**a";
  CHECK_FALSE(matches_pattern(stars + "b", std::string(2'000, 'a')));
}

TEST_CASE("brackets are a set of characters where they are asked for") {
  using ahpd::runtimes::brackets;
  const auto is = [](const char* pattern, const char* path) {
    return matches_pattern(pattern, path, brackets::sets);
  };
  CHECK(is("[abc].x", "b.x"));
  CHECK(is("[a-c]", "c"));
  CHECK(!is("[a-c]", "d"));
  CHECK(is("[!a-c]", "d"));
  CHECK(!is("[!a-c]", "b"));
  CHECK(is("[]x]", "]"));
  CHECK(is("[a-]", "-"));
  CHECK(!is("a[!b]c", "a/c"));
  CHECK(is("[a", "[a"));
  CHECK(is("**/[x]*", "a/b/xy"));
  CHECK(!matches_pattern("[a]", "a"));
  CHECK(matches_pattern("[a]", "[a]"));
}
