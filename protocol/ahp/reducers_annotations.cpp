#include "protocol/ahp/reducing.hpp"

namespace ahpd::ahp::reducing {

namespace {

using json::object;
using json::value;

/// The annotation that an action names.
object* named(object& s, const value& a) {
  const auto id = text(a, "annotationId");
  auto* found = id ? find_by(s.if_contains("annotations"), "id", *id) : nullptr;
  return found ? found->if_object() : nullptr;
}

bool updated(object& s, const value& a) {
  auto* annotation = named(s, a);
  if (!annotation)
    return false;
  bool changed = false;
  for (const auto* key : {"origin", "resource", "range", "resolved"})
    changed |= put_given(*annotation, a, key);
  return changed;
}

bool entry_set(object& s, const value& a) {
  auto* annotation = named(s, a);
  return annotation && upsert(*annotation, "entries", "id", json::member(a, "entry"));
}

bool entry_removed(object& s, const value& a) {
  auto* annotation = named(s, a);
  return annotation && remove(*annotation, "entries", "id", text(a, "entryId"));
}

} // namespace

const steps& annotations_steps() {
  static const steps all{
    {"annotations/set",
     [](object& s, const value& a) {
       return upsert(s, "annotations", "id", json::member(a, "annotation"));
     }},
    {"annotations/updated", updated},
    {"annotations/removed",
     [](object& s, const value& a) {
       return remove(s, "annotations", "id", text(a, "annotationId"));
     }},
    {"annotations/entrySet", entry_set},
    {"annotations/entryRemoved", entry_removed},
  };
  return all;
}

} // namespace ahpd::ahp::reducing
