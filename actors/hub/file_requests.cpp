#include "actors/hub/file_scheme.hpp"
#include "actors/hub/resource_watch.hpp"
#include "actors/hub/resources.hpp"

namespace ahpd::hub {

namespace {

using file_work = pool_answer (*)(const runtimes::served_folders&, const json::object&);

template <file_work Work> void on_pool(const call& c) {
  answer_from_pool(c, [files = c.self->state.host->files](const json::object& params) {
    return Work(*files, params);
  });
}

void create_watch(const call& c) {
  auto what = read_watch(c.params);
  if (const auto* why = std::get_if<jsonrpc::error>(&what))
    return c.refuse(*why);
  const auto watch = c.self->system().spawn(resource_watch_actor, c.self->state.host,
                                            std::get<runtimes::watch_request>(std::move(what)),
                                            c.params, caf::actor_cast<caf::actor>(c.self));
  c.self->request(watch, caf::infinite, await_watch{})
    .then(
      [c](const watch_begun& how) {
        if (const auto* why = std::get_if<jsonrpc::error>(&how.answer))
          return c.refuse(*why);
        c.answer_text(std::get<std::string>(how.answer));
      },
      [c](const caf::error& why) { c.refuse(why); });
}

} // namespace

const resource_scheme& file_resources() {
  static const resource_scheme scheme{"file",
                                      [](const services& host) { return host.files != nullptr; },
                                      {{"resourceRead", on_pool<read_file>},
                                       {"resourceWrite", on_pool<write_file>},
                                       {"resourceList", on_pool<list_folder>},
                                       {"resourceResolve", on_pool<resolve_file>},
                                       {"resourceCopy", on_pool<copy_file>},
                                       {"resourceMove", on_pool<move_file>},
                                       {"resourceMkdir", on_pool<make_folder>},
                                       {"resourceDelete", on_pool<delete_file>},
                                       {"resourceRequest", on_pool<request_file>},
                                       {"createResourceWatch", create_watch}}};
  return scheme;
}

} // namespace ahpd::hub
