#include "actors/hub/store_actor.hpp"

#include "actors/core/errors.hpp"
#include "actors/core/log.hpp"

#include <caf/all.hpp>

namespace ahpd::hub {

namespace {

using flush_atom = caf::atom_constant<caf::atom("flush")>;

void fail_all(store_state& st, const std::string& why) {
  for (auto& promise : st.waiting)
    promise.deliver(core::refusal(jsonrpc::internal_error, why));
  st.waiting.clear();
}

} // namespace

caf::behavior store_actor(caf::stateful_actor<store_state>* self,
                          std::shared_ptr<config::store> database, core::metrics* count) {
  self->set_exit_handler([self, database, count](caf::exit_msg& msg) {
    if (!self->state.waiting.empty()) {
      database->commit();
      ++count->commits_total;
      for (auto& promise : self->state.waiting)
        promise.deliver(caf::unit);
      self->state.waiting.clear();
    }
    self->quit(std::move(msg.reason));
  });
  return {
    [self, database](const store_job& job) {
      auto& st = self->state;
      auto promise = self->make_response_promise();
      try {
        if (st.waiting.empty()) {
          database->begin();
          // Runs behind everything that is in the mailbox now: all of it shares one commit.
          self->send(self, flush_atom::value);
        }
        database->nested([&] { (*job.run)(*database); });
        st.waiting.push_back(promise);
      } catch (const std::exception& e) {
        core::log::error("store job failed", {{"why", e.what()}});
        promise.deliver(core::refusal(jsonrpc::internal_error, e.what()));
        if (st.waiting.empty())
          database->rollback();
      }
    },
    [self, database, count](flush_atom) {
      auto& st = self->state;
      if (st.waiting.empty())
        return;
      try {
        database->commit();
        ++count->commits_total;
      } catch (const std::exception& e) {
        database->rollback();
        fail_all(st, e.what());
        core::log::error("the store cannot commit", {{"why", e.what()}});
        return self->quit(caf::sec::runtime_error);
      }
      for (auto& promise : st.waiting)
        promise.deliver(caf::unit);
      st.waiting.clear();
    },
  };
}

} // namespace ahpd::hub
