#include "protocol/jsonrpc/message.hpp"

#include <algorithm>
#include <utility>

namespace ahpd::jsonrpc {

namespace {

malformed refuse(json::value id, int code, std::string sentence) {
  return {std::move(id), {code, std::move(sentence), nullptr}};
}

malformed invalid(json::value id, std::string sentence) {
  return refuse(std::move(id), invalid_request, std::move(sentence));
}

bool is_id(const json::value& v) {
  return v.is_number() || (v.is_string() && v.get_string().size() <= max_name_bytes);
}

/// Takes the member `key` out of `o`; null when it is not there.
json::value take(json::object& o, std::string_view key) {
  auto* found = o.if_contains(key);
  return found ? std::move(*found) : json::value();
}

message parse_call(json::object& o) {
  const auto* id = o.if_contains("id");
  json::value known = id && is_id(*id) ? *id : json::value();
  if (id && !is_id(*id))
    return invalid(nullptr, "id must be a number or a string of at most " +
                              std::to_string(max_name_bytes) + " bytes");
  const auto& method = o.at("method");
  if (!method.is_string() || method.get_string().empty() ||
      method.get_string().size() > max_name_bytes)
    return invalid(std::move(known),
                   "method must be a string of 1 to " + std::to_string(max_name_bytes) + " bytes");
  if (o.contains("result") || o.contains("error"))
    return invalid(std::move(known), "a message with a method must have no result and no error");
  auto params = take(o, "params");
  if (params.is_null())
    params.emplace_object();
  if (!params.is_object())
    return invalid(std::move(known), "params must be an object");
  std::string name(method.get_string());
  if (!id)
    return notification{std::move(name), std::move(params.get_object())};
  return request{std::move(known), std::move(name), std::move(params.get_object())};
}

message parse_response(json::object& o) {
  const bool has_result = o.contains("result");
  auto result = take(o, "result");
  auto failure = take(o, "error");
  auto id = take(o, "id");
  if (!has_result && failure.is_null())
    return invalid(nullptr, "a message needs a method, a result or an error");
  if (!result.is_null() && !failure.is_null())
    return invalid(nullptr, "a response must have a result or an error, not both");
  // JSON-RPC lets a peer that could not read our frame answer with a null id, in errors only.
  if (!is_id(id) && !(id.is_null() && !failure.is_null()))
    return invalid(nullptr, "id of a response must be the number or string of its request");
  if (failure.is_null())
    return response{std::move(id), std::move(result)};
  const auto* code = json::member(failure, "code");
  const auto message = json::string_member(failure, "message");
  if (!code || !code->is_int64() || code->get_int64() < INT32_MIN || code->get_int64() > INT32_MAX)
    return invalid(nullptr, "error.code must be a 32-bit integer");
  if (!message)
    return invalid(nullptr, "error.message must be a string");
  error why{static_cast<int>(code->get_int64()), std::string(*message), nullptr};
  if (auto* data = json::member(failure, "data"))
    why.data = std::move(*data);
  return response{std::move(id), std::move(why)};
}

/// `{"jsonrpc":"2.0"` and, where there is one, the id.
std::string opening(const json::value* id) {
  std::string out = R"({"jsonrpc":"2.0")";
  if (id) {
    out += R"(,"id":)";
    append(out, *id);
  }
  return out;
}

std::string call_frame(const json::value* id, std::string_view method, const json::value& params) {
  std::string out = opening(id);
  out += R"(,"method":)";
  append_quoted(out, method);
  out += R"(,"params":)";
  append(out, params);
  out += '}';
  return out;
}

/// Reads all that `from` has into the end of `out`, in steps that grow with the text.
void drain(std::string& out, json::serializer& from) {
  std::size_t room = 256;
  while (!from.done()) {
    const auto size = out.size();
    out.resize(size + room);
    const auto got = from.read(out.data() + size, room);
    out.resize(size + got.size());
    room = std::min<std::size_t>(room * 2, 64u << 10);
  }
}

} // namespace

message parse(std::string_view frame, const limits& bounds) {
  if (frame.size() > bounds.bytes)
    return invalid(nullptr, "the message is " + std::to_string(frame.size()) +
                              " bytes long, and at most " + std::to_string(bounds.bytes) +
                              " are read");
  json::parse_options options;
  options.max_depth = bounds.depth;
  json::error_code ec;
  auto root = json::parse(frame, ec, {}, options);
  if (ec == json::make_error_code(json::error::too_deep))
    return invalid(nullptr,
                   "the message is nested deeper than " + std::to_string(bounds.depth) + " levels");
  if (ec)
    return refuse(nullptr, parse_error, "the message is not JSON in UTF-8: " + ec.message());
  if (root.is_array())
    return invalid(nullptr, "batches are not served: send one message per frame");
  auto* o = root.if_object();
  if (!o)
    return invalid(nullptr, "a message must be a JSON object");
  const bool call = o->contains("method");
  if (json::string_member(root, "jsonrpc") != "2.0") {
    const auto* id = o->if_contains("id");
    return invalid(call && id && is_id(*id) ? *id : json::value(), R"(jsonrpc must be "2.0")");
  }
  return call ? parse_call(*o) : parse_response(*o);
}

void append(std::string& out, const json::value& v) {
  json::serializer from;
  from.reset(&v);
  drain(out, from);
}

void append_quoted(std::string& out, std::string_view text) {
  json::serializer from;
  from.reset(json::string_view(text.data(), text.size()));
  drain(out, from);
}

std::string request_frame(const json::value& id, std::string_view method,
                          const json::value& params) {
  return call_frame(&id, method, params);
}

std::string notification_frame(std::string_view method, const json::value& params) {
  return call_frame(nullptr, method, params);
}

std::string result_frame(const json::value& id, const json::value& result) {
  std::string out = opening(&id);
  out += R"(,"result":)";
  append(out, result);
  out += '}';
  return out;
}

std::string error_frame(const json::value& id, const error& why) {
  std::string out = opening(&id);
  out += R"(,"error":{"code":)" + std::to_string(why.code) + R"(,"message":)";
  append_quoted(out, why.message);
  if (!why.data.is_null()) {
    out += R"(,"data":)";
    append(out, why.data);
  }
  out += "}}";
  return out;
}

} // namespace ahpd::jsonrpc
