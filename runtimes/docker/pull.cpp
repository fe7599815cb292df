#include "protocol/docker/pull.hpp"
#include "protocol/docker/auth.hpp"
#include "protocol/docker/image.hpp"
#include "runtimes/docker/line_stream.hpp"
#include "runtimes/docker/machines.hpp"

#include <fstream>
#include <iterator>

namespace asio = boost::asio;

namespace ahpd::runtimes {

namespace {

constexpr std::size_t most_configuration = 1u << 20;

/// The text of Docker's configuration file, or nothing when there is none.
std::optional<std::string> configuration(const std::map<std::string, std::string>& env) {
  const auto value = [&](const char* name) {
    const auto found = env.find(name);
    return found == env.end() ? std::string() : found->second;
  };
  auto folder = value("DOCKER_CONFIG");
  if (folder.empty() && !value("HOME").empty())
    folder = value("HOME") + "/.docker";
  std::ifstream file(folder + "/config.json", std::ios::binary);
  if (folder.empty() || !file)
    return std::nullopt;
  std::string text;
  text.resize(most_configuration);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

refusal not_pulled(const std::string& image, const std::string& why) {
  return {fault::failed, "The image " + image + " could not be pulled: " + why};
}

} // namespace

asio::awaitable<std::optional<refusal>> pull_image(docker_engine& from,
                                                   const std::map<std::string, std::string>& env,
                                                   std::string image,
                                                   std::function<void(progress)> on_progress) {
  std::string error;
  const auto name = docker::read_image(image, error);
  if (!name)
    co_return not_pulled(image, error);
  docker::sign_in as;
  if (const auto text = configuration(env))
    as = docker::find_sign_in(*text, name->registry);
  if (!as.refused.empty())
    co_return not_pulled(image, as.refused);

  engine_request what;
  what.method = "POST";
  what.path = "/images/create?fromImage=" + docker::escape_query(name->repository()) +
              "&tag=" + docker::escape_query(name->digest.empty() ? name->tag : name->digest);
  what.sign_in = as.header;
  line_stream lines(from, what);
  docker::pull_report report;
  while (true) {
    const auto some = co_await lines.next();
    if (!some)
      break;
    bool changed = false;
    for (const auto& line : *some)
      changed = report.take(line) || changed;
    if (changed && on_progress)
      on_progress({report.current(), report.total(), report.message()});
  }
  if (lines.refused() && lines.refused()->status == 0)
    co_return from.unreachable(lines.refused()->body);
  if (lines.refused())
    co_return not_pulled(image,
                         docker::refusal_text(lines.refused()->status, lines.refused()->body));
  if (!lines.broken().empty())
    co_return from.unreachable(lines.broken());
  if (!report.error().empty())
    co_return not_pulled(image, report.error());
  co_return std::nullopt;
}

} // namespace ahpd::runtimes
