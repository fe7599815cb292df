#include "runtimes/docker/sweeper.hpp"

#include "runtimes/process/sweep.hpp"

#include <boost/asio/post.hpp>

#include <charconv>
#include <csignal>
#include <set>
#include <sstream>

namespace asio = boost::asio;

namespace ahpd::runtimes {

namespace {

constexpr std::size_t most_users = 32;
constexpr std::chrono::seconds patience{60};

/// Arguments: a signal's number, then markers. Says "hit <n>", "other <uid>:<gid>" for each user
/// whose processes it could not look into, and "left" when what it killed does not end. It needs a
/// shell of any kind and `tr`. Markers are arguments, since in its environment it would find
/// itself.
constexpr const char* script = R"(
command -v tr >/dev/null 2>&1 || { echo 'there is no tr in it' >&2; exit 3; }
sig=$1; shift
nl='
'
seen=' '; others=' '; hit=0; quiet=0; passes=0
while [ $quiet -lt 2 ]; do
  found=0
  for dir in /proc/[0-9]*; do
    pid=${dir#/proc/}
    [ "$pid" = $$ ] && continue
    if env=$( { tr '\0' '\n' <"$dir/environ"; } 2>/dev/null ); then
      for mark do
        case "$nl$env$nl" in
        *"${nl}AHPD_RUN=$mark$nl"* | *"${nl}AHPD_RUN=$mark."*)
          case $seen in
          *" $pid "*) [ "$sig" = 9 ] || continue ;;
          *) hit=$((hit + 1)); seen="$seen$pid " ;;
          esac
          found=1
          kill -"$sig" "$pid" 2>/dev/null ;;
        esac
      done
    else
      uid=; gid=
      while read -r key real eff rest; do
        case $key in Uid:) uid=$eff ;; Gid:) gid=$eff ;; esac
      done 2>/dev/null <"$dir/status"
      case $others in *" $uid:$gid "*) ;; *) [ -n "$uid" ] && others="$others$uid:$gid " ;; esac
    fi
  done
  if [ $found = 0 ]; then quiet=$((quiet + 1)); else quiet=0; fi
  passes=$((passes + 1))
  # What a signal ends may be started anew at once, so only a kill goes on until none is left.
  if [ "$sig" != 9 ]; then
    if [ $passes -ge 2 ]; then break; fi
  elif [ $passes -gt 200 ]; then
    echo left; break
  fi
done
echo "hit $hit"
for other in $others; do echo "other $other"; done
)";

/// For runs of the script itself, which nobody resizes or kills.
class no_controls final : public run_controls {
public:
  void resize(std::shared_ptr<exec_run>, window_size) override {}
  void signal(std::shared_ptr<exec_run>, int) override {}
  void kill(std::shared_ptr<exec_run>, std::chrono::milliseconds) override {}
};

} // namespace

asio::awaitable<sweeper::pass> sweeper::look(found_machine in, std::string user,
                                             std::vector<std::string> markers, int number) {
  exec_request what;
  what.argv = {"sh", "-c", script, "sh", std::to_string(number)};
  what.argv.insert(what.argv.end(), markers.begin(), markers.end());
  what.user = user;
  what.directory = "/";
  pass out;
  const auto begun =
    co_await programs_->launch(in, std::move(what), "", std::make_shared<no_controls>());
  if (!begun.run) {
    out.failure = begun.refused;
    out.no_shell = begun.refused.find("executable file not found") != std::string::npos ||
                   begun.refused.find("no such file or directory") != std::string::npos;
    co_return out;
  }
  // The shell is the machine's own and may be anything.
  asio::steady_timer limit(programs_->engine().strand(), patience);
  limit.async_wait([weak = std::weak_ptr<exec_run>(begun.run)](boost::system::error_code ec) {
    if (const auto run = ec ? nullptr : weak.lock())
      run->give_up("it took too long");
  });
  const auto status = co_await programs_->end_of(begun.run);
  const auto said = begun.run->read(output::out, 0, SIZE_MAX).bytes;
  const auto complaint = begun.run->read(output::err, 0, 1000).bytes;
  begun.run->finish(status);
  if (!status.ok()) {
    out.failure = !status.lost.empty() ? status.lost
                  : complaint.empty()  ? "the look for them failed"
                                       : complaint.substr(0, complaint.find('\n'));
    out.no_shell = status.code == 3;
    co_return out;
  }
  std::istringstream lines(said);
  for (std::string word, value; lines >> word;) {
    if (word == "left")
      out.failure = "some still live after they were killed";
    else if (word == "hit" && lines >> value)
      std::from_chars(value.data(), value.data() + value.size(), out.hit);
    else if (word == "other" && lines >> value && value != user)
      out.others.push_back(value);
  }
  co_return out;
}

asio::awaitable<sweep_outcome> sweeper::signal(found_machine in, std::vector<std::string> markers,
                                               int number) {
  sweep_outcome out;
  std::set<std::string> asked;
  std::vector<std::string> users{"0:0"};
  while (!users.empty() && out.failure.empty()) {
    const auto user = users.back();
    users.pop_back();
    if (!asked.insert(user).second || asked.size() > most_users)
      continue;
    auto one = co_await look(in, user, markers, number);
    out.hit += one.hit;
    if (!one.failure.empty())
      out.failure =
        "the processes of a run in " + in.facts.name + " could not all be ended: " + one.failure;
    out.no_shell = one.no_shell && asked.size() == 1;
    // Only root sees all: what another user cannot look into was root's, or is another's in turn.
    if (user == "0:0")
      users.insert(users.end(), one.others.begin(), one.others.end());
  }
  if (!out.no_shell || !programs_->engine().local())
    co_return out;
  auto here = co_await look_from_here(std::move(markers), number, in.facts.name);
  here.no_shell = true;
  if (here.hit == 0 && here.failure.empty())
    here.failure = out.failure;
  co_return here;
}

/// A container without a shell is looked into from this host, whose processes they may be.
asio::awaitable<sweep_outcome> sweeper::look_from_here(std::vector<std::string> markers, int number,
                                                       std::string machine) {
  struct waiting {
    explicit waiting(docker_strand on) : done(on) {}
    wake done;
    sweep_outcome result;
  };
  if (!blocking_)
    blocking_ = std::make_unique<asio::thread_pool>(1);
  const auto strand = programs_->engine().strand();
  const auto wait = std::make_shared<waiting>(strand);
  const process::process_tree tree{0, {markers.begin(), markers.end()}};
  asio::post(*blocking_, [weak = std::weak_ptr<waiting>(wait), strand, tree, number, machine] {
    sweep_outcome found;
    if (number == SIGKILL) {
      const auto killed = process::kill_tree(tree);
      found.hit = killed.killed;
      if (!killed.failure.empty())
        found.failure = "of " + machine + ", " + killed.failure;
    } else if (process::hold_any(tree)) {
      found.hit = 1;
      if (number != 0)
        process::signal_tree(tree, number, -1);
    }
    asio::post(strand, [weak, found] {
      if (const auto to = weak.lock()) {
        to->result = found;
        to->done.raise();
      }
    });
  });
  co_await wait->done.wait();
  co_return wait->result;
}

} // namespace ahpd::runtimes
