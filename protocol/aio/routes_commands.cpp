#include "protocol/aio/routes.hpp"

namespace ahpd::aio {

namespace {

constexpr double day = 86'400;

constexpr field run[] = {
  need("command", type::text, "Script; with shell \"none\" the program."),
  may("args", type::texts, "Arguments of the program; only with shell \"none\"."),
  may("shell", type::text, "What runs the script; auto is bash.")
    .one_of("auto|bash|sh|powershell|cmd|none")
    .otherwise("\"auto\""),
  may("cwd", type::text, "Directory; else the session's, else the account's home."),
  may("env", type::text_by_name, "Variables for this command, over the session's."),
  may("user", type::text, "Account that it runs as; else the session's, else the default."),
  may("session", type::text, "Id of a session; a new one is made without."),
  may("mode", type::text, "Answer at the end, at once, or piece by piece as NDJSON.")
    .one_of("sync|async|stream")
    .otherwise("\"sync\""),
  may("timeout", type::number, "Seconds to wait for the end; then the command is still running.")
    .between(0, 30 * day),
  may("hard_timeout", type::number, "Seconds until the command and all it started are killed.")
    .between(0, 30 * day),
  may("max_output_length", type::integer, "Characters of each stream in the answer; 0: all.")
    .between(0, 1e9)
    .otherwise("50000"),
};

constexpr field ran[] = {
  need("session_id", type::text, "Session that it ran in."),
  need("command_id", type::text, "Its id."),
  need("command", type::text, "As it was given."),
  need("status", type::text, "").one_of("running|completed|timed_out|killed"),
  need("stdout", type::text, "Its output, cut in the middle when it is longer than asked for."),
  need("stderr", type::text, "The same of its errors."),
  need("output", type::text, "Both as they came, cut in the same way."),
  need("exit_code", type::integer, "Null while it runs; -1 when a signal ended it.").or_null(),
  need("offset", type::integer, "Bytes of output so far."),
  need("stderr_offset", type::integer, "Bytes of errors so far."),
};

constexpr field from_where[] = {
  may("offset", type::integer, "Bytes of output that are known already.")
    .at_least(0)
    .otherwise("0"),
  may("stderr_offset", type::integer, "The same of errors.").at_least(0).otherwise("0"),
  may("wait", type::flag, "Wait for more output or the end.").otherwise("false"),
  may("wait_timeout", type::number, "Seconds to wait at most.").between(0, day).otherwise("30"),
};

constexpr field command_now[] = {
  need("command_id", type::text, "Its id."),
  need("command", type::text, "As it was given."),
  need("status", type::text, "").one_of("running|completed|timed_out|killed"),
  need("exit_code", type::integer, "Null while it runs; -1 when a signal ended it.").or_null(),
};

constexpr field output_now[] = {
  need("session_id", type::text, "Session that it runs in."),
  need("stdout", type::text, "What came behind the offset."),
  need("stderr", type::text, "The same of its errors."),
  need("offset", type::integer, "Behind what is told here."),
  need("stderr_offset", type::integer, "The same of errors."),
  need("command", type::object, "How it stands.").holding(command_now).or_null(),
  may("truncated", type::flag, "Something between the offset and this text is not kept any more."),
};

constexpr field input[] = {
  need("input", type::text, "Goes into its standard input."),
  may("close", type::flag, "End its input behind that.").otherwise("false"),
};

constexpr field kill[] = {
  may("signal", type::text, "Name of a signal, with or without SIG.").otherwise("\"SIGTERM\""),
};

constexpr field new_session[] = {
  may("id", type::text, "Id; that of a session gives that session."),
  may("cwd", type::text, "Directory of its commands."),
  may("env", type::text_by_name, "Variables of its commands."),
  may("user", type::text, "Account that its commands run as."),
};

constexpr field session[] = {
  need("session_id", type::text, "Its id."),
  need("status", type::text, "").one_of("ready|closed"),
  need("working_dir", type::text, "Directory of its commands."),
  need("created_at", type::text, "ISO 8601."),
  need("last_used_at", type::text, "ISO 8601."),
  need("current_command", type::text, "The newest that runs.").or_null(),
  need("command_count", type::integer, "Commands so far."),
  may("user", type::text, "Account, when one was named."),
};

constexpr route v2[] = {
  // before the routes of one command, whose id is no "sessions"
  {"POST",
   "/v2/commands/sessions",
   "openCommandSession",
   "commands",
   "Make a session",
   {},
   takes::json,
   new_session,
   gives::object,
   session},
  {"GET",
   "/v2/commands/sessions",
   "listCommandSessions",
   "commands",
   "The sessions",
   {},
   takes::nothing,
   {},
   gives::list,
   session},
  {"DELETE",
   "/v2/commands/sessions/{session_id}",
   "closeCommandSession",
   "commands",
   "End a session and kill what runs in it",
   {},
   takes::nothing,
   {},
   gives::empty},
  {"POST",
   "/v2/commands",
   "runCommand",
   "commands",
   "Run a command",
   {},
   takes::json,
   run,
   gives::object,
   ran,
   access::keyed,
   "application/x-ndjson"},
  {"GET",
   "/v2/commands/{command_id}",
   "readCommand",
   "commands",
   "Output of a command from an offset",
   from_where,
   takes::nothing,
   {},
   gives::object,
   output_now},
  {"POST",
   "/v2/commands/{command_id}/stdin",
   "writeCommand",
   "commands",
   "Write to a command's input",
   {},
   takes::json,
   input,
   gives::empty},
  {"POST",
   "/v2/commands/{command_id}/kill",
   "killCommand",
   "commands",
   "Signal a command and all it started",
   {},
   takes::json,
   kill,
   gives::empty},
};

// ---- version 1 ----------------------------------------------------------------------------------

constexpr field run_v1[] = {
  need("command", type::text, "Script for bash."),
  may("session_id", type::text, "Session; made when there is none of that id."),
  may("exec_dir", type::text, "Directory, which becomes the session's."),
  may("env", type::text_by_name, "Variables for this command."),
  may("async_mode", type::flag, "Answer at once.").otherwise("false"),
  may("timeout", type::number, "Seconds to wait for the end.").between(0, 30 * day),
  may("hard_timeout", type::number, "Seconds until it is killed.").between(0, 30 * day),
  may("max_output_length", type::integer, "Characters of each stream in the answer; 0: all.")
    .between(0, 1e9)
    .otherwise("50000"),
};

constexpr field ran_v1[] = {
  need("session_id", type::text, "Session that it ran in."),
  need("command_id", type::text, "Its id."),
  need("command", type::text, "As it was given."),
  need("status", type::text, "").one_of("running|completed|timed_out|killed"),
  need("stdout", type::text, "Its output; null when it is empty.").or_null(),
  need("stderr", type::text, "The same of its errors.").or_null(),
  need("output", type::text, "Both as they came.").or_null(),
  need("exit_code", type::integer, "Null while it runs.").or_null(),
  need("offset", type::integer, "Bytes of output so far."),
  need("stderr_offset", type::integer, "Bytes of errors so far."),
};

constexpr field read_v1[] = {
  need("session_id", type::text, "Session."),
  may("command_id", type::text, "Command; else the current or latest one."),
  may("offset", type::integer, "Bytes of output that are known already.")
    .at_least(0)
    .otherwise("0"),
  may("stderr_offset", type::integer, "The same of errors.").at_least(0).otherwise("0"),
  may("wait", type::flag, "Wait for more output or the end.").otherwise("false"),
  may("wait_timeout", type::number, "Seconds to wait at most.").between(0, day).otherwise("30"),
};

constexpr field write_v1[] = {
  need("session_id", type::text, "Session."),
  may("command_id", type::text, "Command; else the current or latest one."),
  need("input", type::text, "Goes into its standard input."),
};

constexpr field kill_v1[] = {
  need("session_id", type::text, "Session."),
  may("command_id", type::text, "Command; else the current or latest one."),
  may("signal", type::text, "Name of a signal.").otherwise("\"SIGTERM\""),
};

constexpr field new_session_v1[] = {
  may("session_id", type::text, "Id; that of a session gives that session."),
  may("exec_dir", type::text, "Directory of its commands."),
  may("snapshot_path", type::text, "A script that every command of it begins with."),
};

constexpr route v1[] = {
  {"POST",
   "/v1/bash/exec",
   "runBashV1",
   "bash",
   "Run a command",
   {},
   takes::json,
   run_v1,
   gives::object,
   ran_v1},
  {"POST",
   "/v1/bash/output",
   "readBashV1",
   "bash",
   "Output of a command from an offset",
   {},
   takes::json,
   read_v1,
   gives::object,
   output_now},
  {"POST",
   "/v1/bash/write",
   "writeBashV1",
   "bash",
   "Write to a command's input",
   {},
   takes::json,
   write_v1,
   gives::empty},
  {"POST",
   "/v1/bash/kill",
   "killBashV1",
   "bash",
   "Signal a command and all it started",
   {},
   takes::json,
   kill_v1,
   gives::empty},
  {"GET",
   "/v1/bash/sessions",
   "listBashV1",
   "bash",
   "The sessions",
   {},
   takes::nothing,
   {},
   gives::list,
   session},
  {"POST",
   "/v1/bash/sessions/create",
   "openBashV1",
   "bash",
   "Make a session",
   {},
   takes::json,
   new_session_v1,
   gives::object,
   session},
  {"POST",
   "/v1/bash/sessions/{session_id}/close",
   "closeBashV1",
   "bash",
   "End a session and kill what runs in it",
   {},
   takes::nothing,
   {},
   gives::empty},
};

} // namespace

const std::span<const route> command_routes = v2;
const std::span<const route> bash_routes = v1;

} // namespace ahpd::aio
