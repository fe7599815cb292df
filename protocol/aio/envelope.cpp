#include "protocol/aio/envelope.hpp"

namespace ahpd::aio {

namespace {

json::object envelope(bool success, std::string_view message, json::value data, json::value hint) {
  json::object out;
  out["success"] = success;
  out["message"] = message;
  out["data"] = std::move(data);
  out["hint"] = std::move(hint);
  return out;
}

} // namespace

json::object success(json::value data, std::string_view message) {
  return envelope(true, message, std::move(data), nullptr);
}

json::object failure(std::string_view message, json::value data, json::value hint) {
  return envelope(false, message, std::move(data), std::move(hint));
}

json::object invalid(json::array errors) {
  json::object out;
  out["success"] = false;
  out["message"] = "Request data validation failed";
  out["data"] = nullptr;
  out["errors"] = std::move(errors);
  return out;
}

} // namespace ahpd::aio
