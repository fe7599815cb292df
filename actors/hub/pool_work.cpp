#include "actors/hub/pool_work.hpp"

#include "actors/core/run_here.hpp"
#include "actors/core/scheduler.hpp"

namespace ahpd::hub {

namespace {

using worker = std::function<pool_answer(const json::object&)>;

pool_answer run(const call& c, const worker& work) {
  try {
    return work(c.params);
  } catch (const std::exception& e) {
    return jsonrpc::error{jsonrpc::internal_error, c.method + " failed: " + e.what(), nullptr};
  }
}

void finish(const call& c, const pool_answer& answer) {
  if (const auto* why = std::get_if<jsonrpc::error>(&answer))
    c.refuse(*why);
  else
    c.answer_text(std::get<std::string>(answer));
  auto& line = c.self->state.pool_work;
  line.pop_front();
  if (!line.empty())
    line.front()();
}

} // namespace

void answer_from_pool(const call& c, worker work) {
  // Shared: a call may hold megabytes.
  const auto held = std::make_shared<const call>(c);
  auto& line = c.self->state.pool_work;
  line.push_back([held, work = std::move(work)] {
    auto back = core::back_to<pool_answer>(
      held->self, [held](const pool_answer& answer) { finish(*held, answer); });
    core::run_blocking(held->self->system(),
                       [held, work, back = std::move(back)] { back(run(*held, work)); });
  });
  if (line.size() == 1)
    line.front()();
}

} // namespace ahpd::hub
