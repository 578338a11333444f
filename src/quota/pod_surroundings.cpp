#include "quota/pod_surroundings.hpp"

#include <utility>

#include "liqo/api/kinds.hpp"

namespace liqo::quota {
namespace {

/// The ledger reads no status of a LimitRange, so the cache does not keep it.
void keep_spec(kube::json::object& tree) { tree.erase("status"); }

}  // namespace

PodSurroundings::PodSurroundings(kube::InformerSet& home)
    : limit_ranges_(home.acquire({.resource = api::kinds::limit_ranges, .prune = keep_spec})),
      runtime_classes_(home.acquire({.resource = api::kinds::runtime_classes})) {}

void PodSurroundings::subscribe(std::function<void(const std::string&)> of_namespace,
                                std::function<void(const std::string&)> of_runtime_class) {
  limit_ranges_.subscribe([told = std::move(of_namespace)](const kube::ObjectKey& key) { told(key.ns); });
  runtime_classes_.subscribe([told = std::move(of_runtime_class)](const kube::ObjectKey& key) { told(key.name); });
}

core::PodAdditions PodSurroundings::of(std::string_view ns, const kube::json::object& pod_spec) const {
  core::PodAdditions found;
  for (const kube::Object& limit_range : limit_ranges_->objects_in(ns))
    if (auto defaults = core::limit_range_defaults(limit_range.spec())) found.limit_ranges.push_back(*defaults);
  const std::string_view name = kube::string_at(pod_spec, {"runtimeClassName"});
  if (name.empty()) return found;
  if (const auto runtime_class = runtime_classes_->find({"", std::string(name)}))
    if (auto overhead = core::read_resources(kube::object_at(runtime_class->tree(), {"overhead", "podFixed"}));
        overhead && !overhead->empty())
      found.overhead = std::move(*overhead);
  return found;
}

}  // namespace liqo::quota
