#pragma once

#include "actors/sandbox/services.hpp"
#include "protocol/json.hpp"
#include "protocol/transport/client.hpp"

#include <optional>
#include <string>

/// Looking for what this machine has.
namespace ahpd::sandbox {

/// The sections files, exec and code_interpreter. Reads directories: for the pool.
json::object probe_here(const services& host);

/// The section browser, from the answer to GET /json/version. Looks through /proc.
json::object browser_answer(const config::sandbox_options& options,
                            const transport::http_result& got);

/// The section computer, which is absent for this reason.
json::object computer_answer(const std::string& why);

/// Why an exchange is of no use; a sentence also for one that is.
std::string failure_of(const transport::http_result& got);

/// Where an `http://host[:port]` URL points; nothing for another text.
std::optional<transport::target> plain_target(std::string_view url);

/// Whether a browser runs on this machine.
bool has_browser_process();

} // namespace ahpd::sandbox
