#pragma once

#include "runtimes/exec.hpp"

#include <map>
#include <memory>
#include <string>

namespace boost::asio {
class io_context;
class thread_pool;
} // namespace boost::asio

namespace ahpd::runtimes {

/// Programs on this host, started by the daemon itself.
///
/// A request's environment is laid over `base_environment`, and the PATH of the result finds the
/// program. An empty `directory` is the daemon's own. Another `user` than the daemon's (a name or a
/// decimal id) needs root; the program then gets that user's groups, and HOME, USER and LOGNAME
/// where the request does not set them. Callbacks come on an io thread, never inside the call.
///
/// `sweep` and look-ups run on `blocking`, which must be joined before `io` is destroyed.
std::shared_ptr<place> make_host_place(boost::asio::io_context& io,
                                       boost::asio::thread_pool& blocking,
                                       std::map<std::string, std::string> base_environment);

} // namespace ahpd::runtimes
