#pragma once

#include "runtimes/docker/machines.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>

namespace ahpd::runtimes {

/// Machines that are containers of one Docker Engine. Every verb is refused with a sentence where
/// there is no engine to speak to; it is found again by itself.
///
/// Dropping it ends what is under way: open verbs answer with a refusal, programs that still run
/// are lost to their owners and go on in their machines. It and every place and program of it must
/// be dropped before `io` is destroyed.
std::shared_ptr<runtime> make_docker_runtime(boost::asio::io_context& io, docker_options options);

} // namespace ahpd::runtimes
