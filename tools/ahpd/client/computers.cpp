#include "protocol/ahp/uris.hpp"
#include "protocol/random.hpp"
#include "tools/ahpd/client/computer_text.hpp"
#include "tools/ahpd/client/hub_link.hpp"
#include "tools/ahpd/client/print.hpp"
#include "tools/ahpd/client/session_names.hpp"
#include "tools/ahpd/client/verbs.hpp"

#include <fstream>
#include <iostream>
#include <iterator>

#include <unistd.h>

namespace ahpd::client {

namespace {

constexpr std::size_t manifest_depth = 32;
const std::string channel{ahp::computers_uri};

const std::vector<flag> create_flags{{"--image", true},   {"--cpus", true},   {"--memory", true},
                                     {"--workdir", true}, {"--folder", true}, {"--manifest", true}};

json::value read_leaf(hub_link& link, const std::string& name, const std::string& leaf) {
  const auto read = link.request("resourceRead", {{"channel", "ahp-root://"},
                                                  {"uri", "computer://" + name + "/" + leaf},
                                                  {"encoding", "utf-8"}});
  return json::value(json::string_member(read, "data").value_or(""));
}

json::value read_json_leaf(hub_link& link, const std::string& name, const std::string& leaf) {
  const auto text = read_leaf(link, name, leaf);
  std::string why;
  auto out = json::parse_text(std::string_view(text.get_string()), 64, why);
  if (!out)
    throw client_failure{exit_refused, "the hub's " + leaf + " of " + name + " is not JSON: " + why,
                         ""};
  return *out;
}

int list(const words& given, hub_link& link) {
  const auto snapshot = link.subscribe(channel);
  const auto* records = json::member(*json::member(snapshot, "state"), "records");
  const json::array none;
  const auto& machines = records && records->is_array() ? records->get_array() : none;
  if (given.has("--json")) {
    print_line(json::pretty(machines));
    return 0;
  }
  if (given.has("--quiet")) {
    for (const auto& machine : machines)
      print_line(plain(text_at(machine, {"id"})));
    return 0;
  }
  print_table(machine_rows(machines));
  return 0;
}

json::object manifest_of(const words& given) {
  json::object out;
  if (const auto file = given.value("--manifest")) {
    std::ifstream opened;
    if (*file != "-") {
      opened.open(*file, std::ios::binary);
      if (!opened)
        throw client_failure{exit_refused, "the manifest " + *file + " cannot be read", ""};
    }
    std::istream& in = *file == "-" ? std::cin : opened;
    const std::string text(std::istreambuf_iterator<char>(in), {});
    std::string why;
    auto read = json::parse_text(text, manifest_depth, why);
    if (!read || !read->is_object())
      throw client_failure{
        exit_wrong_words,
        "the manifest " + *file + " is not a JSON object" + (read ? "" : ": " + why), ""};
    out = read->get_object();
  }
  for (const char* key : {"image", "cpus", "memory", "workdir", "folder"})
    if (const auto value = given.value(std::string("--") + key))
      out[key] = *value;
  return out;
}

/// Shows `root/progress` of one long request on standard error: one changing line on a terminal,
/// else a line for each new message.
class progress_lines {
public:
  explicit progress_lines(hub_link& link) : token_(new_uuid()), terminal_(::isatty(STDERR_FILENO)) {
    link.on_notification = [this](std::string_view method, const json::value& params) {
      if (method == "root/progress" && json::string_member(params, "progressToken") == token_)
        show(params);
    };
  }
  ~progress_lines() {
    if (drawn_)
      write_all(STDERR_FILENO, "\r\x1b[K");
  }
  progress_lines(const progress_lines&) = delete;
  progress_lines& operator=(const progress_lines&) = delete;

  const std::string& token() const { return token_; }

private:
  void show(const json::value& params) {
    const auto message = plain(text_at(params, {"message"}));
    const double total = number_of(json::member(params, "total"));
    const double part = number_of(json::member(params, "progress"));
    if (terminal_) {
      drawn_ = true;
      const auto percent =
        total > 0 ? std::to_string(static_cast<int>(100 * part / total)) + " %  " : std::string();
      write_all(STDERR_FILENO, "\r\x1b[K" + percent + message.substr(0, 100));
    } else if (!message.empty() && message != last_) {
      last_ = message;
      print_note(message);
    }
  }

  std::string token_;
  bool terminal_;
  bool drawn_ = false;
  std::string last_;
};

int create(const words& given, hub_link& link) {
  const auto name = computer_name(given.rest[1]);
  {
    progress_lines progress(link);
    link.request("x-ahpd/computers/create",
                 {{"channel", channel},
                  {"name", name},
                  {"manifest", manifest_of(given)},
                  {"progressToken", progress.token()}},
                 hub_link::no_limit);
    link.on_notification = nullptr;
  }
  const auto uri = "computer://" + name;
  print_line(given.has("--json") ? json::serialize(json::value{{"computer", uri}}) : uri);
  return 0;
}

int act(const words& given, hub_link& link, const std::string& verb) {
  for (std::size_t i = 1; i < given.rest.size(); ++i) {
    const auto name = computer_name(given.rest[i]);
    link.request("x-ahpd/computers/" + verb, {{"channel", channel}, {"name", name}},
                 hub_link::no_limit);
    print_line("computer://" + name);
  }
  return 0;
}

int show(const words& given, hub_link& link) {
  const auto name = computer_name(given.rest[1]);
  auto state = std::string(read_leaf(link, name, "state").get_string());
  while (!state.empty() && state.back() == '\n')
    state.pop_back();
  const auto status = read_json_leaf(link, name, "status");
  if (given.has("--json"))
    print_line(json::pretty(json::value{{"id", name}, {"state", state}, {"status", status}}));
  else
    print_table(machine_facts(name, state, status));
  return 0;
}

int stats(const words& given, hub_link& link) {
  const auto name = computer_name(given.rest[1]);
  const auto now = read_json_leaf(link, name, "stats");
  if (given.has("--json"))
    print_line(json::pretty(now));
  else
    print_table(stats_facts(now));
  return 0;
}

} // namespace

int computer_verb(const std::vector<std::string>& args) {
  const auto given = parse_words("computer", args, create_flags);
  const std::string what = given.rest.empty() ? "" : given.rest[0];
  const auto count = given.rest.size();
  const bool many = what == "start" || what == "stop" || what == "restart" || what == "rm";
  const bool one = what == "create" || what == "show" || what == "stats";
  if (what != "list" && !many && !one)
    wrong_words(given, "say `list`, `create`, `show`, `stats`, `start`, `stop`, `restart` or `rm`");
  if (what != "create")
    for (const auto& f : create_flags)
      if (given.has(f.name))
        wrong_words(given, "`" + std::string(f.name) + "` is for `create`");
  if (what == "list" && count != 1)
    wrong_words(given, "`list` takes no more words");
  if (one && count != 2)
    wrong_words(given, "`" + what + "` takes one machine's name");
  if (many && count < 2)
    wrong_words(given, "`" + what + "` takes the names of machines");
  hub_link link;
  link.connect(find_hub(given), {"ahp-root://"}); // progress comes to subscribers of the root
  if (what == "list")
    return list(given, link);
  if (what == "create")
    return create(given, link);
  if (what == "show")
    return show(given, link);
  if (what == "stats")
    return stats(given, link);
  return act(given, link, what == "rm" ? "remove" : what);
}

} // namespace ahpd::client
