#pragma once

#include "actors/sandbox/front.hpp"
#include "runtimes/disk/fault.hpp"
#include "runtimes/disk/place.hpp"

#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>

#include <functional>
#include <string>
#include <string_view>

/// What the calls of all file routes have in common (spec "v2 Files", "/v1/file"): they are
/// answered on the pool for what blocks, and what they throw is told in one way.
namespace ahpd::sandbox {

/// Work for the pool. No answer.
struct file_work {
  std::function<void()> what;
};

/// Hands work to the pool.
caf::behavior files_actor(caf::event_based_actor* self, services_ptr host);

/// Does work on the pool; what it throws answers the call.
void on_pool(const call_ptr& what, std::function<void()> work);

/// A handler that answers on the pool.
template <void (*serve)(call&)> void served_on_pool(const call_ptr& what) {
  on_pool(what, [what] { serve(*what); });
}

/// Answers a call with why it was not done: by version 1 with status 200, but for downloads.
void refuse(call& to, const disk::fault& why);

bool is_v1(const call& what);

/// The path of a checked member, absolute. Throws when it can be none.
std::string path_of(const call& what, std::string_view member = "path");
/// The same of a text.
std::string path_from(const call& what, const std::string& text);

/// A path as answers say it: one that JSON cannot hold as a file:/// URI.
std::string shown(const std::string& path);

/// The same of a name: bytes that are no UTF-8 are replaced.
std::string shown_name(const std::string& name);

/// Whose what a call creates becomes. Throws a `refusal`.
disk::maybe_owner owner_of(const call& what);

bool flag_of(const json::object& from, std::string_view member);

} // namespace ahpd::sandbox

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::sandbox::file_work)
