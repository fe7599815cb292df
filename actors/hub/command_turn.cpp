#include "actors/hub/command_turn.hpp"

#include "actors/core/errors.hpp"
#include "actors/core/parent.hpp"
#include "actors/hub/terminals.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/terminal_stream.hpp"
#include "protocol/utf8.hpp"

#include <caf/all.hpp>

#include <algorithm>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<command_state>*;
namespace build = ahp::build;

constexpr std::size_t longest_title = 100;      ///< bytes of the terminal's title
constexpr std::size_t longest_preview = 2000;   ///< bytes of output in the finished call
constexpr std::size_t output_bytes = 16 * 1024; ///< read for it: escape sequences take their room

std::string call_of(const command_state& st) {
  return st.start.turn_id + ":command";
}

std::string title_of(const command_state& st) {
  auto line = st.start.command.substr(0, std::min(st.start.command.find('\n'), longest_title));
  line.resize(line.size() - utf8::trailing_part(line));
  return line;
}

void step(self_ptr self, json::value action) {
  const auto& st = self->state;
  self->send(st.start.chat,
             turn_step{st.start.turn_id, std::make_shared<const json::value>(std::move(action))});
}

void end(self_ptr self, std::string error_type = {}, std::string message = {}) {
  auto& st = self->state;
  st.over = true;
  self->send(st.start.chat,
             turn_ended{st.start.turn_id, std::move(error_type), std::move(message)});
  self->quit();
}

json::object terminal_content(const command_state& st) {
  return {
    {"type", "terminal"}, {"resource", st.terminal}, {"title", title_of(st)}, {"isPty", true}};
}

json::value result_of(const command_state& st, const terminal_output& out) {
  const auto text = ahp::without_escapes(out.text);
  const auto preview = ahp::last_lines(text, longest_preview);
  json::object shown{{"preview", preview},
                     {"truncated", out.truncated || preview.size() < text.size()}};
  json::object structured;
  const auto code = shown_exit_code(*out.ended);
  if (code)
    shown["exitCode"] = structured["exitCode"] = *code;
  auto content = terminal_content(st);
  content["result"] = std::move(shown);
  json::object result{{"success", code == 0},
                      {"content", json::array{std::move(content)}},
                      {"structuredContent", std::move(structured)}};
  std::string how = "Ran the command";
  if (code != 0) {
    const auto why = code ? "exit status " + std::to_string(*code) : out.ended->lost;
    how += ": " + why;
    result["error"] = json::object{{"message", why}};
  }
  result["pastTenseMessage"] = how;
  return result;
}

void complete(self_ptr self, json::value result) {
  const auto& st = self->state;
  step(self, {{"type", "chat/toolCallComplete"},
              {"turnId", st.start.turn_id},
              {"toolCallId", call_of(st)},
              {"result", std::move(result)}});
  end(self);
}

void kill(self_ptr self) {
  auto& st = self->state;
  st.cancelled = true;
  if (!st.terminal.empty())
    caf::anon_send(st.host->terminals->get(), kill_terminal{st.terminal});
}

void on_opened(self_ptr self, const std::string& uri) {
  auto& st = self->state;
  st.terminal = uri;
  if (st.cancelled)
    kill(self);
  if (st.leaving)
    return self->quit();
  step(self,
       build::tool_call_content(st.start.turn_id, call_of(st), json::array{terminal_content(st)}));
  self->request(st.host->terminals->get(), caf::infinite, wait_terminal{uri})
    .then([self](const terminal_output& out) { complete(self, result_of(self->state, out)); },
          [self](const caf::error&) {
            const std::string why = "the terminal was disposed of while the command ran";
            complete(self, {{"success", false},
                            {"pastTenseMessage", "Ran the command: " + why},
                            {"error", {{"message", why}}}});
          });
}

void begin(self_ptr self) {
  auto& st = self->state;
  const auto& turn = st.start.turn_id;
  const auto call = call_of(st);
  step(self, build::tool_call_start(turn, call, "terminal", "Run command"));
  step(self, build::tool_call_ready(turn, call, "Running a command", st.start.command));
  open_terminal what;
  what.claim = std::make_shared<const json::value>(json::object{{"kind", "session"},
                                                                {"session", st.start.session},
                                                                {"chat", st.start.chat_uri},
                                                                {"turnId", turn},
                                                                {"toolCallId", call}});
  what.title = title_of(st);
  what.where = st.start.where;
  what.argv = shell_argv(st.host->shell, st.start.where.machine, st.start.command);
  what.window = runtimes::window_size{};
  what.output_bytes = output_bytes;
  self->request(st.host->terminals->get(), caf::infinite, std::move(what))
    .then([self](const terminal_opened& opened) { on_opened(self, opened.uri); },
          [self](const caf::error& why) {
            end(self, "commandNotStarted", core::to_wire(why).message);
          });
}

} // namespace

std::optional<std::string> terminal_command(const json::value& message) {
  const auto text = json::string_member(message, "text").value_or("");
  if (text.substr(0, terminal_command_prefix.size()) != terminal_command_prefix)
    return std::nullopt;
  const auto command = text.substr(terminal_command_prefix.size());
  const auto begin = command.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos)
    return std::nullopt;
  return std::string(command.substr(begin));
}

command_state::~command_state() {
  if (!over && !terminal.empty())
    caf::anon_send(host->terminals->get(), kill_terminal{terminal});
}

caf::behavior command_turn(caf::stateful_actor<command_state>* self, services_ptr host,
                           command_start start) {
  self->state.host = std::move(host);
  self->state.start = std::move(start);
  const auto leave = [self] {
    kill(self);
    self->state.leaving = true;
    if (!self->state.terminal.empty())
      self->quit();
  };
  core::watch_parent(self, self->state.start.chat);
  self->set_down_handler([leave](caf::down_msg&) { leave(); });
  self->set_exit_handler([leave](caf::exit_msg&) { leave(); });
  begin(self);
  return {
    [self](const cancel_turn&) { kill(self); },
  };
}

} // namespace ahpd::hub
