#include "protocol/percent.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

TEST_CASE("any bytes survive being percent-encoded") {
  std::string every;
  for (int c = 0; c < 256; ++c)
    every += static_cast<char>(c);
  const auto text = percent::encode(every);
  for (const char c : text)
    CHECK((c == '%' || percent::stands_for_itself(c)));
  CHECK(percent::decode(text) == every);
  CHECK(percent::encode("a b/c~\xc3\xa9") == "a%20b%2Fc~%C3%A9");
  CHECK(percent::encode("a/b c", "/") == "a/b%20c");
  CHECK(percent::decode("%e2%82%AC") == "\xe2\x82\xac");
  CHECK(percent::decode("a+b") == "a+b");
}

TEST_CASE("a percent sign that encodes nothing is refused") {
  for (const char* wrong : {"%", "%4", "a%", "%zz", "%4g", "%%41"})
    CHECK_FALSE(percent::decode(wrong).has_value());
  CHECK(percent::decode("%41") == "A");
  CHECK(percent::decode("").has_value());
}
