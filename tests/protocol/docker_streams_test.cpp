#include "protocol/docker/pull.hpp"
#include "protocol/docker/streams.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ahpd::docker;

namespace {

std::string frame(char kind, const std::string& payload) {
  const auto n = payload.size();
  std::string out{kind, 0, 0, 0};
  for (const int shift : {24, 16, 8, 0})
    out += static_cast<char>(n >> shift & 0xffU);
  return out + payload;
}

struct collected {
  std::string out;
  std::string err;
  demultiplexer::sink sink() {
    return [this](stream_kind kind, std::string_view bytes) {
      (kind == stream_kind::out ? out : err) += bytes;
    };
  }
};

std::vector<std::string> lines_of(line_splitter& splitter, std::string_view bytes) {
  std::vector<std::string> out;
  splitter.feed(bytes, [&](std::string_view line) { out.emplace_back(line); });
  return out;
}

} // namespace

TEST_CASE("frames come apart into two streams wherever the bytes were cut") {
  const std::string odd("a\0b\xff\n", 5);
  const auto all = frame(1, odd) + frame(2, "warn") + frame(1, "") +
                   frame(1, std::string(70'000, 'x')) + frame(3, "engine");
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, std::size_t{8191}, all.size()}) {
    demultiplexer sut;
    collected got;
    for (std::size_t i = 0; i < all.size(); i += step)
      REQUIRE(sut.feed(std::string_view(all).substr(i, step), got.sink()));
    CHECK(got.out == odd + std::string(70'000, 'x'));
    CHECK(got.err == "warnengine");
    CHECK(sut.whole());
  }
}

TEST_CASE("output is handed on before its frame is complete") {
  demultiplexer sut;
  collected got;
  REQUIRE(sut.feed(frame(1, "hello").substr(0, 10), got.sink()));
  CHECK(got.out == "he");
  CHECK_FALSE(sut.whole());
}

TEST_CASE("bytes that are no frames are told apart at once and for good") {
  demultiplexer sut;
  collected got;
  CHECK_FALSE(sut.feed("HTTP/1.1 500", got.sink()));
  CHECK_FALSE(sut.feed(frame(1, "x"), got.sink()));
  CHECK(got.out.empty());
  CHECK_FALSE(sut.whole());
}

TEST_CASE("lines are whole whatever the pieces, and empty ones are left out") {
  line_splitter sut(100);
  CHECK(lines_of(sut, "{\"a\":").empty());
  CHECK(lines_of(sut, "1}\r\n\n\r\n{\"b\"") == std::vector<std::string>{"{\"a\":1}"});
  CHECK(lines_of(sut, ":2}\n") == std::vector<std::string>{"{\"b\":2}"});
}

TEST_CASE("a line above the bound is left out and the next one is read") {
  line_splitter sut(8);
  CHECK(lines_of(sut, "12345678\n") == std::vector<std::string>{"12345678"});
  CHECK(lines_of(sut, "12345").empty());
  CHECK(lines_of(sut, "6789").empty());
  CHECK(lines_of(sut, std::string(100, 'x')).empty());
  CHECK(lines_of(sut, "\nok\n") == std::vector<std::string>{"ok"});
  CHECK(sut.left_out() == 1);
}

TEST_CASE("a pull's lines fold into bytes and layers") {
  pull_report sut;
  CHECK(sut.take(R"({"status":"Pulling from library/debian","id":"bookworm-slim"})"));
  CHECK(sut.message() == "Pulling from library/debian");
  CHECK(sut.total() == 0);
  sut.take(R"({"status":"Pulling fs layer","progressDetail":{},"id":"a"})");
  sut.take(R"({"status":"Pulling fs layer","progressDetail":{},"id":"b"})");
  CHECK(sut.message() == "0 of 2 layers");
  sut.take(R"({"status":"Downloading","progressDetail":{"current":10,"total":100},"id":"a"})");
  sut.take(R"({"status":"Downloading","progressDetail":{"current":5,"total":50},"id":"b"})");
  CHECK(sut.current() == 15);
  CHECK(sut.total() == 150);
  sut.take(R"({"status":"Download complete","progressDetail":{},"id":"a"})");
  CHECK(sut.current() == 105);
  // What is unpacked is counted against another total and must not be added to the fetched bytes.
  sut.take(R"({"status":"Extracting","progressDetail":{"current":1,"total":100},"id":"a"})");
  CHECK(sut.current() == 105);
  sut.take(R"({"status":"Pull complete","progressDetail":{},"id":"a"})");
  sut.take(R"({"status":"Already exists","progressDetail":{},"id":"b"})");
  CHECK(sut.current() == 150);
  CHECK(sut.message() == "2 of 2 layers");
  CHECK(sut.error().empty());
}

TEST_CASE("a pull never has more than there is, whatever a registry says of its sizes") {
  pull_report sut;
  sut.take(R"({"status":"Downloading","progressDetail":{"current":10},"id":"a"})");
  CHECK(sut.current() == 10);
  CHECK(sut.total() == 10);
  sut.take(R"({"status":"Downloading","progressDetail":{"current":30,"total":20},"id":"a"})");
  CHECK(sut.current() == 30);
  CHECK(sut.total() == 30);
  for (const char* id : {"b", "c"})
    sut.take(R"({"status":"Downloading","progressDetail":{"current":1,
                 "total":18446744073709551615},"id":")" +
             std::string(id) + "\"}");
  CHECK(sut.current() == 32);
  CHECK(sut.total() == 30 + (std::uint64_t{1} << 44));
}

TEST_CASE("a pull's failure keeps the engine's words") {
  pull_report sut;
  sut.take(R"({"errorDetail":{"message":"manifest unknown"},"error":"other"})");
  CHECK(sut.error() == "manifest unknown");
  pull_report old;
  old.take(R"({"error":"no space left"})");
  CHECK(old.error() == "no space left");
}

TEST_CASE("a pull survives lines that are no JSON and numbers that are no sizes") {
  pull_report sut;
  CHECK_FALSE(sut.take("<html>"));
  sut.take(R"({"status":"Downloading","progressDetail":{"current":-5,"total":"x"},"id":"a"})");
  CHECK(sut.current() == 0);
  CHECK(sut.total() == 0);
  for (int i = 0; i < 3000; ++i)
    sut.take(R"({"status":"Waiting","id":")" + std::to_string(i) + "\"}");
  CHECK(sut.message() == "0 of 1024 layers");
}
