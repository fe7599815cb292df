#pragma once

#include <string>
#include <string_view>

namespace ahpd::config {

/// Whether `text` is a UUID in its usual form, in either case.
bool is_uuid(std::string_view text);

/// The UUID in `<directory>/host-id`, which is made on the first call and never replaced: machines
/// are found by it. Throws std::runtime_error with a sentence for a file that cannot be read or
/// holds anything else.
std::string host_id(const std::string& directory);

} // namespace ahpd::config
