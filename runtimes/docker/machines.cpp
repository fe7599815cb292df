#include "runtimes/docker/machines.hpp"

#include "protocol/docker/bodies.hpp"
#include "protocol/docker/image.hpp"
#include "protocol/docker/stats.hpp"
#include "runtimes/docker/manifest.hpp"

namespace asio = boost::asio;

namespace ahpd::runtimes {

namespace {

constexpr const char* host_label = "ahpd.host";
/// The engine's own grace between SIGTERM and SIGKILL, and what it takes beside it.
constexpr std::chrono::seconds slow{60};

refusal no_machine(const std::string& id) {
  return {fault::not_there, "There is no computer called " + id + " on this host"};
}

/// What the engine's answer to a verb on an existing container means.
refusal verb_refusal(const std::string& id, const transport::http_response& said) {
  return said.status == 404 ? no_machine(id) : refused_with(fault::failed, said);
}

std::optional<json::value> read_json(const transport::http_response& said) {
  std::string error;
  return json::parse_text(said.body, 64, error);
}

} // namespace

docker_machines::docker_machines(std::shared_ptr<docker_engine> engine, docker_options options)
    : engine_(std::move(engine)), options_(std::move(options)) {
  const auto equals = options_.label.find('=');
  label_key_ = options_.label.substr(0, equals);
  label_value_ = equals == std::string::npos ? "" : options_.label.substr(equals + 1);
}

/// With the label, and not another host's: two daemons may share one Docker. A container without a
/// host, such as one that a person started with the label, is anybody's.
bool docker_machines::ours(const docker::container& it) const {
  const auto label = it.labels.find(label_key_);
  const auto host = it.labels.find(host_label);
  return label != it.labels.end() && label->second == label_value_ &&
         (host == it.labels.end() || host->second == options_.host_id);
}

asio::awaitable<outcome<found_machine>> docker_machines::read(std::string name_or_id) {
  engine_request what;
  what.path = "/containers/" + name_or_id + "/json";
  auto said = co_await engine_->ask(std::move(what));
  if (auto* no = std::get_if<refusal>(&said))
    co_return *no;
  const auto& response = std::get<transport::http_response>(said);
  if (!fine(response))
    co_return refused_with(response.status == 404 ? fault::not_there : fault::failed, response);
  auto status = read_json(response);
  auto facts = status ? docker::read_container(*status) : std::nullopt;
  if (!facts)
    co_return refusal{fault::failed, "Docker's record of " + name_or_id + " cannot be read"};
  found_machine out;
  out.record.id = facts->name;
  out.record.handle = facts->id;
  out.record.state = facts->running ? "running" : "stopped";
  out.record.labels = facts->labels;
  out.record.image = facts->image;
  out.record.created = facts->created;
  out.record.status = std::make_shared<const json::value>(std::move(*status));
  out.facts = std::move(*facts);
  co_return out;
}

asio::awaitable<outcome<found_machine>> docker_machines::find(std::string id) {
  if (check_machine_name(id)) // also keeps anything else out of the request's path
    co_return no_machine(id);
  auto found = co_await read(id);
  if (auto* no = std::get_if<refusal>(&found); no && no->what == fault::not_there)
    co_return no_machine(id);
  // The engine also answers to the start of a container's id, which names no machine.
  if (auto* it = std::get_if<found_machine>(&found);
      it && (it->facts.name != id || !ours(it->facts)))
    co_return no_machine(id);
  co_return found;
}

asio::awaitable<outcome<std::vector<machine_record>>> docker_machines::list() {
  engine_request what;
  what.path = "/containers/json?all=1&filters=" + docker::filters({{"label", {options_.label}}});
  const auto said = co_await engine_->ask(std::move(what));
  if (const auto* no = std::get_if<refusal>(&said))
    co_return *no;
  const auto& response = std::get<transport::http_response>(said);
  if (!fine(response))
    co_return refused_with(fault::failed, response);
  const auto rows = read_json(response);
  if (!rows || !rows->is_array())
    co_return refusal{fault::failed, "Docker's list of containers cannot be read"};
  std::vector<machine_record> out;
  for (const auto& row : rows->get_array()) {
    const auto id = json::string_member(row, "Id");
    if (!id)
      continue;
    auto found = co_await read(std::string(*id));
    if (auto* no = std::get_if<refusal>(&found)) {
      if (no->what == fault::not_there) // it went between the two questions
        continue;
      co_return *no;
    }
    auto& it = std::get<found_machine>(found);
    if (ours(it.facts))
      out.push_back(std::move(it.record));
  }
  co_return out;
}

asio::awaitable<std::optional<refusal>> docker_machines::check_free(std::string name) {
  if (auto no = check_machine_name(name))
    co_return *no;
  const auto found = co_await read(name);
  if (const auto* no = std::get_if<refusal>(&found)) {
    if (no->what == fault::not_there)
      co_return std::nullopt;
    co_return *no;
  }
  const auto& it = std::get<found_machine>(found);
  if (it.facts.name != name) // the start of a container's id
    co_return std::nullopt;
  co_return refusal{
    fault::taken, ours(it.facts)
                    ? name + " is already a computer; destroy it or choose another name"
                    : name + " is the name of a container this host did not make; choose another"};
}

asio::awaitable<std::optional<refusal>>
docker_machines::have_image(std::string image, std::function<void(progress)> on_progress) {
  std::string error;
  if (!docker::read_image(image, error)) // also keeps anything else out of the request's path
    co_return refusal{fault::refused, "image is the name of an image: " + error};
  engine_request what;
  what.path = "/images/" + image + "/json";
  const auto said = co_await engine_->ask(std::move(what));
  if (const auto* no = std::get_if<refusal>(&said))
    co_return *no;
  const auto& response = std::get<transport::http_response>(said);
  if (fine(response))
    co_return std::nullopt;
  if (response.status != 404)
    co_return refused_with(fault::failed, response);
  co_return co_await pull_image(*engine_, options_.env, std::move(image), std::move(on_progress));
}

asio::awaitable<outcome<machine_record>>
docker_machines::create(machine_spec spec, std::function<void(progress)> on_progress) {
  if (auto no = co_await check_free(spec.name))
    co_return *no;
  if (auto no = co_await have_image(spec.image, std::move(on_progress)))
    co_return *no;

  docker::container_shape shape;
  shape.image = spec.image;
  shape.labels = spec.labels;
  shape.labels[label_key_] = label_value_;
  shape.labels[host_label] = options_.host_id;
  shape.env = spec.env;
  for (const auto& m : spec.mounts)
    shape.mounts.push_back({m.source, m.target, m.read_only});
  shape.workdir = spec.workdir;
  shape.cpus = spec.cpus;
  shape.memory = spec.memory;
  engine_request make;
  make.method = "POST";
  make.path = "/containers/create?name=" + docker::escape_query(spec.name);
  make.body = docker::container_body(shape);
  make.limit = slow;
  const auto made = co_await engine_->ask(std::move(make));
  if (const auto* no = std::get_if<refusal>(&made)) {
    co_await discard_unanswered(spec.name);
    co_return *no;
  }
  const auto& answered = std::get<transport::http_response>(made);
  if (!fine(answered))
    co_return refused_with(answered.status == 409 ? fault::taken : fault::failed, answered);
  const auto body = read_json(answered);
  const std::string id(body ? json::string_member(*body, "Id").value_or("") : "");
  if (id.empty())
    co_return refusal{fault::failed, "Docker made " + spec.name + " and did not name its id"};

  engine_request start;
  start.method = "POST";
  start.path = "/containers/" + id + "/start";
  start.limit = slow;
  const auto started = co_await engine_->ask(std::move(start));
  std::optional<refusal> failed;
  if (const auto* no = std::get_if<refusal>(&started))
    failed = *no;
  else if (const auto& said = std::get<transport::http_response>(started); !fine(said))
    failed = refused_with(fault::failed, said);
  if (failed) {
    if (const auto left = co_await discard(id))
      failed->sentence += "; and what was made of it could not be removed: " + left->sentence;
    co_return *failed;
  }
  auto found = co_await read(id);
  if (auto* no = std::get_if<refusal>(&found))
    co_return *no;
  co_return std::move(std::get<found_machine>(found).record);
}

asio::awaitable<std::optional<refusal>> docker_machines::discard(std::string id) {
  engine_request what;
  what.method = "DELETE";
  what.path = "/containers/" + id + "?force=1&v=1";
  what.limit = slow;
  const auto said = co_await engine_->ask(std::move(what));
  if (const auto* no = std::get_if<refusal>(&said))
    co_return *no;
  const auto& response = std::get<transport::http_response>(said);
  if (fine(response) || response.status == 404)
    co_return std::nullopt;
  co_return refused_with(fault::failed, response);
}

/// The engine may have made a container and its answer was lost. The name was free before.
asio::awaitable<void> docker_machines::discard_unanswered(std::string name) {
  const auto found = co_await find(std::move(name));
  if (const auto* it = std::get_if<found_machine>(&found); it && !it->facts.running)
    co_await discard(it->facts.id);
}

asio::awaitable<outcome<nothing>> docker_machines::change(std::string id, std::string verb) {
  const auto found = co_await find(id);
  if (const auto* no = std::get_if<refusal>(&found))
    co_return *no;
  engine_request what;
  what.method = "POST";
  what.path = "/containers/" + std::get<found_machine>(found).facts.id + "/" + verb;
  what.limit = slow;
  const auto said = co_await engine_->ask(std::move(what));
  if (const auto* no = std::get_if<refusal>(&said))
    co_return *no;
  const auto& response = std::get<transport::http_response>(said);
  if (fine(response) || response.status == 304) // 304: it already is so
    co_return nothing{};
  co_return verb_refusal(id, response);
}

asio::awaitable<outcome<nothing>> docker_machines::remove(std::string id) {
  const auto found = co_await find(id);
  if (const auto* no = std::get_if<refusal>(&found))
    co_return *no;
  if (auto no = co_await discard(std::get<found_machine>(found).facts.id))
    co_return *no;
  co_return nothing{};
}

asio::awaitable<outcome<json::value>> docker_machines::stats(std::string id) {
  const auto found = co_await find(id);
  if (const auto* no = std::get_if<refusal>(&found))
    co_return *no;
  const auto& facts = std::get<found_machine>(found).facts;
  const json::object stopped{{"running", false}};
  if (!facts.running)
    co_return stopped;
  engine_request what;
  what.path = "/containers/" + facts.id + "/stats?stream=false";
  const auto said = co_await engine_->ask(std::move(what));
  if (const auto* no = std::get_if<refusal>(&said))
    co_return *no;
  const auto& response = std::get<transport::http_response>(said);
  if (!fine(response))
    co_return verb_refusal(id, response);
  const auto figures = read_json(response);
  if (auto used = figures ? docker::usage(*figures, facts.cores) : std::nullopt)
    co_return std::move(*used);
  // The engine answers with nothing in it for a container that has just stopped.
  const auto now = co_await find(id);
  if (const auto* no = std::get_if<refusal>(&now))
    co_return *no;
  if (!std::get<found_machine>(now).facts.running)
    co_return stopped;
  co_return refusal{fault::failed, "Docker's statistics of " + id + " cannot be read"};
}

} // namespace ahpd::runtimes
