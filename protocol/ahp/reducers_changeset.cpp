#include "protocol/ahp/reducing.hpp"

namespace ahpd::ahp::reducing {

namespace {

using json::object;
using json::value;

/// A status, and the error that only the status "error" keeps.
bool status(object& o, const value& a) {
  if (!text(a, "status"))
    return false;
  const bool changed = put_given(o, a, "status");
  const auto* error = text(a, "status") == "error" ? json::member(a, "error") : nullptr;
  return put(o, "error", error) || changed;
}

bool review(object& s, const value& a) {
  const auto* wanted = array_at(a, "files");
  const auto* reviewed = json::member(a, "reviewed");
  if (!wanted || !reviewed || !reviewed->is_bool())
    return false;
  bool changed = false;
  for (const auto& id : *wanted) {
    auto* file = id.is_string() ? find_by(s.if_contains("files"), "id", id.get_string()) : nullptr;
    if (file)
      changed |= put(file->get_object(), "reviewed", reviewed);
  }
  return changed;
}

bool content(object& s, const value& a) {
  const bool files = put_given(s, a, "files");
  return put_given(s, a, "operations") || files;
}

bool operation_status(object& s, const value& a) {
  const auto id = text(a, "operationId");
  auto* operation = id ? find_by(s.if_contains("operations"), "id", *id) : nullptr;
  return operation && status(operation->get_object(), a);
}

bool cleared(object& s, const value&) {
  auto* files = array_at(s, "files");
  if (!files || files->empty())
    return false;
  files->clear();
  return true;
}

} // namespace

const steps& changeset_steps() {
  static const steps all{
    {"changeset/statusChanged", status},
    {"changeset/fileSet",
     [](object& s, const value& a) { return upsert(s, "files", "id", json::member(a, "file")); }},
    {"changeset/fileRemoved",
     [](object& s, const value& a) { return remove(s, "files", "id", text(a, "fileId")); }},
    {"changeset/filesReviewChanged", review},
    {"changeset/contentChanged", content},
    {"changeset/operationsChanged",
     [](object& s, const value& a) { return put_from(s, a, "operations"); }},
    {"changeset/operationStatusChanged", operation_status},
    {"changeset/cleared", cleared},
  };
  return all;
}

} // namespace ahpd::ahp::reducing
