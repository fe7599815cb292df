#pragma once

#include "actors/hub/pool_work.hpp"
#include "protocol/json.hpp"
#include "runtimes/host/files.hpp"
#include "runtimes/host/watch.hpp"

#include <string>
#include <string_view>

/// The scheme file: as functions from the params of a method to its answer. They block.
namespace ahpd::hub {

pool_answer read_file(const runtimes::served_folders& in, const json::object& params);
pool_answer write_file(const runtimes::served_folders& in, const json::object& params);
pool_answer list_folder(const runtimes::served_folders& in, const json::object& params);
pool_answer resolve_file(const runtimes::served_folders& in, const json::object& params);
pool_answer copy_file(const runtimes::served_folders& in, const json::object& params);
pool_answer move_file(const runtimes::served_folders& in, const json::object& params);
pool_answer make_folder(const runtimes::served_folders& in, const json::object& params);
pool_answer delete_file(const runtimes::served_folders& in, const json::object& params);

/// Whether this host mediates a file: every file of the served folders may be read and written, by
/// every client it lets in, and no other file is.
pool_answer request_file(const runtimes::served_folders& in, const json::object& params);

/// The params of `createResourceWatch`.
std::variant<runtimes::watch_request, jsonrpc::error> read_watch(const json::object& params);

/// What a refusal is on the wire. A file outside of the served folders is named in
/// `data.request` (AHP "Resource family"), as what the request needs: to `write` it, or to read it.
jsonrpc::error wire_error(const runtimes::file_refusal& why, bool write);

} // namespace ahpd::hub
