#include "actors/sandbox/version.hpp"
#include "config/nearest.hpp"
#include "protocol/aio/openapi.hpp"
#include "tools/aiod/start.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include <malloc.h>
#include <unistd.h>

namespace {

using strings = std::vector<std::string>;

constexpr const char* usage =
  "Usage: aiod VERB [options]\n"
  "\n"
  "Serves this machine's commands, terminals and files over HTTP and WebSocket.\n"
  "\n"
  "Verbs:\n"
  "  start          serve in the foreground, on 0.0.0.0:18091 unless told otherwise\n"
  "  doctor         tell what this machine has; --json: as GET /v1/capabilities\n"
  "  version        tell the version\n"
  "  print-openapi  write the OpenAPI document of all routes\n"
  "  aiod start --help lists its options.\n"
  "\n"
  "Example:\n"
  "  AIO_API_KEY=… aiod start --port 8080 &\n"
  "  curl -H \"x-api-key: $AIO_API_KEY\" -H 'Content-Type: application/json' \\\n"
  "       -d '{\"command\":\"uname -a\"}' http://127.0.0.1:8080/v2/commands\n";

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int wrong(const std::string& sentence) {
  std::fprintf(stderr, "aiod: %s\n", sentence.c_str());
  return 2;
}

std::string help_of_start() {
  std::string out =
    "Usage: aiod start [options]\n"
    "\n"
    "Serves in the foreground until SIGTERM or SIGINT. No option is required. A flag\n"
    "wins over its variable; what has no flag is set by its variable alone.\n"
    "\nOptions:\n";
  for (const auto& each : ahpd::config::sandbox_flags()) {
    std::string names(each.name);
    if (names.empty())
      names = std::string(16, ' ');
    names.resize(std::max<std::size_t>(names.size(), 16), ' ');
    out += "  " + names + std::string(each.variable);
    out += std::string(each.variable.size() < 32 ? 32 - each.variable.size() : 1, ' ');
    out += std::string(each.about);
    if (!each.fallback.empty())
      out += " [" + std::string(each.fallback) + "]";
    out += '\n';
  }
  return out;
}

/// The words behind the program's name. Secrets among them are overwritten in place, for `ps` shows
/// them to everyone.
strings take_words(int argc, char** argv) {
  strings out;
  for (int i = 1; i < argc; ++i)
    out.emplace_back(argv[i]);
  constexpr const char* name = "--api-key";
  const auto size = std::strlen(name);
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], name, size) != 0)
      continue;
    if (argv[i][size] == '=')
      std::memset(argv[i] + size + 1, 0, std::strlen(argv[i] + size + 1));
    else if (argv[i][size] == 0 && i + 1 < argc)
      std::memset(argv[i + 1], 0, std::strlen(argv[i + 1]));
  }
  return out;
}

/// The environment, whose secrets are overwritten where /proc/…/environ shows them.
std::map<std::string, std::string> take_environment() {
  std::map<std::string, std::string> out;
  for (char** entry = ::environ; entry && *entry; ++entry)
    if (const auto* equals = std::strchr(*entry, '='))
      out.emplace(std::string(*entry, static_cast<std::size_t>(equals - *entry)), equals + 1);
  for (char** entry = ::environ; entry && *entry; ++entry)
    for (const char* name : {"AIO_API_KEY=", "SANDBOX_API_KEY=", "OTEL_EXPORTER_OTLP_HEADERS=",
                             "OTEL_EXPORTER_OTLP_TRACES_HEADERS="})
      if (std::strncmp(*entry, name, std::strlen(name)) == 0)
        std::memset(*entry + std::strlen(name), 0, std::strlen(*entry + std::strlen(name)));
  for (const char* name : {"AIO_API_KEY", "SANDBOX_API_KEY", "OTEL_EXPORTER_OTLP_HEADERS",
                           "OTEL_EXPORTER_OTLP_TRACES_HEADERS"})
    ::unsetenv(name);
  return out;
}

bool holds(const strings& words, std::string_view a, std::string_view b) {
  return std::find(words.begin(), words.end(), a) != words.end() ||
         std::find(words.begin(), words.end(), b) != words.end();
}

int run_start(const strings& words, const std::map<std::string, std::string>& environment) {
  auto options = ahpd::config::read_sandbox_options(words, environment);
  if (const auto* refused = std::get_if<ahpd::config::start_refusal>(&options))
    return wrong(refused->sentence);
  return ahpd::aiod::serve(std::get<0>(std::move(options)), ahpd::aiod::settle(environment));
}

int run_doctor(const strings& words, const std::map<std::string, std::string>& environment) {
  if (words.size() > 1 || (words.size() == 1 && words.front() != "--json"))
    return wrong("aiod doctor takes --json and nothing else.");
  auto options = ahpd::config::read_sandbox_options({}, environment);
  if (const auto* refused = std::get_if<ahpd::config::start_refusal>(&options))
    return wrong(refused->sentence);
  return ahpd::aiod::doctor(std::get<0>(std::move(options)), ahpd::aiod::settle(environment),
                            !words.empty());
}

int run(const strings& words, const std::map<std::string, std::string>& environment) {
  const auto verb = words.empty() ? std::string() : words.front();
  const strings rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  if (verb == "start" && holds(rest, "-h", "--help")) {
    print(help_of_start());
    return 0;
  }
  if (verb.empty() || verb == "help" || holds(words, "-h", "--help")) {
    print(usage);
    return verb.empty() ? 2 : 0;
  }
  if (verb == "start")
    return run_start(rest, environment);
  if (verb == "doctor")
    return run_doctor(rest, environment);
  if (verb == "version" || verb == "--version") {
    print("aio-daemon " AHPD_VERSION "+" + std::string(ahpd::sandbox::commit) + "\n");
    return 0;
  }
  if (verb == "print-openapi") {
    print(ahpd::json::pretty(
            ahpd::aio::openapi(ahpd::aio::document::all, ahpd::aio::surface::full, AHPD_VERSION)) +
          "\n");
    return 0;
  }
  const auto meant = ahpd::config::nearest(verb, {"start", "doctor", "version", "print-openapi"});
  return wrong("aiod has no verb " + verb + "; " +
               (meant.empty() ? "it has start, doctor, version and print-openapi."
                              : "did you mean " + meant + "?"));
}

} // namespace

int main(int argc, char** argv) {
  const auto words = take_words(argc, argv);
  const auto environment = take_environment();
  // One heap for the thread of the actors and one for those beside it.
  ::mallopt(M_ARENA_MAX, 2);
  try {
    return run(words, environment);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "aiod: %s\n", failure.what());
    return 1;
  }
}
