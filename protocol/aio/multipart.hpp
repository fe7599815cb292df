#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ahpd::aio {

/// What a part of a form says of itself (RFC 7578).
struct form_part {
  std::string name;
  std::string file_name; ///< any bytes; without folders; empty when none was sent
};

/// Reads a multipart/form-data body as it comes, in memory of a fixed size.
class multipart_reader {
public:
  struct listener {
    std::function<void(form_part)> begin;
    std::function<void(std::string_view)> data; ///< of the part that began
    std::function<void()> end;
  };

  multipart_reader(std::string boundary, listener to);

  /// The next bytes; calls the listener, whose exceptions pass. False: this is no such body.
  bool feed(std::string_view bytes);

  /// Whether the last part has ended.
  bool is_done() const { return at_ == state::done; }

private:
  enum class state : std::uint8_t { preamble, boundary, header, data, done, broken };

  bool step();
  bool step_content();
  bool step_boundary();
  bool step_header();

  const std::string delimiter_;
  const listener to_;
  std::string buffer_ = "\r\n"; ///< the first delimiter may be at the very beginning
  state at_ = state::preamble;
};

/// The boundary of a Content-Type; nothing when it is of no form.
std::optional<std::string> boundary_of(std::string_view content_type);

} // namespace ahpd::aio
