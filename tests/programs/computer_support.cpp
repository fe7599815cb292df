#include "tests/programs/computer_support.hpp"

#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/uris.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <sstream>

#include <unistd.h>

namespace ahpd::tests {

namespace {

/// The engine of a busy machine takes its time.
constexpr std::chrono::seconds patience{90};

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

hub_options options_of(json::object options, std::map<std::string, std::string> env) {
  hub_options how;
  const json::value plugin{{"name", "@ahpd/computer"}, {"options", std::move(options)}};
  how.config = json::serialize(json::object{{"plugins", json::array{plugin}}});
  how.env = std::move(env);
  return how;
}

/// The bytes of one stream of a command's result.
std::string stream(const json::value& result, std::string_view which) {
  const auto* content = json::member(result, "content");
  for (const auto& entry : content ? content->as_array() : json::array{}) {
    const auto* meta = json::member(entry, "_meta");
    if (!meta || json::string_member(*meta, "ahpd.stream") != which)
      continue;
    if (const auto text = json::string_member(entry, "text"))
      return std::string(*text);
    return ahp::base64_decode(json::string_member(entry, "data").value_or("")).value_or("");
  }
  return {};
}

} // namespace

bool engine_answers() {
  static const bool answers = try_docker({"version", "--format", "x"}).exit_code == 0;
  return answers;
}

program_result try_docker(std::vector<std::string> words) {
  words.insert(words.begin(), {"/usr/bin/env", "docker"});
  return run_program({std::move(words), {}, {}}, patience);
}

std::string docker(std::vector<std::string> words) {
  const auto result = try_docker(words);
  REQUIRE_MESSAGE(result.exit_code == 0, "docker " << words.front() << ": " << result.errors);
  return trimmed(result.output);
}

json::value inspect(const std::string& container) {
  return json::parse(docker({"inspect", "--type", "container", container})).as_array().at(0);
}

std::string unique_name(const std::string& word) {
  static std::atomic<int> count{0};
  return "ahpd-e2e-" + std::to_string(::getpid()) + "-" + std::to_string(++count) + "-" + word;
}

std::vector<std::string> label_guard::containers() const {
  const auto found = try_docker({"ps", "-aq", "--no-trunc", "--filter", "label=" + label_});
  std::istringstream lines(found.output);
  std::vector<std::string> out;
  for (std::string id; lines >> id;)
    out.push_back(id);
  return out;
}

label_guard::~label_guard() {
  for (const auto& id : containers())
    try_docker({"rm", "-f", "-v", id});
  CHECK_MESSAGE(containers().empty(), "containers of " << label_ << " are left");
}

computer_hub::computer_hub(json::object options, std::map<std::string, std::string> env)
    : hub_(options_of(std::move(options), std::move(env))), left_("ahpd.host=" + host_id()) {}

ahp_peer computer_hub::peer(std::string client) const {
  peer_options how;
  how.client_id = std::move(client);
  how.limit = patience;
  return ahp_peer(hub_.url(), how);
}

std::string computer_hub::host_id() const {
  return trimmed(read_file(hub_.config_directory() + "/host-id"));
}

bool node_image() {
  static const bool there =
    engine_answers() &&
    run_program({{std::string(AHPD_SOURCE_DIR) + "/tests/support/node-image"}, {}, {}},
                std::chrono::seconds(400))
        .exit_code == 0;
  return there;
}

std::string make_machine(ahp_peer& peer, const std::string& word, json::object manifest) {
  auto name = unique_name(word);
  auto params = write_params("computer://" + name, json::serialize(manifest));
  params["createOnly"] = true;
  CHECK(peer.request("resourceWrite", std::move(params)) == json::object{});
  return name;
}

json::object write_params(const std::string& uri, const std::string& data) {
  return {{"uri", uri}, {"data", data}, {"encoding", "utf-8"}};
}

std::string refused(ahp_peer& peer, const std::string& method, json::object params) {
  const auto error = peer.request_error(method, std::move(params));
  return json::serialize(error.at("code")) + " " + std::string(error.at("message").as_string());
}

std::string read_text(ahp_peer& peer, const std::string& uri) {
  const auto result = peer.request("resourceRead", {{"uri", uri}});
  return std::string(json::string_member(result, "data").value_or(""));
}

session begin_session(ahp_peer& peer, json::object config, json::object more) {
  session out;
  out.uri = "ahp-session:/" + unique_name("session");
  out.chat = ahp::default_chat_uri(out.uri);
  more["channel"] = out.uri;
  more["config"] = std::move(config);
  peer.request("createSession", std::move(more));
  peer.subscribe(out.chat);
  return out;
}

std::string begin_turn(ahp_peer& peer, const session& in, const std::string& command) {
  auto turn = unique_name("turn");
  const auto started = ahp::build::turn_started(turn, 1'000, ahp::build::message(command));
  peer.dispatch(in.chat, started.as_object());
  return turn;
}

void wait_output(ahp_peer& peer, const session& in, const std::string& text) {
  peer.wait_action("chat/toolCallContentChanged", in.chat, [&](const json::value& envelope) {
    return stream(envelope.at("action"), "stdout").find(text) != std::string::npos;
  });
}

turn_end end_of_turn(ahp_peer& peer, const session& in, const std::string& turn) {
  turn_end out;
  const auto is = [&](const json::value& frame) {
    const auto* params = json::member(frame, "params");
    const auto* action = params ? json::member(*params, "action") : nullptr;
    if (!action || json::string_member(*params, "channel") != in.chat ||
        json::string_member(*action, "turnId") != turn)
      return false;
    REQUIRE_MESSAGE(!json::member(*params, "rejectionReason"), json::serialize(frame));
    const auto type = json::string_member(*action, "type");
    if (type == "chat/toolCallComplete")
      out.result = action->at("result");
    return type == "chat/turnComplete" || type == "chat/turnCancelled" || type == "chat/error";
  };
  const auto action = peer.wait_for("the end of turn " + turn, is).at("params").at("action");
  out.type = json::string_member(action, "type").value_or("");
  if (out.type == "chat/error")
    out.message = action.at("part").at("error").at("message").as_string();
  out.out = stream(out.result, "stdout");
  out.err = stream(out.result, "stderr");
  return out;
}

std::optional<int> turn_end::code() const {
  const auto* structured = json::member(result, "structuredContent");
  const auto* found = structured ? json::member(*structured, "exitCode") : nullptr;
  return found ? std::optional(static_cast<int>(found->as_int64())) : std::nullopt;
}

std::string turn_end::failure() const {
  const auto* error = json::member(result, "error");
  return error ? std::string(json::string_member(*error, "message").value_or("")) : message;
}

} // namespace ahpd::tests
