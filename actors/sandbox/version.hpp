#pragma once

namespace ahpd::sandbox {

/// The commit that this program was built from, abbreviated; "unknown" outside a checkout.
extern const char* const commit;

} // namespace ahpd::sandbox
