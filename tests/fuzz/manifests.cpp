// What a client writes to make a machine, and what an operator sets for machines.

#include "tests/fuzz/fuzz.hpp"

#include "runtimes/docker/manifest.hpp"

namespace ahpd::fuzz {

using namespace ahpd::runtimes;

namespace {

void read(const computer_options& options, std::string_view body) {
  const auto there = [](const std::string& path) { return path.size() % 2 == 0; };
  const auto result = read_manifest(options, {"box", "user:ada", there}, body);
  if (const auto* no = std::get_if<refusal>(&result))
    must(!no->sentence.empty(), "a manifest is refused in words");
  else
    must(!std::get<machine_spec>(result).image.empty(), "a machine has an image");
}

} // namespace

void take(std::string_view bytes) {
  check_machine_name(bytes);
  read_cpus(bytes);
  read_memory(bytes);
  read_mount(bytes);
  computer_options options;
  read(options, bytes);
  options.body_mounts = true;
  read(options, bytes);
  // A document of options, then a manifest that is read under them.
  std::string error;
  const auto set = json::parse_text(cut(bytes, '\n'), 32, error);
  if (!set || !set->is_object())
    return;
  const auto chosen = read_computer_options(set->get_object());
  create_schema(chosen.options);
  capabilities(chosen.options);
  read(chosen.options, bytes);
}

} // namespace ahpd::fuzz
