#include "actors/hub/machines.hpp"

#include "actors/core/errors.hpp"
#include "actors/core/log.hpp"
#include "actors/core/run_here.hpp"
#include "actors/hub/computer_scheme.hpp"
#include "actors/hub/machine_watch.hpp"
#include "actors/hub/store_actor.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/uris.hpp"

#include <caf/all.hpp>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<machines_state>*;
using pass_atom = caf::atom_constant<caf::atom("pass")>;
using runtimes::machine_record;

/// The safety net under the events (seed "The channel and its commands").
constexpr std::chrono::seconds pass_every{300};

/// A verb waits for the engine: its own grace of ten seconds and some.
constexpr std::chrono::seconds verb_limit{120};

/// Pulling a large image on a slow line.
constexpr std::chrono::seconds make_limit{3'600};

runtimes::runtime& docker_of(self_ptr self) {
  return *self->state.host->computers->docker;
}

/// The machine's actor, which lives as long as verbs wait for it.
caf::actor machine(self_ptr self, const std::string& id) {
  auto& st = self->state;
  auto& known = st.machines[id];
  if (!known.actor) {
    known.actor = self->system().spawn(machine_actor, st.host->computers->docker, id);
    self->monitor(known.actor);
  }
  ++known.verbs;
  return known.actor;
}

void verb_over(self_ptr self, const std::string& id, const caf::actor& actor) {
  auto& st = self->state;
  const auto known = st.machines.find(id);
  if (known == st.machines.end() || known->second.actor != actor || --known->second.verbs > 0)
    return;
  self->demonitor(actor.address());
  self->send_exit(actor, caf::exit_reason::user_shutdown);
  st.machines.erase(known);
}

void do_to(self_ptr self, const std::string& id, machine_verb verb, caf::response_promise promise) {
  if (const auto why = other_runtime(id))
    return promise.deliver(*why);
  const auto actor = machine(self, id);
  self->request(actor, verb_limit, do_verb{verb})
    .then(
      [self, id, actor, promise]() mutable {
        promise.deliver(caf::unit);
        look(self, id);
        verb_over(self, id, actor);
      },
      [self, id, actor, promise](caf::error& why) mutable {
        promise.deliver(std::move(why));
        look(self, id);
        verb_over(self, id, actor);
      });
}

void make(self_ptr self, const std::string& name, const write_computer& what,
          caf::response_promise promise) {
  auto& st = self->state;
  auto read = runtimes::read_manifest(st.host->computers->options,
                                      {name, what.owner, runtimes::path_is_there}, what.body);
  if (const auto* why = std::get_if<runtimes::refusal>(&read))
    return promise.deliver(wire_refusal(*why));
  auto spec = std::get<runtimes::machine_spec>(std::move(read));
  st.making.insert(name);
  const auto over = [self, name] {
    self->state.making.erase(name);
    look(self, name);
  };
  const auto failed = [promise, over](caf::error& why) mutable {
    promise.deliver(std::move(why));
    over();
  };
  self->request(st.queue, make_limit, make_machine{std::move(spec), progress_to(what.progress)})
    .then(
      [self, name, owner = what.owner, promise, over, failed](const made_machine& made) mutable {
        json::value kept{{"owner", owner}, {"container", made.record.handle}};
        self
          ->request(self->state.host->store->get(), caf::infinite,
                    make_store_job([name, kept](config::store& db) { db.put_machine(name, kept); }))
          .then(
            [promise, over]() mutable {
              promise.deliver(caf::unit);
              over();
            },
            failed);
      },
      failed);
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

json::shared share(json::value v) {
  return std::make_shared<const json::value>(std::move(v));
}

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
  const auto uri = ahp::parse_computer_uri(what.uri);
  if (!uri)
    return promise.deliver(no_computer_uri(what.uri));
  if (!uri->leaf.empty())
    return promise.deliver(no_resource(what.uri));
  if (!uri->name.empty())
    return with_record(
      self, uri->name, promise, no_resource(what.uri),
      [promise](const machine_record&) mutable { promise.deliver(share(machine_entries())); });
  look_at_all(self, [self, promise]() mutable {
    promise.deliver(share(root_entries(self->state.doc->state.at("records").get_array())));
  });
}

void resolve(self_ptr self, const resolve_computer& what, caf::response_promise promise) {
  const auto uri = ahp::parse_computer_uri(what.uri);
  if (!uri)
    return promise.deliver(no_computer_uri(what.uri));
  if (!uri->leaf.empty() && !is_leaf(uri->leaf))
    return promise.deliver(no_resource(what.uri));
  if (uri->name.empty())
    return promise.deliver(share(resolved(what.uri, "directory", "1970-01-01T00:00:00.000Z", {})));
  with_record(
    self, uri->name, promise, no_resource(what.uri),
    [self, what, uri = *uri, promise](const machine_record& record) mutable {
      if (uri.leaf.empty())
        return promise.deliver(share(resolved(what.uri, "directory", record.created, {})));
      // The size is that of the body a read gives now.
      self->request(caf::actor_cast<caf::actor>(self), verb_limit, read_computer{what.uri})
        .then(
          [what, created = record.created, promise](const json::shared& body) mutable {
            promise.deliver(
              share(resolved(what.uri, "file", created, body->at("data").get_string().size())));
          },
          [promise](caf::error& why) mutable { promise.deliver(std::move(why)); });
    });
}

void enter(self_ptr self, const enter_machine& what, caf::response_promise promise) {
  with_record(
    self, what.id, promise, core::refusal(ahp::not_found, "There is no computer called " + what.id),
    [self, what, promise](const machine_record& record) mutable {
      if (!takes_agent(*record.status, what.provider))
        return promise.deliver(core::refusal(
          ahp::permission_denied, "computer://" + what.id + " was prepared for " +
                                    prepared_for(*record.status) + ", and this session runs " +
                                    what.provider + "; make a machine prepared for " +
                                    what.provider + " or run this session on the host"));
      promise.deliver(machine_place{docker_of(self).inside(what.id),
                                    mapped_directory(*record.status, what.directory, what.inside)});
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
  for (auto& [id, known] : machines)
    caf::anon_send_exit(known.actor, caf::exit_reason::user_shutdown);
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
    core::log::error("actor crashed", {{"actor", "docker queue or machine"},
                                       {"reason", self->system().render(msg.reason)}});
    if (msg.source == now.queue.address()) {
      now.queue = self->system().spawn(docker_queue_actor, now.host->computers->docker);
      self->monitor(now.queue);
      return;
    }
    for (auto i = now.machines.begin(); i != now.machines.end(); ++i)
      if (i->second.actor.address() == msg.source) {
        now.machines.erase(i); // the next verb spawns another
        return;
      }
  });
  watch(self);
  self->send(self, pass_atom::value);
  const auto promised = [self](auto work) {
    auto promise = self->make_response_promise();
    work(promise);
    return promise;
  };
  return {
    core::take_run_here(),
    [](const core::are_you_up&) { return caf::unit; },
    [self](pass_atom) {
      look_at_all(self, [] {});
      self->delayed_send(self, pass_every, pass_atom::value);
    },
    [self](const core::follow& f) { return self->state.host->order->follow(*self->state.doc, f); },
    [self](const core::unfollow& u) {
      self->state.host->order->unfollow(*self->state.doc, *u.box);
    },
    [self](const core::client_action& a) {
      self->state.host->order->refuse(*a.action, a.origin,
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
          return p.deliver(
            core::refusal(jsonrpc::invalid_params,
                          w.uri + " is not a computer to destroy; delete computer://<name>"));
        do_to(self, uri->name, machine_verb::remove, p);
      });
    },
    [=](const pick_computer& w) {
      return promised([&](caf::response_promise p) {
        look_at_all(self, [self, w, p]() mutable {
          p.deliver(share(
            picker_rows(self->state.doc->state.at("records").get_array(), w.query, w.provider)));
        });
      });
    },
  };
}

} // namespace ahpd::hub
