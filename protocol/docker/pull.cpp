#include "protocol/docker/pull.hpp"

#include "protocol/json.hpp"

#include <algorithm>

namespace ahpd::docker {

namespace {

/// More than any image has; what comes above it is not counted.
constexpr std::size_t most_layers = 1024;
constexpr std::size_t most_text = 2000;
/// More than any layer has: the sum over all of them stays exact as a JSON number.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 43;

std::uint64_t size_of(const json::value* v) {
  if (!v || !v->is_number())
    return 0;
  json::error_code ec;
  const auto out = v->to_number<std::uint64_t>(ec);
  return ec ? 0 : std::min(out, most_bytes);
}

} // namespace

bool pull_report::take(std::string_view line) {
  std::string unreadable;
  const auto parsed = json::parse_text(line, 16, unreadable);
  if (!parsed)
    return false;
  const auto* detail = json::member(*parsed, "errorDetail");
  auto failed = detail ? json::string_member(*detail, "message") : std::nullopt;
  if (!failed)
    failed = json::string_member(*parsed, "error");
  if (failed) {
    error_ = failed->substr(0, most_text);
    return false;
  }

  const auto status = json::string_member(*parsed, "status").value_or("");
  const auto id = json::string_member(*parsed, "id").value_or("");
  const bool fetching = status == "Downloading";
  const bool known = status == "Pulling fs layer" || status == "Waiting" || fetching ||
                     status == "Verifying Checksum" || status == "Download complete" ||
                     status == "Extracting" || status == "Pull complete" ||
                     status == "Already exists";
  if (!known) { // words about the image: "Pulling from library/debian", "Digest: …"
    message_ = status.substr(0, most_text);
    return true;
  }
  auto found = layers_.find(id);
  if (found == layers_.end()) {
    if (layers_.size() >= most_layers)
      return false;
    found = layers_.emplace(std::string(id), layer{}).first;
  }
  auto& part = found->second;
  if (const auto* amount = json::member(*parsed, "progressDetail"); amount && fetching) {
    part.current = std::max(part.current, size_of(json::member(*amount, "current")));
    // A registry may not know the size, or be wrong about it.
    part.total = std::max({part.total, part.current, size_of(json::member(*amount, "total"))});
  } else if (status == "Download complete" || status == "Extracting") {
    part.current = part.total;
  } else if (status == "Pull complete" || status == "Already exists") {
    part.current = part.total;
    part.complete = true;
  }
  sum();
  return true;
}

void pull_report::sum() {
  current_ = 0;
  total_ = 0;
  std::size_t complete = 0;
  for (const auto& [id, part] : layers_) {
    current_ += part.current;
    total_ += part.total;
    complete += part.complete ? 1 : 0;
  }
  message_ = std::to_string(complete) + " of " + std::to_string(layers_.size()) + " layers";
}

} // namespace ahpd::docker
