#include "actors/hub/machines.hpp"

#include "actors/core/errors.hpp"
#include "actors/core/log.hpp"
#include "actors/core/run_here.hpp"
#include "actors/hub/computer_scheme.hpp"
#include "actors/hub/store_actor.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/uris.hpp"

#include <caf/all.hpp>

#include <algorithm>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<machines_state>*;
using pass_atom = caf::atom_constant<caf::atom("pass")>;
using runtimes::machine_record;
namespace build = ahp::build;

/// The safety net under the events (seed "The channel and its commands").
constexpr std::chrono::seconds pass_every{300};

/// A verb waits for the engine: its own grace of ten seconds and some.
constexpr std::chrono::seconds verb_limit{120};

/// Pulling a large image on a slow line.
constexpr std::chrono::seconds make_limit{3'600};

runtimes::runtime& docker_of(self_ptr self) { return *self->state.host->computers->docker; }

json::value shown(const machine_record& r) {
  json::object record;
  if (!r.state.empty())
    record["state"] = r.state;
  record["status"] = *r.status;
  return record;
}

const json::value* listed(const machines_state& st, const std::string& id) {
  for (const auto& row : st.doc->state.at("records").get_array())
    if (json::string_member(row, "id") == id)
      return &row;
  return nullptr;
}

void publish(self_ptr self, json::value action) {
  auto& st = self->state;
  st.host->order->publish(*st.doc, std::move(action));
  ++st.host->metrics.actions_total;
  st.host->metrics.machines
    = static_cast<std::int64_t>(st.doc->state.at("records").get_array().size());
}

void sweep(self_ptr self, const std::string& id);

void show(self_ptr self, const machine_record& r) {
  auto& st = self->state;
  auto record = shown(r);
  const auto* before = listed(st, r.id);
  if (!before)
    publish(self, build::computer_added(r.id, std::move(record)));
  else if (before->at("record") != record)
    publish(self, build::computer_changed(r.id, std::move(record)));
  if (r.state == "running")
    sweep(self, r.id);
}

void show_gone(self_ptr self, const std::string& id) {
  auto& st = self->state;
  if (listed(st, id))
    publish(self, build::computer_removed(id));
  st.to_sweep.erase(id); // nothing runs in a machine that is gone
  if (const auto i = st.machines.find(id); i != st.machines.end()) {
    self->demonitor(i->second.address());
    self->send_exit(i->second, caf::exit_reason::user_shutdown);
    st.machines.erase(i);
  }
}

/// Reads one machine's record again and shows what changed. Changes that come meanwhile are one more
/// reading, not one each.
void look(self_ptr self, const std::string& id) {
  auto& st = self->state;
  if (!st.looking.insert(id).second) {
    st.look_again.insert(id);
    return;
  }
  docker_of(self).inspect(
    id, core::back_to<runtimes::outcome<machine_record>>(self, [self, id](auto outcome) {
      auto& now = self->state;
      now.looking.erase(id);
      if (const auto* record = std::get_if<machine_record>(&outcome))
        show(self, *record);
      else if (std::get<runtimes::refusal>(outcome).what == runtimes::fault::not_there)
        show_gone(self, id);
      if (now.look_again.erase(id))
        look(self, id);
    }));
}

/// Reads all machines. A listing that fails keeps what was listed last.
void look_at_all(self_ptr self) {
  docker_of(self).list(
    core::back_to<runtimes::outcome<std::vector<machine_record>>>(self, [self](auto outcome) {
      auto& st = self->state;
      if (const auto* why = std::get_if<runtimes::refusal>(&outcome)) {
        const auto kept = st.doc->state.at("records").get_array().size();
        return core::log::warning("Could not list the docker machines, so the "
                                    + std::to_string(kept) + " it last listed are kept: "
                                    + why->sentence);
      }
      std::set<std::string> there;
      for (const auto& record : std::get<0>(outcome)) {
        there.insert(record.id);
        show(self, record);
      }
      std::vector<std::string> gone;
      for (const auto& row : st.doc->state.at("records").get_array())
        if (const auto id = std::string(row.at("id").get_string()); !there.count(id))
          gone.push_back(id);
      for (const auto& id : gone)
        show_gone(self, id);
      // Runs to be swept in machines that are gone need no sweep.
      for (auto i = st.to_sweep.begin(); i != st.to_sweep.end();) {
        const auto id = i->first;
        const auto marker = i->second;
        i = there.count(id) ? std::next(i) : st.to_sweep.erase(i);
        if (!there.count(id))
          write_later(self, st.host->store->get(),
                      [marker](config::store& db) { db.remove_run(marker); });
      }
    }));
}

/// Kills what an earlier hub, or a lost agent, left running in a machine that can be asked now.
void sweep(self_ptr self, const std::string& id) {
  auto& st = self->state;
  std::vector<std::string> markers;
  for (auto [i, end] = st.to_sweep.equal_range(id); i != end; ++i)
    markers.push_back(i->second);
  if (markers.empty())
    return;
  st.to_sweep.erase(id);
  const auto again = [self, id](const std::vector<std::string>& left, const std::string& why) {
    core::log::warning("could not sweep a machine", {{"computer", id}, {"why", why}});
    for (const auto& marker : left)
      self->state.to_sweep.emplace(id, marker);
  };
  auto report = core::back_to<std::pair<std::size_t, std::string>>(
    self, [self, id, markers, again](const std::pair<std::size_t, std::string>& got) {
      if (!got.second.empty())
        return again(markers, got.second);
      core::log::info("swept a machine",
                      {{"computer", id}, {"killed", std::to_string(got.first)}});
      write_later(self, self->state.host->store->get(), [markers](config::store& db) {
        for (const auto& marker : markers)
          db.remove_run(marker);
      });
    });
  docker_of(self).inside(id)->sweep(markers, [report](std::size_t killed, std::string why) {
    report({killed, std::move(why)});
  });
}

void watch(self_ptr self) {
  const auto me = caf::actor_cast<caf::actor>(self);
  docker_of(self).watch(
    core::back_to<runtimes::machine_event>(self,
                                           [self](const auto& event) { look(self, event.id); }),
    [me] { caf::anon_send(me, pass_atom::value, false); },
    [](const std::string& why) { core::log::warning("docker events lost", {{"why", why}}); });
}

caf::actor machine(self_ptr self, const std::string& id) {
  auto& st = self->state;
  auto& actor = st.machines[id];
  if (!actor) {
    actor = self->system().spawn(machine_actor, st.host->computers->docker, id);
    self->monitor(actor);
  }
  return actor;
}

void do_to(self_ptr self, const std::string& id, machine_verb verb, caf::response_promise promise) {
  self->request(machine(self, id), verb_limit, do_verb{verb})
    .then(
      [self, id, verb, promise]() mutable {
        if (verb == machine_verb::remove)
          write_later(self, self->state.host->store->get(),
                      [id](config::store& db) { db.remove_machine(id); });
        promise.deliver(caf::unit);
        look(self, id);
      },
      [self, id, promise](caf::error& why) mutable {
        promise.deliver(std::move(why));
        look(self, id);
      });
}

/// `root/progress` to whoever asked. Progress never goes back and ends with `progress == total`.
std::function<void(runtimes::progress)> progress_to(const progress_sink& sink) {
  if (!sink.token || !sink.box)
    return {};
  return [sink, last = std::make_shared<std::uint64_t>(0)](const runtimes::progress& p) {
    *last = std::max(*last, p.current);
    json::object params{{"channel", ahp::root_uri}, {"progressToken", *sink.token},
                        {"progress", *last},        {"message", p.message}};
    if (p.total > 0)
      params["total"] = std::max(p.total, *last);
    sink.box->push(
      std::make_shared<const std::string>(jsonrpc::notification_frame("root/progress", params)));
  };
}

void make(self_ptr self, const std::string& name, const write_computer& what,
          caf::response_promise promise) {
  auto& st = self->state;
  auto read = runtimes::read_manifest(st.host->computers->options,
                                      {name, what.owner, runtimes::path_is_there}, what.body);
  if (const auto* why = std::get_if<runtimes::refusal>(&read))
    return promise.deliver(wire_refusal(*why));
  auto spec = std::get<runtimes::machine_spec>(std::move(read));
  self
    ->request(st.queue, make_limit, make_machine{std::move(spec), progress_to(what.progress)})
    .then(
      [self, name, owner = what.owner, promise](const made_machine& made) mutable {
        json::value kept{{"owner", owner}, {"container", made.record.handle}};
        self
          ->request(self->state.host->store->get(), caf::infinite,
                    make_store_job([name, kept](config::store& db) { db.put_machine(name, kept); }))
          .then(
            [self, name, promise]() mutable {
              promise.deliver(caf::unit);
              look(self, name);
            },
            [promise](caf::error& why) mutable { promise.deliver(std::move(why)); });
      },
      [self, name, promise](caf::error& why) mutable {
        promise.deliver(std::move(why));
        look(self, name);
      });
}

void write(self_ptr self, const write_computer& what, caf::response_promise promise) {
  const auto target = write_target(what.uri);
  if (const auto* why = std::get_if<caf::error>(&target))
    return promise.deliver(*why);
  const auto& uri = std::get<ahp::computer_uri>(target);
  if (uri.leaf.empty())
    return make(self, uri.name, what, promise);
  const auto verb = state_verb(what.body);
  if (!verb)
    return promise.deliver(bad_state_word(what.body));
  do_to(self, uri.name, *verb, promise);
}

/// Reads a record right now, for whoever waits.
void with_record(self_ptr self, const std::string& id, caf::response_promise promise,
                 caf::error absent, std::function<void(const machine_record&)> then) {
  docker_of(self).inspect(
    id, core::back_to<runtimes::outcome<machine_record>>(
          self, [promise, absent, then](auto outcome) mutable {
            if (const auto* record = std::get_if<machine_record>(&outcome))
              return then(*record);
            const auto& why = std::get<runtimes::refusal>(outcome);
            promise.deliver(why.what == runtimes::fault::not_there ? absent : wire_refusal(why));
          }));
}

json::shared share(json::value v) { return std::make_shared<const json::value>(std::move(v)); }

void read(self_ptr self, const read_computer& what, caf::response_promise promise) {
  const auto target = read_target(what.uri);
  if (const auto* why = std::get_if<caf::error>(&target))
    return promise.deliver(*why);
  const auto uri = std::get<ahp::computer_uri>(target);
  with_record(self, uri.name, promise, no_resource(what.uri),
              [self, uri, promise](const machine_record& record) mutable {
                auto& st = self->state;
                if (uri.leaf == "state")
                  return promise.deliver(share(text_resource(record.state + "\n", "text/plain")));
                if (uri.leaf == "status")
                  return promise.deliver(share(json_resource(*record.status)));
                if (uri.leaf == "capabilities")
                  return promise.deliver(
                    share(json_resource(runtimes::capabilities(st.host->computers->options))));
                docker_of(self).stats(
                  uri.name, core::back_to<runtimes::outcome<json::value>>(
                              self, [promise](auto outcome) mutable {
                                if (const auto* why = std::get_if<runtimes::refusal>(&outcome))
                                  return promise.deliver(wire_refusal(*why));
                                promise.deliver(share(json_resource(std::get<0>(outcome))));
                              }));
              });
}

void list(self_ptr self, const list_computer& what, caf::response_promise promise) {
  auto& st = self->state;
  const auto uri = ahp::parse_computer_uri(what.uri);
  if (!uri || !uri->leaf.empty())
    return promise.deliver(no_resource(what.uri));
  if (!uri->name.empty())
    return with_record(self, uri->name, promise, no_resource(what.uri),
                       [promise](const machine_record&) mutable {
                         promise.deliver(share(machine_entries()));
                       });
  json::array entries;
  for (const auto& row : st.doc->state.at("records").get_array())
    entries.push_back({{"name", row.at("id")}, {"type", "directory"}});
  promise.deliver(share({{"entries", std::move(entries)}}));
}

void resolve(self_ptr self, const resolve_computer& what, caf::response_promise promise) {
  const auto uri = ahp::parse_computer_uri(what.uri);
  if (!uri || (!uri->leaf.empty() && !is_leaf(uri->leaf)))
    return promise.deliver(no_resource(what.uri));
  if (uri->name.empty())
    return promise.deliver(share(resolved(what.uri, "directory", "1970-01-01T00:00:00.000Z", {})));
  with_record(self, uri->name, promise, no_resource(what.uri),
              [self, what, uri = *uri, promise](const machine_record& record) mutable {
                if (uri.leaf.empty())
                  return promise.deliver(share(resolved(what.uri, "directory", record.created, {})));
                // The size is that of the body a read gives now.
                self
                  ->request(caf::actor_cast<caf::actor>(self), verb_limit, read_computer{what.uri})
                  .then(
                    [what, created = record.created, promise](const json::shared& body) mutable {
                      promise.deliver(share(resolved(what.uri, "file", created,
                                                     body->at("data").get_string().size())));
                    },
                    [promise](caf::error& why) mutable { promise.deliver(std::move(why)); });
              });
}

void enter(self_ptr self, const enter_machine& what, caf::response_promise promise) {
  with_record(self, what.id, promise,
              core::refusal(ahp::not_found, "There is no computer called " + what.id),
              [self, what, promise](const machine_record& record) mutable {
                promise.deliver(machine_place{docker_of(self).inside(what.id),
                                              mapped_directory(*record.status, what.directory)});
              });
}

/// With the plugin not loaded there is nothing to own; every question gets the words of the seed.
caf::behavior nothing_served() {
  const auto refused = [](const auto&) -> caf::result<json::shared> {
    return core::refusal(jsonrpc::method_not_found, "nothing here serves computer:");
  };
  return {
    [](const core::are_you_up&) { return caf::unit; },
    [=](const read_computer& w) { return refused(w); },
    [=](const list_computer& w) { return refused(w); },
    [=](const resolve_computer& w) { return refused(w); },
    [=](const write_computer& w) { return refused(w); },
    [=](const delete_computer& w) { return refused(w); },
    [](const pick_computer&) {
      return share(json::array{{{"value", ""}, {"label", "This host"}}});
    },
    [](const enter_machine& w) -> caf::result<machine_place> {
      return core::refusal(ahp::not_found, "There is no computer called " + w.id);
    },
    [](const sweep_machine&) {},
  };
}

} // namespace

machines_state::~machines_state() {
  if (queue)
    caf::anon_send_exit(queue, caf::exit_reason::user_shutdown);
  for (auto& [id, actor] : machines)
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

caf::behavior machines_actor(caf::stateful_actor<machines_state>* self, services_ptr host) {
  auto& st = self->state;
  st.host = std::move(host);
  if (!st.host->computers)
    return nothing_served();
  st.doc = st.host->channels.claim(std::string(ahp::computers_uri), ahp::channel_kind::computers,
                                   caf::actor_cast<caf::actor>(self),
                                   json::object{{"records", json::array{}}});
  st.queue = self->system().spawn(docker_queue_actor, st.host->computers->docker);
  self->monitor(st.queue);
  self->set_down_handler([self](caf::down_msg& msg) {
    auto& now = self->state;
    core::log::error("actor crashed",
                     {{"actor", "docker queue or machine"},
                      {"reason", self->system().render(msg.reason)}});
    if (msg.source == now.queue.address()) {
      now.queue = self->system().spawn(docker_queue_actor, now.host->computers->docker);
      self->monitor(now.queue);
      return;
    }
    for (auto i = now.machines.begin(); i != now.machines.end(); ++i)
      if (i->second.address() == msg.source) {
        now.machines.erase(i); // the next verb spawns another
        return;
      }
  });
  watch(self);
  self->send(self, pass_atom::value, true);
  const auto promised = [self](auto work) {
    auto promise = self->make_response_promise();
    work(promise);
    return promise;
  };
  return {
    core::take_run_here(),
    [](const core::are_you_up&) { return caf::unit; },
    [self](pass_atom, bool again) {
      look_at_all(self);
      if (again)
        self->delayed_send(self, pass_every, pass_atom::value, true);
    },
    [self](const core::follow& f) {
      auto shot = self->state.host->order->follow(*self->state.doc, f.box, f.spelling);
      return core::followed{std::move(shot.state), shot.from_seq};
    },
    [self](const core::unfollow& u) { self->state.host->order->unfollow(*self->state.doc, *u.box); },
    [self](const core::client_action& a) {
      self->state.host->order->refuse(*a.sender, a.spelling, *a.action, a.origin,
                                      "this channel takes no actions; use x-ahpd/computers/*");
    },
    [=](const enter_machine& w) { return promised([&](auto p) { enter(self, w, p); }); },
    [self](const sweep_machine& w) {
      self->state.to_sweep.emplace(w.id, w.marker);
      look(self, w.id);
    },
    [=](const read_computer& w) { return promised([&](auto p) { read(self, w, p); }); },
    [=](const list_computer& w) { return promised([&](auto p) { list(self, w, p); }); },
    [=](const resolve_computer& w) { return promised([&](auto p) { resolve(self, w, p); }); },
    [=](const write_computer& w) { return promised([&](auto p) { write(self, w, p); }); },
    [=](const delete_computer& w) {
      return promised([&](caf::response_promise p) {
        const auto uri = ahp::parse_computer_uri(w.uri);
        if (!uri || uri->name.empty() || !uri->leaf.empty())
          return p.deliver(core::refusal(
            jsonrpc::invalid_params,
            w.uri + " is not a computer to destroy; delete computer://<name>"));
        do_to(self, uri->name, machine_verb::remove, p);
      });
    },
    [self](const pick_computer& w) {
      return share(picker_rows(self->state.doc->state.at("records").get_array(), w.query));
    },
  };
}

} // namespace ahpd::hub
