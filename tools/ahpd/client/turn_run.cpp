#include "tools/ahpd/client/turn_run.hpp"

#include "protocol/ahp/reducers.hpp"
#include "protocol/ahp/time.hpp"
#include "protocol/random.hpp"
#include "tools/ahpd/client/failure.hpp"
#include "tools/ahpd/client/print.hpp"

#include <boost/asio/steady_timer.hpp>

#include <csignal>

#include <unistd.h>

namespace ahpd::client {

namespace {

constexpr int recent_turns = 5; ///< of a session's history that are asked for
constexpr std::chrono::seconds redial_limit{15};
constexpr std::chrono::milliseconds redial_pause{300};
constexpr int exit_no_reader = 141; ///< as the shell has it for SIGPIPE

std::string now() {
  using namespace std::chrono;
  const auto since = system_clock::now().time_since_epoch();
  return ahp::iso8601(duration_cast<milliseconds>(since).count());
}

std::string message_of(const json::value* error) {
  return error ? plain(json::string_member(*error, "message").value_or("no reason was given"))
               : "no reason was given";
}

} // namespace

turn_run::turn_run(turn_request what, std::function<hub_address()> find)
    : what_(std::move(what)), find_(std::move(find)), signals_(link_.io()),
      view_([this](turn_view::stream to, std::string_view bytes) { write(to, bytes); },
            [](const std::string& text) { print_note(text); }) {
  link_.on_notification = [this](std::string_view method, const json::value& params) {
    hear(method, params);
  };
}

int turn_run::go() {
  watch_signals();
  link_.connect(find_());
  open_session();
  open_chat();
  start_turn();
  follow();
  return conclude();
}

void turn_run::watch_signals() {
  signals_.add(SIGINT);
  signals_.add(SIGTERM);
  signals_.async_wait([this](boost::system::error_code ec, int number) {
    if (ec)
      return;
    interrupted(number);
    watch_signals();
  });
}

void turn_run::interrupted(int signal) {
  const int code = signal == SIGINT ? exit_interrupted : 128 + signal;
  if (turn_seq_ == 0 || cancelled_with_ != 0)
    throw client_failure{code, "", ""};
  print_note("cancelling the turn; Ctrl-C again leaves at once");
  cancel(code);
}

void turn_run::cancel(int exit_code) {
  cancelled_with_ = exit_code;
  link_.dispatch(chat_, {{"type", "chat/turnCancelled"}, {"turnId", turn_id_}, {"duration", 0}});
}

void turn_run::open_session() {
  if (what_.creates) {
    json::object params{{"channel", what_.session}};
    if (!what_.agent.empty())
      params["provider"] = what_.agent;
    if (!what_.folder.empty())
      params["workingDirectories"] = json::array{json::string(what_.folder)};
    if (!what_.computer.empty())
      params["config"] = json::object{{"computer", what_.computer}};
    link_.request("createSession", std::move(params), hub_link::no_limit);
    if (::isatty(STDERR_FILENO))
      print_note("session " + what_.session);
  }
  session_state_ = *json::member(link_.subscribe(what_.session), "state");
  link_.run_until([this] {
    const auto lifecycle = json::string_member(session_state_, "lifecycle");
    if (lifecycle == "creationFailed" || lifecycle == "failed")
      throw client_failure{exit_refused,
                           "the session could not be made: " +
                             message_of(json::member(session_state_, "creationError")),
                           ""};
    return lifecycle == "ready" && json::string_member(session_state_, "defaultChat");
  });
  chat_ = std::string(*json::string_member(session_state_, "defaultChat"));
}

void turn_run::open_chat() {
  auto snapshot = link_.subscribe(chat_, {{"view", {{"turns", recent_turns}}}});
  chat_state_ = std::move(*json::member(snapshot, "state"));
  chat_seq_ = static_cast<std::int64_t>(number_of(json::member(snapshot, "fromSeq")));
}

void turn_run::start_turn() {
  if (json::member(chat_state_, "activeTurn"))
    throw client_failure{exit_refused, "a turn is running in this session already",
                         "Wait for its end, or run without --session."};
  turn_id_ = new_uuid();
  turn_seq_ =
    link_.dispatch(chat_, {{"type", "chat/turnStarted"},
                           {"turnId", turn_id_},
                           {"startedAt", now()},
                           {"message", {{"text", what_.prompt}, {"origin", {{"kind", "user"}}}}}});
}

void turn_run::follow() {
  const auto ended = [this] { return refused_ || ended_turn(); };
  try {
    link_.run_until(ended);
  } catch (const connection_lost& lost) {
    print_note("the connection was lost (" + lost.why + "); connecting again");
    resume();
    link_.run_until(ended);
  }
}

void turn_run::resume() {
  const auto until = std::chrono::steady_clock::now() + redial_limit;
  for (;;) {
    try {
      link_.connect(find_());
      break;
    } catch (const client_failure& why) {
      if (std::chrono::steady_clock::now() >= until)
        throw client_failure{exit_refused, "the turn goes on without being seen: " + why.sentence,
                             "When the hub is back: ahpd session show " + what_.session};
    }
    const auto waited = std::make_shared<bool>(false); // outlives a Ctrl-C that is thrown from here
    boost::asio::steady_timer pause(link_.io(), redial_pause);
    pause.async_wait([waited](boost::system::error_code) { *waited = true; });
    while (!*waited)
      link_.io().run_one();
  }
  session_state_ = *json::member(link_.subscribe(what_.session), "state");
  open_chat();
  look_at_turn();
  const auto* active = json::member(chat_state_, "activeTurn");
  const bool running = active && json::string_member(*active, "id") == turn_id_;
  if (!running && !ended_turn())
    throw client_failure{exit_refused, "the hub does not know the turn: the connection ended first",
                         "Run it again."};
  if (running && cancelled_with_ != 0)
    cancel(cancelled_with_);
}

void turn_run::hear(std::string_view method, const json::value& params) {
  const auto* action = json::member(params, "action");
  if (method != "action" || !action)
    return;
  const auto channel = json::string_member(params, "channel");
  if (channel == what_.session)
    hear_session(*action);
  else if (channel == chat_)
    hear_chat(params, *action);
}

void turn_run::hear_session(const json::value& action) {
  ahp::reduce(ahp::channel_kind::session, session_state_, action);
}

void turn_run::hear_chat(const json::value& envelope, const json::value& action) {
  const auto* origin = json::member(envelope, "origin");
  const bool ours = origin && json::string_member(*origin, "clientId") == link_.client_id();
  if (const auto why = json::string_member(envelope, "rejectionReason")) {
    if (ours && number_of(json::member(*origin, "clientSeq")) == static_cast<double>(turn_seq_))
      refused_ = plain(*why);
    return;
  }
  if (number_of(json::member(envelope, "serverSeq")) <= static_cast<double>(chat_seq_))
    return;
  ahp::reduce(ahp::channel_kind::chat, chat_state_, action);
  if (json::string_member(action, "turnId") == turn_id_)
    print_event(envelope);
  answer_question(action);
  look_at_turn();
}

/// Nobody is there to be asked: what needs a person's word is declined, and that is said.
void turn_run::answer_question(const json::value& action) {
  const auto type = json::string_member(action, "type");
  const bool of_our_turn = json::string_member(action, "turnId") == turn_id_;
  if (type == "chat/toolCallReady" && of_our_turn && !json::member(action, "confirmed")) {
    print_note("the agent asks to run a tool; `ahpd run` answers no question, so it is denied");
    link_.dispatch(chat_, {{"type", "chat/toolCallConfirmed"},
                           {"turnId", turn_id_},
                           {"toolCallId", text_at(action, {"toolCallId"})},
                           {"approved", false},
                           {"reason", "denied"}});
  } else if (type == "chat/inputRequested" && !ended_turn()) {
    print_note("the agent asks: " + plain(text_at(action, {"request", "message"})) +
               " (declined: `ahpd run` answers no question)");
    link_.dispatch(chat_, {{"type", "chat/inputCompleted"},
                           {"requestId", text_at(action, {"request", "id"})},
                           {"response", "decline"}});
  }
}

void turn_run::look_at_turn() {
  if (what_.json)
    return;
  const auto* active = json::member(chat_state_, "activeTurn");
  if (active && json::string_member(*active, "id") == turn_id_)
    view_.show(*active);
  else if (const auto* ended = ended_turn())
    view_.show(*ended);
}

const json::value* turn_run::ended_turn() const {
  const auto* turns = json::member(chat_state_, "turns");
  if (!turns || !turns->is_array())
    return nullptr;
  const auto& all = turns->get_array();
  for (auto turn = all.rbegin(); turn != all.rend(); ++turn)
    if (json::string_member(*turn, "id") == turn_id_)
      return &*turn;
  return nullptr;
}

void turn_run::write(turn_view::stream to, std::string_view bytes) {
  if (what_.json || write_all(to == turn_view::stream::out ? STDOUT_FILENO : STDERR_FILENO, bytes))
    return;
  if (cancelled_with_ == 0)
    cancel(exit_no_reader); // nobody reads what the turn would still say
}

void turn_run::print_event(const json::value& envelope) {
  if (what_.json)
    print_line(json::serialize(envelope));
}

int turn_run::conclude() {
  if (refused_)
    throw client_failure{exit_refused, "the hub did not take the turn: " + *refused_, ""};
  const auto& turn = *ended_turn();
  const auto state = json::string_member(turn, "state");
  view_.show(turn); // with --json nothing was shown, and the exit code is still wanted
  int code = view_.exit_code();
  std::string why;
  if (state == "cancelled") {
    code = cancelled_with_ != 0 ? cancelled_with_ : exit_refused;
    why = "the turn was cancelled";
  } else if (state == "error") {
    code = exit_refused;
    const json::value* error = json::member(turn, "error");
    if (const auto* parts = json::member(turn, "responseParts"); parts && parts->is_array())
      for (const auto& part : parts->get_array())
        if (json::string_member(part, "kind") == "error")
          error = json::member(part, "error");
    why = "the turn failed: " + message_of(error);
  }
  if (what_.json)
    print_line(json::serialize(json::value{{"type", "result"},
                                           {"session", what_.session},
                                           {"chat", chat_},
                                           {"turnId", turn_id_},
                                           {"state", state.value_or("")},
                                           {"exitCode", code}}));
  if (!why.empty() && code != exit_no_reader)
    print_note(why);
  return code;
}

} // namespace ahpd::client
