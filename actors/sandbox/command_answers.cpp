#include "actors/sandbox/command_answers.hpp"

#include "protocol/aio/output_text.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>
#include <array>
#include <csignal>

namespace ahpd::sandbox {

namespace {

using runtimes::output;

/// What one answer holds of a stream at most; the next one goes on behind it.
constexpr std::size_t most_read = 32u << 20;
constexpr std::size_t counting_piece = 1u << 20;

json::value code_of(const command_state& st) {
  return st.exit_code ? json::value(*st.exit_code) : json::value(nullptr);
}

/// Both streams in the order in which they came.
std::string both(const command_state& st, std::size_t limit) {
  const output_reader from{*st.program, st.is_over()};
  const auto single = [&](output which) {
    return from.end(which == output::out ? output::err : output::out) == 0;
  };
  for (const auto which : {output::out, output::err})
    if (single(which))
      return from.whole(which, limit);
  std::string bytes;
  std::array<std::uint64_t, 2> done{};
  for (const auto& each : st.arrived) {
    auto& at = done[static_cast<std::size_t>(each.which)];
    bytes += st.program->read(each.which, at, each.upto - at).bytes;
    at = each.upto;
  }
  return aio::cut_middle(bytes, limit);
}

std::uint64_t count_characters(const runtimes::running& program, output which) {
  std::uint64_t out = 0, at = 0;
  for (;;) {
    const auto piece = program.read(which, at, counting_piece);
    out += piece.offset - at + aio::characters(piece.bytes); // a byte that is gone counts as one
    at = piece.offset + piece.bytes.size();
    if (at >= piece.end)
      return out;
  }
}

} // namespace

output_reader::piece output_reader::increment(output which, std::uint64_t offset,
                                              std::size_t most) const {
  auto got = program.read(which, offset, most);
  if (offset > got.end)
    return {{}, offset, false};
  const bool is_last = is_over && got.offset + got.bytes.size() == got.end;
  if (!is_last)
    got.bytes.resize(got.bytes.size() - utf8::trailing_part(got.bytes));
  return {utf8::repaired(got.bytes), got.offset + got.bytes.size(), got.offset > offset};
}

std::string output_reader::whole(output which, std::size_t limit) const {
  const auto last = program.read(which, UINT64_MAX, 0).end;
  constexpr std::size_t widest = 4; ///< bytes of a character
  if (limit == 0 || last <= limit * widest) {
    auto bytes = program.read(which, 0).bytes;
    if (!is_over)
      bytes.resize(bytes.size() - utf8::trailing_part(bytes));
    return aio::cut_middle(bytes, limit);
  }
  const auto all = count_characters(program, which);
  const auto head = limit - limit / 2, tail = limit / 2;
  const auto begin = program.read(which, 0, head * widest).bytes;
  const auto end = program.read(which, last - std::min<std::uint64_t>(last, tail * widest)).bytes;
  if (all <= limit)
    return utf8::repaired(program.read(which, 0).bytes);
  return aio::first_characters(begin, head) + aio::cut_marker(all - limit) +
         aio::last_characters(end, tail);
}

std::uint64_t output_reader::end(output which) const {
  return program.read(which, UINT64_MAX, 0).end;
}

json::object run_answer(const command_state& st) {
  const auto& order = st.start.order;
  const output_reader from{*st.program, st.is_over()};
  const bool tells = order.answer == command_order::mode::sync;
  const auto text = [&](std::string words) -> json::value {
    if (order.form == dialect::v1 && words.empty())
      return nullptr;
    return json::string(words);
  };
  const auto stream = [&](output which) {
    return text(tells ? from.whole(which, order.output_limit) : std::string());
  };
  return {{"session_id", st.start.session},
          {"command_id", st.start.id},
          {"command", order.command},
          {"status", st.status},
          {"stdout", stream(output::out)},
          {"stderr", stream(output::err)},
          {"output", text(tells ? both(st, order.output_limit) : std::string())},
          {"exit_code", code_of(st)},
          {"offset", tells ? from.end(output::out) : 0},
          {"stderr_offset", tells ? from.end(output::err) : 0}};
}

json::object read_answer(const command_state& st, std::uint64_t offset,
                         std::uint64_t error_offset) {
  const output_reader from{*st.program, st.is_over()};
  auto out = from.increment(output::out, offset, most_read);
  auto err = from.increment(output::err, error_offset, most_read);
  json::object data{{"session_id", st.start.session},
                    {"stdout", std::move(out.text)},
                    {"stderr", std::move(err.text)},
                    {"offset", out.end},
                    {"stderr_offset", err.end},
                    {"command",
                     {{"command_id", st.start.id},
                      {"command", st.start.order.command},
                      {"status", st.status},
                      {"exit_code", code_of(st)}}}};
  if (out.truncated || err.truncated)
    data["truncated"] = true;
  return data;
}

json::object exit_frame(const command_state& st) {
  const output_reader from{*st.program, st.is_over()};
  return {{"type", "exit"},
          {"status", st.status},
          {"exit_code", code_of(st)},
          {"offset", from.end(output::out)},
          {"stderr_offset", from.end(output::err)}};
}

json::value empty_data(const call& to) {
  if (to.route->path.starts_with("/v1/"))
    return nullptr;
  return json::object();
}

std::optional<int> signal_number(std::string name) {
  static constexpr std::pair<const char*, int> all[] = {
    {"HUP", SIGHUP},       {"INT", SIGINT},   {"QUIT", SIGQUIT},   {"ILL", SIGILL},
    {"TRAP", SIGTRAP},     {"ABRT", SIGABRT}, {"BUS", SIGBUS},     {"FPE", SIGFPE},
    {"KILL", SIGKILL},     {"USR1", SIGUSR1}, {"SEGV", SIGSEGV},   {"USR2", SIGUSR2},
    {"PIPE", SIGPIPE},     {"ALRM", SIGALRM}, {"TERM", SIGTERM},   {"CHLD", SIGCHLD},
    {"CONT", SIGCONT},     {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},   {"TTIN", SIGTTIN},
    {"TTOU", SIGTTOU},     {"URG", SIGURG},   {"XCPU", SIGXCPU},   {"XFSZ", SIGXFSZ},
    {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"IO", SIGIO},
    {"PWR", SIGPWR},       {"SYS", SIGSYS}};
  if (name.starts_with("SIG"))
    name.erase(0, 3);
  for (const auto& [known, number] : all)
    if (name == known)
      return number;
  return std::nullopt;
}

std::chrono::milliseconds seconds_of(const json::value& number) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(number.to_number<double>() * 1000));
}

} // namespace ahpd::sandbox
