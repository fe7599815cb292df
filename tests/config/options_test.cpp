#include "tests/config/options_support.hpp"

#include <fcntl.h>
#include <sys/stat.h>

using namespace ahpd;
namespace fs = std::filesystem;

namespace {

using strings = std::vector<std::string>;

mode_t mode_of(const std::string& path) {
  struct stat st {};
  REQUIRE(stat(path.c_str(), &st) == 0);
  return st.st_mode & 0777;
}

} // namespace

TEST_CASE_FIXTURE(tests::home, "with nothing said the defaults hold") {
  const auto o = options();
  CHECK(o.host == "127.0.0.1");
  CHECK(o.port == 9187);
  CHECK(o.paths == strings{work()});
  CHECK(o.connection_token.empty());
  CHECK_FALSE(o.without_connection_token);
  CHECK_FALSE(o.sessions_in_memory);
  CHECK(o.delta_window_ms == 75);
  CHECK(o.client_tool_timeout_ms == 600'000);
  CHECK(o.io_threads == 1);
  CHECK(o.wire.empty());
  REQUIRE(o.plugins.size() == 1); // what a host does that was told nothing: it makes machines
  CHECK(o.plugins[0].name == "@ahpd/computer");
  CHECK(o.directory == settings());
  CHECK(o.files.empty());
  CHECK(o.skipped.empty());
  CHECK(mode_of(settings()) == 0700);
}

TEST_CASE_FIXTURE(tests::home, "every flag says what its key says") {
  fs::create_directories(work() + "/a");
  const auto flags = options({"--host",
                              "::1",
                              "--port=0",
                              "--path",
                              "a",
                              "--path",
                              "..",
                              "--connection-token",
                              "s3",
                              "--delta-window-ms",
                              "1000",
                              "--client-tool-timeout-ms",
                              "0",
                              "--sessions",
                              "memory",
                              "--io-threads",
                              "64",
                              "--wire",
                              "w.jsonl",
                              "--plugin",
                              "p",
                              "--plugin=q",
                              "--no-update-check"});
  const std::string file = work() + "/other.json";
  write(file, R"({"host": "::1", "port": 0, "paths": ["a", ".."], "connectionToken": "s3",
                  "deltaWindowMs": 1000, "clientToolTimeoutMs": 0, "sessions": "memory", "ioThreads": 64, "wire": "w.jsonl",
                  "plugins": ["p", {"name": "q"}], "updateCheck": false})");
  const auto keys = options({"--config-file", "other.json"});
  CHECK(keys.files == strings{file});
  for (const auto* o : {&flags, &keys}) {
    CHECK(o->host == "::1");
    CHECK(o->port == 0);
    CHECK(o->paths == strings{work() + "/a", dir.path()});
    CHECK(o->connection_token == "s3");
    CHECK(o->delta_window_ms == 1000);
    CHECK(o->client_tool_timeout_ms == 0);
    CHECK(o->sessions_in_memory);
    CHECK(o->io_threads == 64);
    CHECK(o->wire == work() + "/w.jsonl");
    REQUIRE(o->plugins.size() == 2);
    CHECK(o->plugins[0].name == "p");
    CHECK(o->plugins[1].enabled);
    CHECK(o->skipped.empty());
  }
}

TEST_CASE_FIXTURE(tests::home, "flags win over the named file, and that over the own one") {
  configure(
    R"({"port": 1, "deltaWindowMs": 1, "ioThreads": 2, "paths": ["."], "host": "localhost"})");
  around.environment["AHPD_CONFIG"] = "named.json";
  write(work() + "/named.json", R"({"port": 2, "deltaWindowMs": 2, "paths": ["x"]})");
  fs::create_directories(work() + "/x");
  auto o = options({"--port", "3"});
  CHECK(o.port == 3);
  CHECK(o.delta_window_ms == 2);
  CHECK(o.io_threads == 2);
  CHECK(o.host == "localhost");
  CHECK(o.paths == strings{work() + "/x"});
  CHECK(o.files == strings{config_file(), work() + "/named.json"});
  o = options({"--path", "."});
  CHECK(o.paths == strings{work()});
}

TEST_CASE_FIXTURE(tests::home,
                  "the configuration directory follows XDG_CONFIG_HOME when absolute") {
  around.environment["XDG_CONFIG_HOME"] = dir.path() + "/xdg";
  CHECK(options().directory == dir.path() + "/xdg/ahpd");
  around.environment["XDG_CONFIG_HOME"] = "xdg";
  CHECK(options().directory == settings());
  around.environment.erase("HOME");
  CHECK(refusal() == "Neither XDG_CONFIG_HOME nor HOME says where the configuration directory is.");
}

TEST_CASE_FIXTURE(tests::home, "a configuration directory that cannot be made refuses the start") {
  write(dir.path() + "/home/.config", "a file");
  CHECK(refusal({}, 1) == settings() + " could not be made: ENOTDIR: Not a directory");
}

TEST_CASE_FIXTURE(tests::home,
                  "relative paths are taken from the folder of the file that says them") {
  configure(R"({"paths": ["projects"], "connectionTokenFile": "secrets/t", "wire": "w"})");
  fs::create_directories(settings() + "/projects");
  write(settings() + "/secrets/t", "tok\n");
  const auto o = options();
  CHECK(o.paths == strings{settings() + "/projects"});
  CHECK(o.connection_token_file == settings() + "/secrets/t");
  CHECK(o.connection_token == "tok");
  CHECK(o.wire == settings() + "/w");
}

TEST_CASE_FIXTURE(tests::home, "folders must be there, and each counts once") {
  CHECK(refusal({"--path", "none"}) == work() + "/none cannot be served: it does not exist");
  write(work() + "/file", "");
  CHECK(refusal({"--path", "file"}) == work() + "/file cannot be served: it is not a folder");
  CHECK(options({"--path", ".", "--path", "../work/"}).paths == strings{work()});
  CHECK(
    refusal({"--no-cwd"}) ==
    "--no-cwd serves only what --path or \"paths\" names, and neither does. Pass --path, or run "
    "ahpd configure.");
  configure(R"({"paths": ["."]})");
  CHECK(options({"--no-cwd"}).paths == strings{settings()});
  around.working_directory.clear();
  configure("{}");
  CHECK(refusal() == "The current folder is gone; pass --path.");
}

TEST_CASE_FIXTURE(tests::home, "wrong words on the line are refused by name") {
  const std::pair<strings, std::string> cases[] = {
    {{"--prot", "1"}, "--prot is not an option of ahpd; did you mean --port?"},
    {{"word"}, "word is not an option of ahpd; ahpd --help lists them."},
    {{""}, " is not an option of ahpd; ahpd --help lists them."},
    {{"--port"}, "--port needs a value; write --port=N for one that begins with --"},
    {{"--path", "--no-cwd"}, "--path needs a value; write --path=DIR for one that begins with --"},
    {{"--no-cwd=1"}, "--no-cwd takes no value"},
    {{"--port", "x"}, "--port must be an integer between 0 and 65535"},
    {{"--port", "65536"}, "--port must be an integer between 0 and 65535"},
    {{"--port", "-1"}, "--port must be an integer between 0 and 65535"},
    {{"--port", "1 "}, "--port must be an integer between 0 and 65535"},
    {{"--port="}, "--port must be an integer between 0 and 65535"},
    {{"--delta-window-ms", "1001"}, "--delta-window-ms must be an integer between 0 and 1000"},
    {{"--io-threads", "0"}, "--io-threads must be an integer between 1 and 64"},
    {{"--sessions", "disk"}, "--sessions must be file or memory"},
    {{"--path="}, "--path must name a folder"},
    {{"--wire="}, "--wire must name a file"},
    {{"--plugin="}, "--plugin must name a plugin"},
    {{"--host="}, "The host to listen on is empty; --host takes an address."},
    {{"--stdio"}, "--stdio is not served by this version"},
    {{"--users=u.json"}, "--users is not served by this version"},
    {{"--issuer", "github"}, "--issuer is not served by this version"},
  };
  for (const auto& [flags, sentence] : cases)
    CHECK(refusal(flags) == sentence);
  CHECK_FALSE(fs::exists(settings())); // a refused start leaves nothing behind
}

TEST_CASE_FIXTURE(tests::home, "a wrong value in a file is refused with the file and the key") {
  const std::pair<const char*, const char*> cases[] = {
    {R"({"port": "80"})", "port must be an integer"},
    {R"({"port": 80.5})", "port must be an integer"},
    {R"({"port": null})", "port must be an integer"},
    {R"({"port": 65536})", "port must be an integer between 0 and 65535"},
    {R"({"port": 18446744073709551615})", "port must be an integer between 0 and 65535"},
    {R"({"host": 1})", "host must be a string"},
    {R"({"paths": "a"})", "paths must be a list of strings"},
    {R"({"paths": [1]})", "paths must be a list of strings"},
    {R"({"connectionToken": 1})", "connectionToken must be a string"},
    {R"({"connectionTokenFile": ""})", "connectionTokenFile must name a file"},
    {R"({"withoutConnectionToken": 1})", "withoutConnectionToken must be true or false"},
    {R"({"deltaWindowMs": -1})", "deltaWindowMs must be an integer between 0 and 1000"},
    {R"({"ioThreads": 65})", "ioThreads must be an integer between 1 and 64"},
    {R"({"sessions": "disk"})", "sessions must be file or memory"},
    {R"({"wire": []})", "wire must be a string"},
    {R"({"updateCheck": "no"})", "updateCheck must be true or false"},
    {R"({"plugins": {}})", "plugins must be a list of names and of objects with a name"},
    {R"({"plugins": [1]})", "plugins[0] must be a name or an object with a name"},
    {R"({"plugins": ["p", {}]})", "plugins[1] must have a name"},
    {R"({"plugins": [{"name": 1}]})", "plugins[0].name must be a string"},
    {R"({"plugins": [{"name": "p", "options": []}]})", "plugins[0].options must be an object"},
    {R"({"plugins": [{"name": "p", "enabled": 1}]})", "plugins[0].enabled must be true or false"},
    {R"({"plugins": [{"name": "p", "x": 1}]})",
     "plugins[0] takes name, options and enabled, not x"},
    {R"({"users": "u.json"})",
     "users is not served by this version, and without it everyone who connects may do everything; "
     "take it out to serve them all the same"},
  };
  for (const auto& [text, wrong] : cases) {
    configure(text);
    CHECK(refusal() == config_file() + ": " + wrong);
  }
}

TEST_CASE_FIXTURE(tests::home, "what a file sets in vain is said once and left out") {
  configure(R"({"prot": 1, "http": true, "mcpServers": {}, "port": 5})");
  const auto o = options();
  CHECK(o.port == 5);
  CHECK(o.skipped ==
        strings{config_file() + ": prot is not a setting ahpd knows; ignored",
                config_file() + ": http is not served by this version; ignored",
                config_file() + ": mcpServers is not served by this version; ignored"});
}

TEST_CASE_FIXTURE(tests::home, "a file that is no configuration says where it goes wrong") {
  const std::pair<std::string, std::string> cases[] = {
    {"{\"a\": }", ": syntax error at byte 7"},
    {"{\"a\": 1", ": incomplete JSON at byte 7"},
    {"", ": incomplete JSON at byte 0"},
    {"{} x", ": extra data at byte 4"},
    {"[1]", " must hold a JSON object"},
    {"{\"a\": " + std::string(40, '[') + std::string(40, ']') + "}",
     ": nested deeper than 32 levels at byte 38"},
    {std::string((1 << 20) + 1, ' '), " is larger than 1048576 bytes"},
  };
  for (const auto& [text, wrong] : cases) {
    configure(text);
    CHECK(refusal() == config_file() + wrong);
  }
  const std::string none = work() + "/none.json";
  CHECK(refusal({"--config-file", "none.json"}) ==
        none + " could not be read: ENOENT: No such file or directory");
  fs::remove(config_file());
  around.environment["AHPD_CONFIG"] = none;
  CHECK(refusal() == none + " could not be read: ENOENT: No such file or directory");
}

TEST_CASE_FIXTURE(tests::home, "credentials that contradict each other are refused") {
  const std::string contradicts =
    "--without-connection-token contradicts the token you also passed.";
  CHECK(refusal({"--without-connection-token", "--connection-token", "x"}) == contradicts);
  CHECK(refusal({"--without-connection-token", "--connection-token-file", "x"}) == contradicts);
  CHECK(refusal({"--connection-token", "x", "--connection-token-file", "y"}) ==
        "Pass --connection-token or --connection-token-file, not both.");
  CHECK(refusal({"--connection-token="}) == "--connection-token was empty.");
  write(work() + "/empty", "\n");
  CHECK(refusal({"--connection-token-file", "empty"}) == work() + "/empty is empty.");
  CHECK_FALSE(fs::exists(work() + "/x"));
}

TEST_CASE_FIXTURE(tests::home,
                  "a typed credential replaces the file's, but never opens what it closes") {
  configure(R"({"connectionToken": "a"})");
  write(work() + "/t", "b\r\n");
  const auto o = options({"--connection-token-file", "t"});
  CHECK(o.connection_token == "b");
  CHECK(o.connection_token_file == work() + "/t");
  CHECK(refusal({"--without-connection-token"}) ==
        "--without-connection-token contradicts the token you also passed.");
  configure(R"({"withoutConnectionToken": true})");
  const auto closed = options({"--connection-token", "c"});
  CHECK(closed.connection_token == "c");
  CHECK_FALSE(closed.without_connection_token);
}

TEST_CASE_FIXTURE(tests::home, "other machines are let in only with a credential or on purpose") {
  for (const char* host : {"127.0.0.1", "::1", "localhost"})
    CHECK(options({"--host", host}).host == host);
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1", "127.0.0.2", "localhost.example"})
    CHECK(refusal({"--host", host}) ==
          "Binding " + std::string(host) +
            " exposes this host beyond this machine.\nPass --connection-token, "
            "--connection-token-file, or --without-connection-token.");
  CHECK(options({"--host", "0.0.0.0", "--without-connection-token"}).without_connection_token);
  CHECK(options({"--host", "0.0.0.0", "--connection-token", "x"}).connection_token == "x");
}

TEST_CASE_FIXTURE(tests::home, "an absent token file is made once, with a fresh secret") {
  const std::string file = work() + "/token";
  const auto first = options({"--connection-token-file", "token"});
  CHECK(first.connection_token.size() == 43);
  CHECK(first.connection_token.find_first_not_of(
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == std::string::npos);
  CHECK(tests::read_file(file) == first.connection_token + "\n");
  CHECK(mode_of(file) == 0600);
  CHECK(options({"--connection-token-file", "token"}).connection_token == first.connection_token);
  CHECK(options({"--connection-token-file", "other"}).connection_token != first.connection_token);
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(work()))
    ++entries;
  CHECK(entries == 2); // no scratch file is left
}

TEST_CASE_FIXTURE(tests::home, "a token file that cannot be read or made refuses the start") {
  CHECK(refusal({"--connection-token-file", "no/token"}, 1) ==
        work() + "/no/token could not be written: ENOENT: No such file or directory");
  fs::create_symlink("nowhere", work() + "/dangling");
  CHECK(refusal({"--connection-token-file", "dangling"}, 1) ==
        work() + "/dangling could not be read: ENOENT: No such file or directory");
  CHECK(refusal({"--connection-token-file", "."}, 1) ==
        work() + " could not be read: EISDIR: Is a directory");
  write(work() + "/big", std::string(5000, 'x'));
  CHECK(refusal({"--connection-token-file", "big"}, 1) ==
        work() + "/big is larger than 4096 bytes");
}
