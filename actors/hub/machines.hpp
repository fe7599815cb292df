#pragma once

#include "actors/core/owner.hpp"
#include "actors/hub/machine.hpp"
#include "actors/hub/progress.hpp"
#include "actors/hub/services.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ahpd::hub {

/// Where a session's programs run in a machine. Answered with `machine_place`, or refused in the
/// words of seed "A session in one" when there is no such machine, and with -32009 when it was
/// prepared for other agents.
struct enter_machine {
  std::string id;
  std::string directory;     ///< on this host; mapped through the machine's mounts
  std::string provider = {}; ///< the agent that is to run there; empty: none
  std::string inside = {};   ///< where no mount covers `directory`; empty: the machine's own folder
};
struct machine_place {
  std::shared_ptr<runtimes::place> place;
  std::string directory; ///< inside, absolute
};

/// Kills what still runs in a machine with this marker, as soon as the machine can be asked. No
/// answer.
struct sweep_machine {
  std::string id;
  std::string marker;
};

/// A read, list or resolve of `computer://…` (seed "A computer", the table). Each is answered with
/// its wire result, `json::shared`.
struct read_computer {
  std::string uri;
};
struct list_computer {
  std::string uri;
};
struct resolve_computer {
  std::string uri;
};

/// A write to `computer://<name>` or `computer://<name>/state`; answered with `unit`.
struct write_computer {
  std::string uri;
  std::string body;
  std::string owner; ///< typed reference, spec "Owners": root:<host name>
  progress_sink progress;
};
struct delete_computer {
  std::string uri;
};

/// Rows of the session setting `computer` for a picker; answered with an array, `json::shared`.
struct pick_computer {
  std::string query;
  std::string provider; ///< empty: of any agent
};

struct machines_state {
  static inline const char* name = "machines";

  struct known_machine {
    caf::actor actor;
    std::size_t verbs = 0; ///< that it was asked for and did not answer yet
  };

  services_ptr host;
  std::shared_ptr<core::channel> doc;            ///< x-ahpd-computers://
  caf::actor queue;                              ///< of the one Docker
  std::map<std::string, known_machine> machines; ///< by id, while a verb is under way
  std::set<std::string> making;     ///< names of machines whose make was not answered yet
  std::set<std::string> looking;    ///< ids whose record is being read
  std::set<std::string> look_again; ///< of those, which changed meanwhile
  bool listing = false;             ///< all records are being read
  std::set<std::string> looked;     ///< ids whose record was read since that began
  std::vector<std::function<void()>> after_listing; ///< who waits for the next one
  std::multimap<std::string, std::string> to_sweep; ///< machine id -> marker, until it was done

  machines_state() = default;
  machines_state(const machines_state&) = delete;
  machines_state& operator=(const machines_state&) = delete;
  ~machines_state(); ///< ends the queue and the machines' actors
};

/// Knows all machines: owns the channel x-ahpd-computers://, serves the scheme computer:, and
/// passes verbs to one actor a machine and makes to one queue a Docker.
caf::behavior machines_actor(caf::stateful_actor<machines_state>* self, services_ptr host);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::enter_machine)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::machine_place)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::sweep_machine)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::read_computer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::list_computer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::resolve_computer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::write_computer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::delete_computer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::pick_computer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::json::shared)
