#include "actors/core/run_here.hpp"
#include "actors/hub/engines/acp_agent.hpp"
#include "protocol/ahp/find.hpp"
#include "protocol/utf8.hpp"

#include <caf/all.hpp>

#include <algorithm>

/// Files of an agent, read and written by a program where the agent runs: the same on this host and
/// in a machine, and a slow disk holds nobody up.
namespace ahpd::hub::acp_agent {

namespace {

constexpr std::size_t largest_file = 8u << 20;
constexpr std::size_t most_at_once = 16;
constexpr int resource_not_found = -32002; ///< ACP "Error"

using finished =
  std::function<void(const runtimes::running& program, const runtimes::exit_status& status)>;

void refuse(const server_ptr& of, const json::value& id, int code, std::string why) {
  send(of, of->peer.refuse(id, {code, std::move(why), nullptr}));
}

/// The path that a request names; empty, and the request refused, when it names none.
std::string path_of(const server_ptr& of, const acp::peer::call& call) {
  const auto* path = call.params.if_contains("path");
  const auto* text = path ? path->if_string() : nullptr;
  if (text && text->starts_with('/') && text->find('\0') == std::string_view::npos) {
    if (of->files.size() < most_at_once)
      return std::string(*text);
    refuse(of, call.id, jsonrpc::internal_error,
           std::to_string(most_at_once) + " files are under way already, which is the most");
  } else {
    refuse(of, call.id, jsonrpc::invalid_params, "path must be an absolute path");
  }
  return {};
}

/// Runs one program for a request, which is refused when that cannot be started. It carries the
/// server's marker, so it goes with the server at the latest.
void run(self_ptr self, const server_ptr& of, const json::value& id, runtimes::exec_request what,
         std::string input, finished done) {
  const auto number = ++of->last_file;
  of->files[number] = nullptr;
  what.env = {{"LC_ALL", "C"}}; // its words are looked at
  what.marker = of->marker;
  what.keep_bytes = largest_file + 1;
  what.input = true;
  runtimes::exec_events events;
  events.on_exit = core::back_to<runtimes::exit_status>(
    self, [of, number, done](const runtimes::exit_status& status) {
      const auto program = std::move(of->files[number]);
      of->files.erase(number);
      if (program)
        done(*program, status);
    });
  of->place->exec(
    std::move(what), std::move(events),
    core::back_to<runtimes::exec_result>(
      self, [of, number, id, input = std::move(input)](const runtimes::exec_result& result) {
        if (!result.program) {
          of->files.erase(number);
          return refuse(of, id, jsonrpc::internal_error, result.refused);
        }
        of->files[number] = result.program;
        result.program->write(input);
        result.program->close_input();
      }));
}

/// Why a program failed, in its own words.
std::string words_of(const runtimes::running& program) {
  auto words = program.read(runtimes::output::err, 0, 1024).bytes;
  words = words.substr(0, words.find('\n'));
  return words.empty() || !utf8::valid(words) ? "the file could not be reached" : words;
}

int code_of(const std::string& words) {
  return words.find("No such file") == std::string::npos ? jsonrpc::internal_error
                                                         : resource_not_found;
}

/// Lines from `first` (1 or more) on, at most `limit` of them.
std::string lines_of(const std::string& text, std::int64_t first,
                     std::optional<std::int64_t> limit) {
  std::size_t begin = 0;
  for (; first > 1 && begin != std::string::npos; --first)
    begin =
      text.find('\n', begin) == std::string::npos ? std::string::npos : text.find('\n', begin) + 1;
  if (begin == std::string::npos)
    return {};
  if (!limit)
    return text.substr(begin);
  auto end = begin;
  for (auto left = *limit; left > 0 && end < text.size(); --left)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(begin, end - begin);
}

/// Writes its input to the file "$1". What was there goes to the output first, at most "$2" bytes
/// of it, behind a "+"; a "?" when it cannot be read, and nothing when there was no file.
constexpr const char* save_script = R"sh(
  if [ -f "$1" ] && [ -r "$1" ]; then printf + && head -c "$2" -- "$1"
  elif [ -f "$1" ]; then printf '?'; fi
  mkdir -p -- "$(dirname -- "$1")" && cat >"$1"
)sh";

std::optional<ahp::edit_side> side_before(const runtimes::running& program,
                                          const std::string& path) {
  auto said = program.read(runtimes::output::out, 0).bytes;
  if (said.empty())
    return std::nullopt;
  if (said.front() != '+')
    return ahp::edit_side{path, std::nullopt, "it could not be read before it was written"};
  return ahp::edit_side{path, said.substr(1)};
}

} // namespace

void read_file(self_ptr self, const server_ptr& of, const acp::peer::call& call) {
  const auto path = path_of(of, call);
  if (path.empty())
    return;
  const auto first = ahp::integer_member(call.params, "line").value_or(1);
  const auto limit = ahp::integer_member(call.params, "limit");
  runtimes::exec_request what;
  what.argv = {"head", "-c", std::to_string(largest_file + 1), "--", path};
  run(self, of, call.id, std::move(what), {},
      [of, id = call.id, path, first, limit](const runtimes::running& program,
                                             const runtimes::exit_status& status) {
        const auto got = program.read(runtimes::output::out, 0);
        if (got.end > largest_file)
          return refuse(of, id, jsonrpc::internal_error,
                        path + " is larger than " + std::to_string(largest_file >> 20) + " MiB");
        if (!status.ok()) {
          const auto words = words_of(program);
          return refuse(of, id, code_of(words), words);
        }
        if (!utf8::valid(got.bytes) || got.bytes.find('\0') != std::string::npos)
          return refuse(of, id, jsonrpc::internal_error, path + " is no text file");
        send(of, of->peer.answer(id, {{"content", lines_of(got.bytes, first, limit)}}));
      });
}

void write_file(self_ptr self, const server_ptr& of, const acp::peer::call& call) {
  const auto* content = call.params.if_contains("content");
  if (!content || !content->is_string())
    return refuse(of, call.id, jsonrpc::invalid_params, "content must be a string");
  const auto path = path_of(of, call);
  if (path.empty())
    return;
  runtimes::exec_request what;
  what.argv = {"sh", "-c", save_script, "sh", path, std::to_string(ahp::most_content_bytes + 1)};
  std::string bytes(content->get_string());
  // Between turns nobody has a changeset for it.
  const auto turn = self->state.now ? std::optional(self->state.now->what) : std::nullopt;
  auto after = bytes.substr(0, ahp::most_content_bytes + 1);
  run(self, of, call.id, std::move(what), std::move(bytes),
      [self, of, id = call.id, path, turn, after = std::move(after)](
        const runtimes::running& program, const runtimes::exit_status& status) {
        if (!status.ok()) {
          const auto words = words_of(program);
          return refuse(of, id, code_of(words), words);
        }
        if (turn)
          tell_edit(self, *turn, {side_before(program, path), ahp::edit_side{path, after}});
        send(of, of->peer.answer(id, json::object{}));
      });
}

} // namespace ahpd::hub::acp_agent
