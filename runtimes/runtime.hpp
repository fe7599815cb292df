#pragma once

#include "protocol/json.hpp"
#include "runtimes/exec.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What makes, reaches and removes machines. No AHP and no actors here.
namespace ahpd::runtimes {

/// Why an operation did not happen. The kinds are what a caller can act on.
enum class fault : std::uint8_t {
  not_there, ///< no such machine, or one this host did not make
  taken, ///< the name is in use
  refused, ///< the request itself is wrong
  unsupported, ///< this kind of machine cannot do it
  unreachable, ///< the engine did not answer
  failed, ///< the engine answered with a failure
};

struct refusal {
  fault what = fault::failed;
  std::string sentence; ///< for a person; names the field or the machine
};

template <class T>
using outcome = std::variant<T, refusal>;
struct nothing {};

template <class T>
using done = std::function<void(outcome<T>)>;

/// A machine as its runtime describes it.
struct machine_record {
  std::string id; ///< `<id>` of computer://<id>
  std::string handle; ///< the runtime's own name for it (container id)
  std::string state; ///< running, stopped or suspended; empty where the runtime gives none
  std::map<std::string, std::string> labels;
  std::string image;
  std::string created; ///< ISO 8601 UTC
  json::shared status; ///< the runtime's whole record (docker inspect)
};

struct mount {
  std::string source; ///< absolute, on this host
  std::string target; ///< absolute, in the machine
  bool read_only = false;

  bool operator==(const mount&) const = default;
};

/// What a machine is made from, after its manifest was read.
struct machine_spec {
  std::string name;
  std::string image;
  std::optional<double> cpus;
  std::optional<std::uint64_t> memory; ///< bytes
  std::string workdir; ///< empty: the image's own
  std::vector<mount> mounts;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> env; ///< what the manifest asked for in the container's configuration
};

/// How far a long operation is. `total` 0: not known.
struct progress {
  std::uint64_t current = 0;
  std::uint64_t total = 0;
  std::string message;
};

/// One change the runtime saw. `id` is the machine's; `what` is the runtime's own word ("die").
struct machine_event {
  std::string id;
  std::string what;
};

/// One kind of machine. Callable from an io thread; callbacks come on an io thread, never inside the
/// call, exactly once each. Verbs on a machine this host did not make give `fault::not_there`.
class runtime {
public:
  virtual ~runtime() = default;

  virtual std::string name() const = 0; ///< "docker"

  virtual void list(done<std::vector<machine_record>>) = 0;
  virtual void inspect(std::string id, done<machine_record>) = 0;

  /// Makes and starts a machine; pulls an absent image. A failure leaves nothing behind.
  virtual void create(machine_spec spec, std::function<void(progress)> on_progress,
                      done<machine_record>)
    = 0;
  virtual void start(std::string id, done<nothing>) = 0;
  virtual void stop(std::string id, done<nothing>) = 0;
  virtual void restart(std::string id, done<nothing>) = 0;
  virtual void suspend(std::string id, done<nothing>) = 0;
  virtual void remove(std::string id, done<nothing>) = 0;

  /// Right now: seed "Stats". A stopped machine gives {"running": false}.
  virtual void stats(std::string id, done<json::value>) = 0;

  /// Where programs run in a machine. The machine is looked up when something is started.
  virtual std::shared_ptr<place> inside(std::string id) = 0;

  /// Follows changes made by anyone until the runtime is dropped: `on_event` for each, `on_gap` when
  /// the connection was lost and is up again (events in between were missed; list again), and
  /// `on_lost` with a sentence when it was lost. Reconnects by itself with a back-off.
  virtual void watch(std::function<void(machine_event)> on_event, std::function<void()> on_gap,
                     std::function<void(std::string)> on_lost)
    = 0;
};

} // namespace ahpd::runtimes
