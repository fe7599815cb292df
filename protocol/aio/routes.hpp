#pragma once

#include "protocol/aio/route.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::aio {

/// Which paths are served.
enum class surface : std::uint8_t {
  full, ///< v1 and v2
  v2,   ///< all but `/v1/…`
};

/// Every route, in the order of the documents.
const std::vector<route>& routes();

/// The texts that the `{…}` of a path stand for, percent-decoded.
using path_values = std::map<std::string, std::string, std::less<>>;

struct found_route {
  const route* what = nullptr; ///< null: nothing is served there
  path_values values;
  std::vector<std::string_view> methods; ///< that the path has, when it has not this one
};

/// Finds the route of a request. `target` may have a query. HEAD is answered where GET is. A text
/// of a path that is not percent-encoded right names nothing.
found_route find_route(std::string_view method, std::string_view target, surface which);

// The parts of the table.
extern const std::span<const route> info_routes;
extern const std::span<const route> command_routes;
extern const std::span<const route> bash_routes;
extern const std::span<const route> file_routes;
extern const std::span<const route> file_routes_v1;

} // namespace ahpd::aio
