#pragma once

#include "actors/core/outbox.hpp"
#include "protocol/json.hpp"
#include "runtimes/runtime.hpp"

#include <functional>
#include <memory>

namespace ahpd::hub {

/// Who asked for a long operation and wants to hear how far it is (`root/progress`).
struct progress_sink {
  std::shared_ptr<core::outbox> box;
  json::shared token; ///< null: nobody wants to hear
};

/// The sink that a request's `progressToken` asks for.
progress_sink sink_for(const std::shared_ptr<core::outbox>& box, const json::object& params);

/// `root/progress` to whoever asked; empty when nobody did. Progress never goes back and ends with
/// `progress == total`.
std::function<void(runtimes::progress)> progress_to(const progress_sink& sink);

} // namespace ahpd::hub
