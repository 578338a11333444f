#include "installation/planned_changes.hpp"

#include "installation/chart_objects.hpp"
#include "liqo/api/kinds.hpp"

namespace liqoctl {
namespace {

using model::ObjectChange;

/// The change of one object; no value if it would stay as it is.
asio::awaitable<Result<std::optional<ObjectChange>>> plan_change(Cluster& cluster, kube::Resource kind, Object wanted) {
  ObjectChange change{.object = std::string(kind.kind) + " " + wanted.key().text()};
  KUBE_CO_TRY(there, co_await cluster.find(kind, wanted.key()));
  if (!there) co_return change;
  if (kind == liqo::api::kinds::custom_resource_definitions) {
    KUBE_CO_TRY(narrows, co_await would_narrow(cluster, wanted));
    if (narrows) co_return std::nullopt;
  }
  KUBE_CO_TRY(after, co_await cluster.api().patch(kind, wanted.key(), {kube::PatchType::apply, wanted.text(), true},
                                                  {.field_manager = field_manager, .dry_run = true}));
  change.kind = ObjectChange::Kind::changed;
  change.fields = model::differences(*there, after);
  if (change.fields.empty()) co_return std::nullopt;
  co_return change;
}

}  // namespace

asio::awaitable<Result<std::vector<ObjectChange>>> plan_changes(Cluster& cluster,
                                                                const std::vector<kube::json::value>& manifests,
                                                                bool only_these) {
  std::vector<ObjectChange> changes;
  cluster.output().doing(cluster.scope(), "comparing");
  for (const kube::json::value& manifest : manifests) {
    KUBE_CO_TRY(kind, resource_of(manifest));
    KUBE_CO_TRY(change, co_await plan_change(cluster, kind, Object(manifest.as_object())));
    if (change) changes.push_back(std::move(*change));
  }
  if (only_these) co_return changes;
  KUBE_CO_TRY(others, co_await find_all_but(cluster, places_of(manifests)));
  for (const ChartObject& one : others)
    changes.push_back({.kind = ObjectChange::Kind::removed,
                       .object = std::string(one.kind.kind) + " " + one.key.text(),
                       .fields = {}});
  co_return changes;
}

}  // namespace liqoctl
