#include "protocol/ahp/terminal_stream.hpp"

#include <doctest/doctest.h>

using namespace ahpd;
using kind = ahp::terminal_piece::kind;

namespace {

std::vector<ahp::terminal_piece> feed_all(std::string_view bytes, std::size_t step) {
  ahp::terminal_stream stream;
  std::vector<ahp::terminal_piece> out;
  for (std::size_t i = 0; i < bytes.size(); i += step)
    for (auto& piece : stream.feed(bytes.substr(i, step)))
      out.push_back(std::move(piece));
  for (auto& piece : stream.finish())
    out.push_back(std::move(piece));
  return out;
}

std::string text_of(const std::vector<ahp::terminal_piece>& pieces) {
  std::string out;
  for (const auto& piece : pieces)
    if (piece.what == kind::text)
      out += piece.text;
  return out;
}

/// Everything but text, as "kind:text:code".
std::string marks_of(const std::vector<ahp::terminal_piece>& pieces) {
  std::string out;
  for (const auto& piece : pieces)
    if (piece.what != kind::text)
      out += std::to_string(static_cast<int>(piece.what)) + ":" + piece.text +
             (piece.exit_code ? ":" + std::to_string(*piece.exit_code) : "") + "\n";
  return out;
}

} // namespace

TEST_CASE("a terminal's text is the same however its bytes are cut") {
  const std::string bytes =
    "h\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80 \xFF\xC3 \x1b[1mbold\x1b[0m"
    "\x1b]0;a t\xC3\xADtle\x07\x1b]7;file://box/srv/a%20b\x1b\\"
    "\x1b]633;A\x07$ \x1b]633;E;echo \\x3b\\\\;nonce\x07\x1b]633;C\x07out\r\n"
    "\x1b]633;D;3\x07\x1b]133;C\x1b\\x\x1b]133;D\x1b\\ end\xE2\x82";
  const auto whole = feed_all(bytes, bytes.size());
  CHECK(text_of(whole) ==
        "h\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80 \xEF\xBF\xBD\xEF\xBF\xBD \x1b[1mbold\x1b[0m"
        "\x1b]0;a t\xC3\xADtle\x07\x1b]7;file://box/srv/a%20b\x1b\\$ out\r\nx end"
        "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(marks_of(whole) == "1:a t\xC3\xADtle\n2:file:///srv/a%20b\n3:echo ;\\\n4::3\n3:\n4:\n");
  for (std::size_t step = 1; step < 9; ++step) {
    CAPTURE(step);
    const auto cut = feed_all(bytes, step);
    CHECK(text_of(cut) == text_of(whole));
    CHECK(marks_of(cut) == marks_of(whole));
  }
}

TEST_CASE("an operating system command that never ends is shown, and so is one broken off") {
  const std::string endless = "\x1b]0;" + std::string(40'000, 'x');
  ahp::terminal_stream stream;
  CHECK(stream.feed(endless.substr(0, 100)).empty());
  CHECK(text_of(stream.feed(endless.substr(100))) == endless);
  CHECK(text_of(feed_all("\x1b]0;a\x1b[mb\x18"
                         "c\x07",
                         1)) == "\x1b]0;a\x1b[mb\x18"
                                "c\x07");
  CHECK(marks_of(feed_all("\x1b]0;a\x1b[mb\x07", 1)).empty());
  CHECK(marks_of(feed_all("\x1b]7;https://box/x\x07\x1b]7;file://box\x07", 100)).empty());
}

TEST_CASE("a preview has no escapes, and starts with a line") {
  CHECK(ahp::without_escapes(
          "\x1b[1;31mred\x1b[0m\r\n\x1b]8;;http://x\x1b\\link\x1b]8;;\x07\t\x1b(B\x07.") ==
        "red\nlink\t.");
  CHECK(ahp::without_escapes("cut \x1b[3") == "cut ");
  CHECK(ahp::last_lines("one\ntwo\nthree\n", 7) == "three\n");
  CHECK(ahp::last_lines("one\n", 7) == "one\n");
  CHECK(ahp::last_lines("\xC3\xA4\xC3\xA4\xC3\xA4", 3) == "\xC3\xA4");
  CHECK(ahp::last_bytes("a\xE2\x82\xAC", 2).empty());
}

TEST_CASE("content is trimmed from its beginning, by parts and lines") {
  json::value state = json::parse(R"({"content":[
    {"type":"unclassified","value":"0123456789"},
    {"type":"command","commandId":"1","output":"aaaa\nbbbb\n","isComplete":true},
    {"type":"unclassified","value":"tail"}]})");
  auto same = state;
  CHECK(ahp::trim_content(same, 24) == 24);
  CHECK(same == state);
  CHECK(ahp::trim_content(state, 10) == 9);
  CHECK(state.at("content").as_array().size() == 2);
  CHECK(state.at("content").at(0).at("output") == "bbbb\n");
  CHECK(ahp::trim_content(state, 4) == 4);
  CHECK(state.at("content").at(0).at("value") == "tail");
  CHECK(ahp::trim_content(state, 0) == 0);
  CHECK(state.at("content").as_array().empty());
}
