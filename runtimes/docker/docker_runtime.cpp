#include "runtimes/docker/docker_runtime.hpp"

#include "runtimes/docker/inside.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

namespace asio = boost::asio;

namespace ahpd::runtimes {

namespace {

class docker_runtime final : public runtime {
public:
  docker_runtime(asio::io_context& io, docker_options options)
      : engine_(std::make_shared<docker_engine>(io, find_engine(options.env))),
        machines_(std::make_shared<docker_machines>(engine_, options)),
        events_(std::make_shared<event_follower>(engine_, options.label)),
        room_(std::make_shared<machine_room>(machines_, events_)), host_(options.host_id) {}

  ~docker_runtime() override { engine_->close(); }

  std::string name() const override { return "docker"; }

  void list(done<std::vector<machine_record>> answer) override {
    run([machines = machines_] { return machines->list(); }, std::move(answer));
  }

  void inspect(std::string id, done<machine_record> answer) override {
    run([machines = machines_, id = std::move(id)] { return inspected(machines, id); },
        std::move(answer));
  }

  void create(machine_spec spec, std::function<void(progress)> on_progress,
              done<machine_record> answer) override {
    run([machines = machines_, spec = std::move(spec),
         on_progress = std::move(on_progress)] { return machines->create(spec, on_progress); },
        std::move(answer));
  }

  void start(std::string id, done<nothing> answer) override {
    change(std::move(id), "start", std::move(answer));
  }
  void stop(std::string id, done<nothing> answer) override {
    change(std::move(id), "stop", std::move(answer));
  }
  void restart(std::string id, done<nothing> answer) override {
    change(std::move(id), "restart", std::move(answer));
  }

  void suspend(std::string id, done<nothing> answer) override {
    run([machines = machines_, id = std::move(id)] { return suspended(machines, id); },
        std::move(answer));
  }

  void remove(std::string id, done<nothing> answer) override {
    run([machines = machines_, id = std::move(id)] { return machines->remove(id); },
        std::move(answer));
  }

  void stats(std::string id, done<json::value> answer) override {
    run([machines = machines_, id = std::move(id)] { return machines->stats(id); },
        std::move(answer));
  }

  std::shared_ptr<place> inside(std::string id) override {
    return make_inside(room_, std::move(id));
  }

  void watch(std::function<void(machine_event)> on_event, std::function<void()> on_gap,
             std::function<void(std::string)> on_lost) override {
    follow_events heard;
    heard.on_event = [host = host_, on_event = std::move(on_event)](const docker::event& what) {
      const auto of = what.attributes.find("ahpd.host");
      const bool ours = of == what.attributes.end() || of->second == host;
      if (!ours || what.action == "exec_die")
        return;
      on_event({what.name, what.action});
      // A machine under its new name is another machine, and the one of the old name is gone.
      if (const auto old = what.attributes.find("oldName"); old != what.attributes.end())
        on_event({old->second.substr(old->second.starts_with('/') ? 1 : 0), what.action});
    };
    heard.on_gap = std::move(on_gap);
    heard.on_lost = std::move(on_lost);
    asio::post(engine_->strand(), [events = events_, heard = std::move(heard)]() mutable {
      events->add(std::move(heard));
    });
  }

private:
  static asio::awaitable<outcome<machine_record>>
  inspected(std::shared_ptr<docker_machines> machines, std::string id) {
    auto found = co_await machines->find(std::move(id));
    if (auto* no = std::get_if<refusal>(&found))
      co_return std::move(*no);
    co_return std::move(std::get<found_machine>(found).record);
  }

  static asio::awaitable<outcome<nothing>> suspended(std::shared_ptr<docker_machines> machines,
                                                     std::string id) {
    const auto found = co_await machines->find(id);
    if (const auto* no = std::get_if<refusal>(&found))
      co_return *no;
    co_return refusal{
      fault::unsupported,
      id + " is a Docker container, which is running or stopped and cannot be suspended"};
  }

  void change(std::string id, const char* verb, done<nothing> answer) {
    run([machines = machines_, id = std::move(id), verb] { return machines->change(id, verb); },
        std::move(answer));
  }

  /// Runs one operation on the strand and hands over what it came to, once.
  template <class Start, class T> void run(Start start, done<T> answer) {
    const auto strand = engine_->strand();
    // The machines live as long as the operation does.
    asio::post(strand, [strand, machines = machines_, start = std::move(start),
                        answer = std::move(answer)]() mutable {
      asio::co_spawn(
        strand, std::move(start),
        [machines, answer = std::move(answer)](std::exception_ptr thrown, outcome<T> result) {
          if (thrown)
            result = refusal{fault::failed, words(thrown)};
          answer(std::move(result));
        });
    });
  }

  static std::string words(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
      return std::string("Docker could not be asked: ") + e.what();
    }
  }

  const std::shared_ptr<docker_engine> engine_;
  const std::shared_ptr<docker_machines> machines_;
  const std::shared_ptr<event_follower> events_;
  const std::shared_ptr<machine_room> room_;
  const std::string host_;
};

} // namespace

std::shared_ptr<runtime> make_docker_runtime(asio::io_context& io, docker_options options) {
  return std::make_shared<docker_runtime>(io, std::move(options));
}

} // namespace ahpd::runtimes
