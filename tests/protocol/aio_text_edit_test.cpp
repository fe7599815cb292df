#include "protocol/aio/download.hpp"
#include "protocol/aio/file_error.hpp"
#include "protocol/aio/text_edit.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>

using namespace ahpd::aio;

namespace {

std::string inserted(std::string_view text, std::int64_t behind, std::string_view lines) {
  return std::get<edited>(insert_lines(text, behind, lines)).text;
}

} // namespace

TEST_CASE("lines are inserted with the ending that the text has") {
  CHECK(inserted("a\nb\n", 1, "x") == "a\nx\nb\n");
  CHECK(inserted("a\nb\n", 0, "x\n") == "x\na\nb\n");
  CHECK(inserted("a\r\nb\r\n", 1, "x\ny") == "a\r\nx\r\ny\r\nb\r\n");
  CHECK(inserted("a\nb", 2, "x") == "a\nb\nx");
  CHECK(inserted("a\nb\n", 2, "x") == "a\nb\nx\n");
  CHECK(inserted("", 0, "x") == "x\n");
  CHECK(std::get<std::string>(insert_lines("a\n", 2, "x")) ==
        "insert_line must be between 0 and 1");
  CHECK(std::get<std::string>(insert_lines("a\n", -1, "x")) ==
        "insert_line must be between 0 and 1");
}

TEST_CASE("occurrences do not overlap, and the last is the last") {
  CHECK(std::get<edited>(replace_text("aaa", "aa", "b", occurrences::all)).text == "ba");
  CHECK(std::get<edited>(replace_text("aaa", "aa", "b", occurrences::last)).text == "ab");
  CHECK(std::get<edited>(replace_text("aaa", "aa", "b", occurrences::first)).text == "ba");
  CHECK(std::get<edited>(replace_text("xay", "a", "", occurrences::only)).text == "xy");
  CHECK(std::get<std::string>(replace_text("a", "", "", occurrences::all)) ==
        "old_str must not be empty");
}

TEST_CASE("a snippet has four lines around what is new") {
  std::string text;
  for (int i = 1; i <= 20; ++i)
    text += std::to_string(i) + "\n";
  const auto made = std::get<edited>(replace_text(text, "10\n", "x\ny\n", occurrences::only));
  const auto got = snippet(made);
  CHECK(got.substr(0, 9) == "     6\t6\n");
  CHECK(got.find("    10\tx\n    11\ty\n    12\t11\n") != std::string::npos);
}

TEST_CASE("a range of bytes is what HTTP says it is") {
  const auto is = [](std::string_view field, std::uint64_t offset, std::uint64_t size) {
    const auto got = range_of(field, 10);
    return got && got->offset == offset && got->size == size;
  };
  CHECK(is("bytes=0-0", 0, 1));
  CHECK(is("bytes=3-", 3, 7));
  CHECK(is("bytes=-3", 7, 3));
  CHECK(is("bytes=-30", 0, 10));
  CHECK(is("bytes=5-99999999999999999999999", 5, 5));
  CHECK(is("bytes=10-", 0, 0)); // not there
  CHECK(is("bytes=-0", 10, 0));
  for (const char* passed : {"", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-4", "items=0-1",
                             "bytes=0-1,3-4", "bytes=0 - 1"})
    CHECK(!range_of(passed, 10));
  CHECK(range_of("bytes=0-", 0)->size == 0);
  CHECK(has_tag("\"a\", W/\"b\"", "\"b\""));
  CHECK(has_tag("*", "\"b\""));
  CHECK(!has_tag("\"ab\"", "\"b\""));
  CHECK(attachment("a\n\xc3\xa4") == "attachment; filename=\"a___\"; filename*=UTF-8''a%0A%C3%A4");
  CHECK(http_date(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST_CASE("errors of the system have the kinds and status codes of the specification") {
  const auto of = [](int error) { return file_error_of(error, "read", "read file", "/p"); };
  CHECK(of(ENOENT).status == 404);
  CHECK(of(EACCES).status == 403);
  CHECK(of(EEXIST).status == 409);
  CHECK(of(EISDIR).status == 400);
  CHECK(of(ENOSPC).status == 507);
  CHECK(of(EDQUOT).status == 507);
  CHECK(of(EROFS).status == 500);
  CHECK(of(EROFS).data.at("error_type") == "read_only_filesystem");
  CHECK(of(EBUSY).data.at("retryable") == true);
  CHECK(of(EIO).data.at("retryable") == false);
  CHECK(of(EIO).message == "Failed to read file: Input/output error (os error 5)");
  const auto unknown = of(ENOKEY);
  CHECK(unknown.status == 500);
  CHECK(unknown.data.at("errno") == ENOKEY);
  CHECK(unknown.data.at("errno_name").is_null());
}
