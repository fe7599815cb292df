#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

/// The Engine API's two kinds of streams: framed output, and one JSON document a line.
namespace ahpd::docker {

enum class stream_kind : std::uint8_t { out = 0, err = 1 };

/// Takes the frames of a program without a terminal apart: 8 bytes that name the stream and a
/// length, then so many bytes of output. Holds no output: what comes is handed on as far as it is
/// there.
class demultiplexer {
public:
  using sink = std::function<void(stream_kind, std::string_view)>;

  /// False when the bytes are no such frames; nothing more is read then.
  bool feed(std::string_view bytes, const sink& to);

  /// Whether the stream stands between two frames, as it does at a proper end.
  bool whole() const { return left_ == 0 && header_.empty() && !broken_; }

private:
  std::string header_;     // of the frame that is coming, while shorter than 8 bytes
  std::uint32_t left_ = 0; // bytes of the running frame that are still to come
  stream_kind kind_ = stream_kind::out;
  bool broken_ = false;
};

/// Cuts a stream into lines. A line longer than the bound is left out whole and counted.
class line_splitter {
public:
  explicit line_splitter(std::size_t most) : most_(most) {}

  /// Gives each complete line, without its end and without empty ones.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& on_line);

  std::size_t left_out() const { return left_out_; }

private:
  std::size_t most_;
  std::string line_;
  bool skipping_ = false;
  std::size_t left_out_ = 0;
};

} // namespace ahpd::docker
