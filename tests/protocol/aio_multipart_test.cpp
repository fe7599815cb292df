#include "protocol/aio/multipart.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ahpd::aio;

namespace {

struct form {
  std::vector<form_part> parts;
  std::vector<std::string> bytes;
  bool fine = true;
  bool done = false;
};

form read(const std::string& body, std::size_t piece) {
  form out;
  std::size_t ended = 0;
  multipart_reader reader("b", {[&](form_part part) {
                                  CHECK(ended == out.parts.size());
                                  out.parts.push_back(std::move(part));
                                  out.bytes.emplace_back();
                                },
                                [&](std::string_view bytes) { out.bytes.back() += bytes; },
                                [&] { ++ended; }});
  for (std::size_t at = 0; at < body.size() && out.fine; at += piece)
    out.fine = reader.feed(std::string_view(body).substr(at, piece));
  out.done = reader.is_done();
  return out;
}

} // namespace

TEST_CASE("a form is read in pieces of any size") {
  const std::string nasty = "\r\n--\r\n--a\r\n-\r--b";
  const std::string body =
    "preamble\r\n--b \r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" + nasty +
    "\r\n--b\r\ncontent-disposition: form-data;filename=\"x/y\\\"z\"; "
    "name=f\r\nX: y\r\n\r\n\r\n--b--\r\nepilogue";
  for (std::size_t piece = 1; piece <= body.size(); ++piece) {
    const auto got = read(body, piece);
    REQUIRE(got.fine);
    CHECK(got.done);
    REQUIRE(got.parts.size() == 2);
    CHECK(got.parts[0].name == "a");
    CHECK(got.parts[0].file_name == "");
    CHECK(got.bytes[0] == nasty);
    CHECK(got.parts[1].name == "f");
    CHECK(got.parts[1].file_name == "y\"z");
    CHECK(got.bytes[1] == "");
  }
}

TEST_CASE("a form that is none is told, and one without its end is not done") {
  CHECK(!read("--bx\r\n", 100).fine);
  CHECK(!read("--b\r\n" + std::string(40'000, 'h'), 1000).fine);
  CHECK(!read("--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b", 100).done);
  CHECK(!read("nothing", 100).done);
}

TEST_CASE("a form's boundary is in its type") {
  CHECK(boundary_of("multipart/form-data; boundary=x") == "x");
  CHECK(boundary_of("Multipart/Form-Data;charset=a; Boundary=\"x y\"") == "x y");
  CHECK(!boundary_of("multipart/mixed; boundary=x"));
  CHECK(!boundary_of("multipart/form-data"));
  CHECK(!boundary_of("multipart/form-data; boundary="));
}
