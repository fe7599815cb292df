#include "runtimes/process/spawner.hpp"

#include "runtimes/process/children.hpp"
#include "runtimes/process/executable.hpp"
#include "runtimes/process/launch.hpp"
#include "runtimes/process/pidfd.hpp"
#include "runtimes/process/streams.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <system_error>

namespace ahpd::process {

namespace {

std::string text_of(int error) {
  return std::generic_category().message(error);
}

/// What is wrong with what was asked for, before anything is tried; empty: nothing.
std::string complaint(const spawn_request& what) {
  const auto cut = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (what.argv.empty() || what.argv.front().empty())
    return "argv is empty; expected a program and its arguments";
  for (const auto& part : what.argv)
    if (cut(part))
      return "argv holds a zero byte; expected text";
  if (cut(what.directory))
    return "directory holds a zero byte; expected a path";
  for (const auto& [name, value] : what.env) {
    if (name.empty() || name.find('=') != std::string::npos || cut(name))
      return "env holds the name '" + name.substr(0, name.find('\0')) +
             "'; expected one that is not empty and has neither '=' nor a zero byte";
    if (cut(value))
      return "env." + name + " holds a zero byte; expected text";
  }
  return {};
}

/// Says why a program could not be started, by looking at what its errno may be about.
std::string refusal(const spawn_request& what, int error) {
  const std::string& command = what.argv.front();
  struct stat info {};
  if (!what.directory.empty() && (error == ENOENT || error == ENOTDIR || error == EACCES)) {
    const std::string where = command + " could not be started in " + what.directory;
    if (::stat(what.directory.c_str(), &info) != 0)
      return errno == ENOENT ? where + ", which does not exist" : where + ": " + text_of(errno);
    if (!S_ISDIR(info.st_mode))
      return where + ", which is not a directory";
  }
  if (error == ENOENT && command.find('/') != std::string::npos) {
    const bool relative = command.front() != '/' && !what.directory.empty();
    const std::string file = relative ? what.directory + '/' + command : command;
    if (::stat(file.c_str(), &info) == 0)
      return command + " could not be started: the interpreter it names does not exist";
  }
  if (error == ENOENT)
    return command +
           " was not found; install it, or put its directory on the PATH the daemon runs with";
  return command + " could not be started: " + text_of(error);
}

/// The null-ended array of C strings that exec takes.
std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (auto& each : strings)
    out.push_back(each.data());
  out.push_back(nullptr);
  return out;
}

/// Starts the child and makes it known before the reaper can see it.
launched launch(const spawn_request& what, const std::string& path, const streams& io) {
  std::vector<std::string> argv = what.argv;
  std::vector<std::string> env;
  env.reserve(what.env.size());
  for (const auto& [name, value] : what.env)
    env.push_back(name + '=' + value);
  const auto argv_pointers = pointers(argv);
  const auto env_pointers = pointers(env);

  launch_plan plan;
  plan.path = path.c_str();
  plan.argv = argv_pointers.data();
  plan.envp = env_pointers.data();
  plan.directory = what.directory.empty() ? nullptr : what.directory.c_str();
  plan.as = what.as ? &*what.as : nullptr;
  plan.terminal = what.terminal.has_value();
  plan.input = io.child_input.get();
  plan.output = plan.terminal ? plan.input : io.child_output.get();
  plan.error = plan.terminal ? plan.input : io.child_error.get();

  auto& own = children::of_this_process();
  const auto held = own.lock();
  const launched out = plan.terminal || plan.as ? launch_special(plan) : launch_plain(plan);
  if (out.pid > 0)
    own.add(held, out.pid);
  return out;
}

} // namespace

spawn_result spawn(const spawn_request& what) {
  if (auto wrong = complaint(what); !wrong.empty())
    return {std::nullopt, std::move(wrong)};
  const auto program = find_executable(what.argv.front(), what.env);
  if (program.error != 0)
    return {std::nullopt, refusal(what, program.error)};
  streams io = what.terminal ? make_terminal(*what.terminal,
                                             what.as ? std::optional(what.as->uid) : std::nullopt)
                             : make_pipes(what.input);
  if (io.problem != 0)
    return {std::nullopt, what.argv.front() + " could not be started: " + text_of(io.problem)};

  const launched child = launch(what, program.path, io);
  if (child.error != 0)
    return {std::nullopt, refusal(what, child.error)};

  // Its pid stays its own until it is collected, so this cannot meet another process.
  descriptor pidfd = hold_process(child.pid);
  if (!pidfd) {
    const int error = errno;
    ::kill(-child.pid, SIGKILL);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT);
    children::of_this_process().collect(child.pid);
    return {std::nullopt, what.argv.front() + " could not be started: " + text_of(error)};
  }
  return {spawned{child.pid, std::move(pidfd), std::move(io.input), std::move(io.output),
                  std::move(io.error)},
          {}};
}

} // namespace ahpd::process
