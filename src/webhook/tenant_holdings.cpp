#include "webhook/tenant_holdings.hpp"

#include <algorithm>

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::webhook {
namespace {

namespace kinds = api::kinds;

bool is_replica(const kube::Object* object) { return object && object->label(api::labels::replicated) == "true"; }

/// Removes an entry of a namespace, and the namespace with its last one.
template <class Namespaces>
void erase(Namespaces& namespaces, const kube::ObjectKey& key) {
  const auto found = namespaces.find(key.ns);
  if (found == namespaces.end()) return;
  found->second.erase(key.name);
  if (found->second.empty()) namespaces.erase(found);
}

}  // namespace

TenantHoldings::TenantHoldings(kube::InformerSet& home) : clock_(home.api().clock()) {
  for (const kube::Resource& resource : {kinds::resource_slices, kinds::namespace_maps, kinds::renews}) {
    Kind& kind = kind_of(resource);
    kind.informer = home.acquire({.resource = resource});
    kind.informer.follow([&kind](const kube::Change& change) { take(kind, change); });
  }
  slices_.informer.follow([this](const kube::Change& slice) { take_classes(slice); });
}

bool TenantHoldings::is_known() const {
  return slices_.informer->is_known() && maps_.informer->is_known() && renews_.informer->is_known();
}

TenantHoldings::Kind& TenantHoldings::kind_of(const kube::Resource& resource) {
  if (resource == kinds::resource_slices) return slices_;
  return resource == kinds::namespace_maps ? maps_ : renews_;
}

void TenantHoldings::take(Kind& kind, const kube::Change& change) {
  if (is_replica(change.now))
    kind.stored[change.key.ns].insert(change.key.name);
  else
    erase(kind.stored, change.key);
  // The removal of an earlier object with that name does not affect the one that was admitted.
  if (change.now) erase(kind.admitted, change.key);
}

void TenantHoldings::take_classes(const kube::Change& slice) {
  core::admission::OfferedClasses classes;
  if (is_replica(slice.now)) classes = core::admission::offered_classes(*slice.now);
  if (classes.empty())
    erase(classes_, slice.key);
  else
    classes_[slice.key.ns].insert_or_assign(slice.key.name, std::move(classes));
}

std::size_t TenantHoldings::others_than(const kube::Resource& resource, const kube::ObjectKey& key) {
  Kind& kind = kind_of(resource);
  std::size_t others = 0;
  if (const auto stored = kind.stored.find(key.ns); stored != kind.stored.end())
    others += stored->second.size() - stored->second.count(key.name);
  const auto admitted = kind.admitted.find(key.ns);
  if (admitted == kind.admitted.end()) return others;
  const kube::TimePoint now = clock_.now();
  std::erase_if(admitted->second, [now](const auto& entry) { return entry.second + admission_counts <= now; });
  others += admitted->second.size() - admitted->second.count(key.name);
  if (admitted->second.empty()) kind.admitted.erase(admitted);
  return others;
}

void TenantHoldings::admit(const kube::Resource& resource, const kube::ObjectKey& key) {
  Kind& kind = kind_of(resource);
  const auto stored = kind.stored.find(key.ns);
  if (stored != kind.stored.end() && stored->second.contains(key.name)) return;
  const kube::TimePoint now = clock_.now();
  if (now - kind.swept >= admission_counts) {
    kind.swept = now;
    for (auto& [ns, names] : kind.admitted)
      std::erase_if(names, [now](const auto& one) { return one.second + admission_counts <= now; });
    std::erase_if(kind.admitted, [](const auto& entry) { return entry.second.empty(); });
  }
  kind.admitted[key.ns].insert_or_assign(key.name, now);
}

core::admission::OfferedClasses TenantHoldings::offered_classes(std::string_view tenant_namespace) const {
  core::admission::OfferedClasses all;
  if (const auto found = classes_.find(tenant_namespace); found != classes_.end())
    for (const auto& [slice, classes] : found->second) all.add(classes);
  return all;
}

}  // namespace liqo::webhook
