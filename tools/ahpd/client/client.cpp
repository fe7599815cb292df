#include "tools/ahpd/client/client.hpp"

#include "protocol/ahp/codes.hpp"
#include "protocol/jsonrpc/message.hpp"
#include "tools/ahpd/client/print.hpp"
#include "tools/ahpd/client/verbs.hpp"

#include <algorithm>

namespace ahpd::client {

namespace {

/// What a code means and what helps, for a person.
struct advice {
  const char* meaning;
  const char* next_step;
};

advice advice_for(int code) {
  switch (code) {
  case ahp::session_not_found:
    return {"no such session", "See `ahpd session list`."};
  case ahp::provider_not_found:
    return {"no such agent", "Leave out --agent to use the hub's first one."};
  case ahp::session_already_exists:
  case ahp::already_exists:
    return {"it exists already", ""};
  case ahp::turn_in_progress:
    return {"a turn is running", "Wait for its end."};
  case ahp::unsupported_protocol_version:
    return {"no version in common", "Use an ahpd of the hub's own version."};
  case ahp::auth_required:
    return {"it asks to sign in", "Give a token with --token-file FILE or in AHPD_TOKEN."};
  case ahp::not_found:
    return {"not found", "See `ahpd computer list` and `ahpd session list`."};
  case ahp::permission_denied:
    return {"not permitted", "The hub's operator grants it."};
  case jsonrpc::method_not_found:
    return {"the hub does not serve this", "See which plugins its configuration names."};
  case jsonrpc::invalid_params:
    return {"refused", "Change what the sentence names."};
  default:
    return {"the hub failed", "See the hub's log."};
  }
}

void report(const std::string& sentence, const std::string& next_step) {
  print_note(plain(sentence));
  if (!next_step.empty())
    write_all(2, "  " + next_step + "\n");
}

int run_named(const std::string& verb, const std::vector<std::string>& args) {
  if (verb == "run")
    return run_verb(args);
  if (verb == "session")
    return session_verb(args);
  return computer_verb(args);
}

} // namespace

bool is_client_verb(const std::string& verb) {
  return verb == "run" || verb == "session" || verb == "computer";
}

int client_main(const std::string& verb, const std::vector<std::string>& args) {
  const auto end_of_flags = std::find(args.begin(), args.end(), "--");
  const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (std::any_of(args.begin(), end_of_flags, asks)) {
    write_all(1, help_text(verb));
    return 0;
  }
  try {
    return run_named(verb, args);
  } catch (const client_failure& why) {
    if (!why.sentence.empty())
      report(why.sentence, why.next_step);
    return why.exit_code;
  } catch (const hub_refusal& why) {
    const auto says = advice_for(why.code);
    report(std::to_string(why.code) + " (" + says.meaning + "): " + why.message, says.next_step);
    return exit_refused;
  } catch (const connection_lost& why) {
    report("the connection to the hub was lost: " + why.why, "See `ahpd status`, then try again.");
    return exit_refused;
  }
}

} // namespace ahpd::client
