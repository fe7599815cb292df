#include "tools/ahpd/client/turn_view.hpp"

#include "protocol/ahp/uris.hpp"
#include "tools/ahpd/client/print.hpp"

namespace ahpd::client {

namespace {

std::optional<std::uint64_t> whole_number(const json::value* v) {
  if (v && v->is_int64() && v->get_int64() >= 0)
    return static_cast<std::uint64_t>(v->get_int64());
  if (v && v->is_uint64())
    return v->get_uint64();
  return std::nullopt;
}

/// The bytes of one content entry; nothing for kinds that carry none.
std::optional<std::string> bytes_of(const json::value& entry) {
  if (const auto text = json::string_member(entry, "text"))
    return std::string(*text);
  if (const auto data = json::string_member(entry, "data"))
    return ahp::base64_decode(*data);
  return std::nullopt;
}

} // namespace

turn_view::turn_view(std::function<void(stream, std::string_view)> write,
                     std::function<void(const std::string&)> note)
    : write_(std::move(write)), note_(std::move(note)) {}

void turn_view::show(const json::value& turn) {
  const auto* parts = json::member(turn, "responseParts");
  if (!parts || !parts->is_array())
    return;
  for (const auto& part : parts->get_array()) {
    const auto kind = json::string_member(part, "kind");
    const auto* call = json::member(part, "toolCall");
    if (kind == "markdown")
      show_markdown(std::string(json::string_member(part, "id").value_or("")),
                    json::string_member(part, "content").value_or(""));
    else if (kind == "toolCall" && call)
      show_tool_call(*call);
  }
}

void turn_view::show_markdown(const std::string& id, std::string_view content) {
  auto& shown = markdown_[id];
  if (content.size() <= shown)
    return;
  write_(stream::out, content.substr(shown));
  shown = content.size();
}

void turn_view::show_tool_call(const json::value& call) {
  auto& shown = calls_[std::string(json::string_member(call, "toolCallId").value_or(""))];
  if (shown.finished)
    return;
  std::string unnamed;
  if (const auto* content = json::member(call, "content"); content && content->is_array()) {
    for (const auto& entry : content->get_array()) {
      const auto bytes = bytes_of(entry);
      if (!bytes)
        continue;
      const auto* meta = json::member(entry, "_meta");
      const auto name = meta ? json::string_member(*meta, "ahpd.stream") : std::nullopt;
      const auto offset = meta ? whole_number(json::member(*meta, "ahpd.offset")) : std::nullopt;
      if (name && offset)
        show_stream(shown, name == "stderr" ? stream::err : stream::out, *offset, *bytes);
      else
        unnamed += *bytes;
    }
  }
  if (unnamed.size() > shown.text.size() && unnamed.rfind(shown.text, 0) == 0) {
    write_(stream::out, std::string_view(unnamed).substr(shown.text.size()));
    shown.text = std::move(unnamed);
  } else if (!unnamed.empty() && shown.text.rfind(unnamed, 0) != 0) {
    write_(stream::out, unnamed); // an agent may replace what it showed before
    shown.text = std::move(unnamed);
  }
  const auto status = json::string_member(call, "status");
  if (status == "completed" || status == "cancelled")
    finish(shown, call);
}

void turn_view::show_stream(tool_call& shown, stream which, std::uint64_t offset,
                            std::string_view bytes) {
  auto& at = which == stream::out ? shown.shown_out : shown.shown_err;
  if (offset > at) {
    note_(std::to_string(offset - at) + " bytes of standard " +
          (which == stream::out ? "output" : "error") +
          " are left out here: the hub no longer holds them");
    at = offset;
  }
  if (offset + bytes.size() <= at)
    return;
  write_(which, bytes.substr(at - offset));
  at = offset + bytes.size();
}

void turn_view::finish(tool_call& shown, const json::value& call) {
  shown.finished = true;
  const auto* success = json::member(call, "success");
  if (!success || !success->is_bool() || success->get_bool())
    return;
  exit_code_ = 1;
  const auto* structured = json::member(call, "structuredContent");
  const auto* code = structured ? json::member(*structured, "exitCode") : nullptr;
  const auto* signal = structured ? json::member(*structured, "signal") : nullptr;
  if (code && number_of(code) > 0) {
    // The command said on its standard error what it had to say.
    exit_code_ = static_cast<int>(number_of(code)) & 0xff;
    return;
  }
  if (signal && number_of(signal) > 0)
    exit_code_ = 128 + (static_cast<int>(number_of(signal)) & 0x7f);
  if (const auto* error = json::member(call, "error"))
    if (const auto message = json::string_member(*error, "message"))
      note_(plain(*message));
}

} // namespace ahpd::client
