#include "actors/hub/engines/shell_output.hpp"

#include "protocol/ahp/uris.hpp"
#include "protocol/utf8.hpp"

#include <string>

namespace ahpd::hub {

namespace {

constexpr std::string_view name_of(runtimes::output which) {
  return which == runtimes::output::out ? "stdout" : "stderr";
}

void add_stream(json::array& content, const runtimes::running& program, runtimes::output which,
                bool final) {
  auto got = program.read(which, 0);
  auto& bytes = got.bytes;
  // What was evicted may have cut a character in two: its rest is no text and no loss worth naming.
  if (got.offset > 0) {
    const auto cut = utf8::leading_rest(bytes);
    bytes.erase(0, cut);
    got.offset += cut;
  }
  if (!final)
    bytes.resize(bytes.size() - utf8::trailing_part(bytes));
  if (bytes.empty())
    return;
  const json::object meta{{"ahpd.stream", name_of(which)}, {"ahpd.offset", got.offset}};
  if (utf8::valid(bytes))
    content.push_back({{"type", "text"}, {"text", bytes}, {"_meta", meta}});
  else
    content.push_back({{"type", "embeddedResource"},
                       {"data", ahp::base64_encode(bytes)},
                       {"contentType", "application/octet-stream"},
                       {"_meta", meta}});
}

json::object kept_of(const runtimes::running& program, runtimes::output which) {
  const auto at_end = program.read(which, 0, 0);
  return {{"bytes", at_end.end}, {"evicted", at_end.offset}};
}

std::string how_it_failed(const runtimes::exit_status& status) {
  if (status.code)
    return "exit status " + std::to_string(*status.code);
  if (status.signal)
    return "killed by signal " + std::to_string(*status.signal);
  return status.lost;
}

} // namespace

json::array shell_content(const runtimes::running& program, bool final) {
  json::array content;
  add_stream(content, program, runtimes::output::out, final);
  add_stream(content, program, runtimes::output::err, final);
  return content;
}

json::value shell_result(const runtimes::running& program, const runtimes::exit_status& status) {
  json::object structured{{"stdout", kept_of(program, runtimes::output::out)},
                          {"stderr", kept_of(program, runtimes::output::err)}};
  if (status.code)
    structured["exitCode"] = *status.code;
  if (status.signal)
    structured["signal"] = *status.signal;
  json::object result{{"success", status.ok()},
                      {"pastTenseMessage", status.ok()
                                             ? std::string("Ran the command")
                                             : "Ran the command: " + how_it_failed(status)},
                      {"content", shell_content(program, true)},
                      {"structuredContent", std::move(structured)}};
  if (!status.ok()) {
    json::object error{{"message", how_it_failed(status)}};
    if (status.code)
      error["code"] = std::to_string(*status.code);
    result["error"] = std::move(error);
  }
  return result;
}

} // namespace ahpd::hub
