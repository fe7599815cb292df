#include "protocol/utf8.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>

using namespace ahpd;

TEST_CASE("only RFC 3629 text is valid") {
  CHECK(utf8::valid(""));
  CHECK(utf8::valid("plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"));
  for (const std::string bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80",
                                "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
                                "a\xC3", "\xE2\x82", "\xC3\x28"})
    CHECK_FALSE(utf8::valid(bad));
}

TEST_CASE("a character cut at the end is found, whatever its length") {
  const std::string text = "x\xF0\x9F\x98\x80";
  CHECK(utf8::trailing_part(text) == 0);
  CHECK(utf8::trailing_part(text.substr(0, 4)) == 3);
  CHECK(utf8::trailing_part(text.substr(0, 3)) == 2);
  CHECK(utf8::trailing_part(text.substr(0, 2)) == 1);
  CHECK(utf8::trailing_part("x") == 0);
  CHECK(utf8::trailing_part("\xFF") == 0);
  CHECK(utf8::trailing_part("\x80\x80\x80\x80") == 0);
}

TEST_CASE("the rest of a character at the start is found") {
  CHECK(utf8::leading_rest("\x9F\x98\x80x") == 3);
  CHECK(utf8::leading_rest("x\x80") == 0);
  CHECK(utf8::leading_rest("") == 0);
}

TEST_CASE("places in UTF-16 and in UTF-8 are told from each other") {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"; // 1, 1, 1, 2, 1 units
  CHECK(utf8::utf16_size(text) == 6);
  const std::array<std::optional<std::size_t>, 8> places{0, 1, 3, 6, std::nullopt, 10, 11,
                                                         std::nullopt};
  for (std::size_t i = 0; i < places.size(); ++i)
    CHECK(utf8::at_utf16(text, i) == places[i]);
  CHECK_FALSE(utf8::at_utf16("", ~std::uint64_t{0}));
}
