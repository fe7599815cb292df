#pragma once

#include "protocol/transport/pipe.hpp"

namespace ahpd::transport {

/// Sends a file's bytes over a pipe that nobody else writes to, a piece at a time, and tells
/// whether all of them went. A peer that takes nothing for `patience` is dropped; the pipe's timer
/// is in use until then.
void send_file_body(std::shared_ptr<pipe> over, std::shared_ptr<const file_body> what,
                    std::chrono::seconds patience, std::function<void(bool whole)> done);

} // namespace ahpd::transport
