// Deletion on the fake API server: preconditions, grace periods, finalizers, propagation.
#include "kube/testing/fake/api_server.hpp"
#include "semantics.hpp"

namespace kube::testing {

namespace {

void add_finalizer(json::object& object, std::string_view finalizer) {
  json::array& finalizers = ensure_array(ensure_object(object, "metadata"), "finalizers");
  for (const json::value& have : finalizers)
    if (have.is_string() && have.get_string() == finalizer) return;
  finalizers.emplace_back(finalizer);
}

}  // namespace

Answer<Tree> FakeApiServer::remove(FakeTable& table, const ObjectKey& key, const DeleteOptions& options,
                                   std::string_view actor) {
  const FakeKind& kind = table.kind;
  const auto found = table.objects.find(key);
  if (found == table.objects.end()) return refuse::not_found(kind.group, kind.plural, key.name);
  const Tree before = found->second;
  const std::string_view uid = string_at(*before, {"metadata", "uid"});
  if (!options.uid.empty() && options.uid != uid)
    return refuse::conflict(
        kind.group, kind.plural, key.name,
        "Precondition failed: UID in precondition: " + options.uid + ", UID in object meta: " + std::string(uid));
  const std::string_view version = string_at(*before, {"metadata", "resourceVersion"});
  if (!options.resource_version.empty() && options.resource_version != version)
    return refuse::conflict(kind.group, kind.plural, key.name,
                            "Precondition failed: ResourceVersion in precondition: " + options.resource_version +
                                ", ResourceVersion in object meta: " + std::string(version));

  const bool is_pod = is_core(kind, "pods");
  const std::int64_t period = is_pod ? pod_grace_period(*before, options.grace_period_seconds.value_or(0),
                                                        options.grace_period_seconds.has_value())
                                     : 0;
  json::object next = *before;
  json::object& metadata = next["metadata"].as_object();
  if (options.propagation == Propagation::foreground) add_finalizer(next, "foregroundDeletion");
  if (options.propagation == Propagation::orphan) add_finalizer(next, "orphan");

  if (!is_deleting(*before)) {
    metadata["deletionTimestamp"] = format_time(store_.clock().wall() + std::chrono::seconds(period));
    metadata["deletionGracePeriodSeconds"] = period;
    if (const std::int64_t generation = int_at(next, {"metadata", "generation"}); generation > 0)
      metadata["generation"] = generation + 1;
  } else {
    // A deletion that is under way can only be hastened.
    const std::int64_t pending = int_at(*before, {"metadata", "deletionGracePeriodSeconds"});
    const bool hastens = is_pod && (options.grace_period_seconds.has_value() || period == 0) && period < pending;
    if (hastens) {
      auto due = parse_time(string_at(*before, {"metadata", "deletionTimestamp"}));
      const WallTime base = due ? *due : store_.clock().wall();
      metadata["deletionTimestamp"] = format_time(base - std::chrono::seconds(pending - period));
      metadata["deletionGracePeriodSeconds"] = period;
    }
  }
  if (options.dry_run) return before;
  const bool at_once = int_at(next, {"metadata", "deletionGracePeriodSeconds"}) == 0;
  if (at_once && array_at(next, {"metadata", "finalizers"}).empty()) {
    const bool was_deleting = is_deleting(*before);
    if (was_deleting) found->second = std::make_shared<const json::object>(std::move(next));
    return store_.erase(table, key, actor);
  }
  if (next == *before) return before;
  return store_.put(table, std::move(next), actor);
}

}  // namespace kube::testing
