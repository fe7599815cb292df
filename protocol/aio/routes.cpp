#include "protocol/aio/routes.hpp"

#include "protocol/percent.hpp"

#include <optional>

namespace ahpd::aio {

namespace {

/// The values of a path that has the form of a route's; nothing when it has not.
std::optional<path_values> match(std::string_view form, std::string_view path) {
  path_values out;
  while (!form.empty() && !path.empty()) {
    const auto form_part = form.substr(0, form.find('/', 1));
    const auto path_part = path.substr(0, path.find('/', 1));
    if (form_part.starts_with("/{") && form_part.back() == '}') {
      auto value = percent::decode(path_part.substr(1));
      if (!value || value->empty())
        return std::nullopt;
      out.emplace(form_part.substr(2, form_part.size() - 3), std::move(*value));
    } else if (form_part != path_part) {
      return std::nullopt;
    }
    form.remove_prefix(form_part.size());
    path.remove_prefix(path_part.size());
  }
  if (!form.empty() || !path.empty())
    return std::nullopt;
  return out;
}

} // namespace

const std::vector<route>& routes() {
  static const std::vector<route> all = [] {
    std::vector<route> out;
    for (const auto& part : {info_routes, command_routes, bash_routes, file_routes, file_routes_v1})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return all;
}

found_route find_route(std::string_view method, std::string_view target, surface which) {
  found_route out;
  const auto path = target.substr(0, target.find('?'));
  if (which == surface::v2 && (path == "/v1" || path.starts_with("/v1/")))
    return out;
  const auto wanted = method == "HEAD" ? std::string_view("GET") : method;
  for (const auto& each : routes()) {
    auto values = match(each.path, path);
    if (!values)
      continue;
    if (each.method == wanted)
      return {&each, std::move(*values), {}};
    out.methods.push_back(each.method);
  }
  return out;
}

} // namespace ahpd::aio
