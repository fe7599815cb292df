#pragma once

/// Error codes of the Agent Host Protocol (AHP "Errors") beside those of JSON-RPC.
namespace ahpd::ahp {

inline constexpr int session_not_found = -32001;
inline constexpr int provider_not_found = -32002;
inline constexpr int session_already_exists = -32003;
inline constexpr int turn_in_progress = -32004;
inline constexpr int unsupported_protocol_version = -32005;
inline constexpr int auth_required = -32007;
inline constexpr int not_found = -32008;
inline constexpr int permission_denied = -32009;
inline constexpr int already_exists = -32010;
inline constexpr int conflict = -32011;

} // namespace ahpd::ahp
