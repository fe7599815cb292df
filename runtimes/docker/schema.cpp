#include "runtimes/docker/manifest.hpp"

#include <algorithm>

namespace ahpd::runtimes {

namespace {

json::object text_field(std::string_view title) {
  return {{"type", "string"}, {"title", title}};
}

/// The default image, and every allowed one where the list names images only; else empty.
json::array image_choices(const computer_options& options) {
  json::array out;
  const auto one = [](const docker::image_scope& scope) { return scope.one_image(); };
  if (options.images.empty() || !std::all_of(options.images.begin(), options.images.end(), one))
    return out;
  std::string error;
  const auto standard = docker::read_image(options.image, error);
  out.emplace_back(options.image);
  for (const auto& scope : options.images)
    if (scope.text() != standard->identity())
      out.emplace_back(scope.text());
  return out;
}

} // namespace

json::object create_schema(const computer_options& options) {
  json::object properties;
  auto runtime = text_field("Runtime");
  runtime["enum"] = json::array{"docker"};
  runtime["default"] = "docker";
  runtime["readOnly"] = true;
  properties["runtime"] = std::move(runtime);

  auto image = text_field("Image");
  image["default"] = options.image;
  if (auto choices = image_choices(options); !choices.empty())
    image["enum"] = std::move(choices);
  properties["image"] = std::move(image);

  properties["cpus"] = text_field("CPUs");
  properties["memory"] = text_field("Memory");
  if (options.body_mounts)
    properties["mounts"] = json::object{
      {"type", "array"}, {"title", "Mounts"}, {"items", json::object{{"type", "string"}}}};
  properties["workdir"] = text_field("Working directory");
  if (options.body_mounts)
    properties["folder"] = text_field("Folder");
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

json::object capabilities(const computer_options& options) {
  json::object limits;
  if (options.cpus)
    limits["cpus"] = options.cpus->text;
  if (options.memory)
    limits["memory"] = options.memory->text;
  json::object out;
  out["runtime"] = "docker";
  out["actions"] = json::array{"create", "start", "stop", "restart", "exec", "delete"};
  out["resources"] = json::array{"state", "stats", "status", "capabilities"};
  out["defaultImage"] = options.image;
  out["limits"] = std::move(limits);
  out["max"] = options.max;
  out["manifest"] = create_schema(options);
  return out;
}

} // namespace ahpd::runtimes
