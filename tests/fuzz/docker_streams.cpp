// Streams of the Engine API, whole and cut into pieces: both must give the same.

#include "tests/fuzz/fuzz.hpp"

#include "protocol/docker/pull.hpp"
#include "protocol/docker/records.hpp"
#include "protocol/docker/stats.hpp"
#include "protocol/docker/streams.hpp"
#include "protocol/json.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace ahpd::fuzz {

namespace {

/// Calls `feed` with `bytes` in pieces of these lengths, over and over.
template <class Feed>
void in_pieces(std::string_view bytes, const std::vector<std::size_t>& lengths, Feed feed) {
  for (std::size_t i = 0; !bytes.empty(); ++i) {
    const auto n = std::min(bytes.size(), lengths[i % lengths.size()]);
    feed(bytes.substr(0, n));
    bytes.remove_prefix(n);
  }
}

struct output {
  std::string out;
  std::string err;
  bool sound = true;
  bool whole = false;

  bool operator==(const output&) const = default;
};

output demultiplexed(std::string_view bytes, const std::vector<std::size_t>& lengths) {
  output o;
  docker::demultiplexer reader;
  in_pieces(bytes, lengths, [&](std::string_view piece) {
    o.sound = o.sound && reader.feed(piece, [&](docker::stream_kind kind, std::string_view text) {
      (kind == docker::stream_kind::out ? o.out : o.err) += text;
    });
  });
  o.whole = reader.whole();
  return o;
}

std::vector<std::string> lines(std::string_view bytes, const std::vector<std::size_t>& lengths) {
  constexpr std::size_t longest = 64;
  std::vector<std::string> out;
  docker::line_splitter reader(longest);
  in_pieces(bytes, lengths, [&](std::string_view piece) {
    reader.feed(piece, [&](std::string_view line) {
      must(line.size() <= longest && !line.empty(), "a line is within its bound");
      out.emplace_back(line);
    });
  });
  out.push_back(std::to_string(reader.left_out()) + " left out");
  return out;
}

} // namespace

void take(std::string_view bytes) {
  // Two bytes say how the rest is cut.
  if (bytes.size() < 2)
    return;
  const std::vector<std::size_t> pieces{1u + static_cast<unsigned char>(bytes[0]) % 16u,
                                        1u + static_cast<unsigned char>(bytes[1])};
  bytes.remove_prefix(2);
  const std::vector<std::size_t> whole{bytes.size() + 1};
  must(demultiplexed(bytes, pieces) == demultiplexed(bytes, whole), "cut frames read the same");
  must(lines(bytes, pieces) == lines(bytes, whole), "cut lines read the same");

  docker::pull_report pull;
  while (!bytes.empty()) {
    const auto line = cut(bytes, '\n');
    pull.take(line);
    must(pull.current() <= pull.total() || pull.total() == 0, "no more is fetched than there is");
    docker::read_event(line);
    std::string error;
    const auto document = json::parse_text(line, 32, error);
    if (!document)
      continue;
    docker::read_container(*document);
    docker::read_exec(*document);
    docker::usage(*document, 2.0);
    docker::usage(*document, std::nullopt);
  }
}

} // namespace ahpd::fuzz
