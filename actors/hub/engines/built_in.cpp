#include "actors/hub/engines/built_in.hpp"

namespace ahpd::hub {

std::vector<engine> built_in_engines() {
  return {shell_engine()};
}

} // namespace ahpd::hub
