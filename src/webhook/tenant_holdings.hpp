// Follows what each consumer has in its tenant namespace: the number of its requests (slices, maps, Renews), and the
// classes that it was granted.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/admission/offered_classes.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::webhook {

/// Follows the caches of ResourceSlices, NamespaceMaps and Renews, and keeps only names, so that no review has to parse
/// the objects. Caches lag behind, so an admitted object counts until they show it, but at most for `admission_counts`.
/// One thread.
class TenantHoldings {
 public:
  /// An API server stores an admitted object within this time, or never.
  static constexpr kube::Duration admission_counts = std::chrono::seconds(10);

  explicit TenantHoldings(kube::InformerSet& home);

  /// Whether all stored objects are known. A kind that the server does not have counts as known.
  bool is_known() const;
  /// The number of replicas of consumers that a namespace has or is about to have, without the one of that name.
  std::size_t others_than(const kube::Resource& kind, const kube::ObjectKey& key);
  /// Notes that one more is about to be stored. Call this only if an API server asks.
  void admit(const kube::Resource& kind, const kube::ObjectKey& key);
  /// The classes that the slices of the consumer with that tenant namespace were granted.
  core::admission::OfferedClasses offered_classes(std::string_view tenant_namespace) const;

 private:
  /// The replicas of one kind by namespace.
  struct Kind {
    kube::InformerHandle informer;
    std::map<std::string, std::set<std::string>, std::less<>> stored;
    std::map<std::string, std::map<std::string, kube::TimePoint>, std::less<>> admitted;
    kube::TimePoint swept{};  ///< when objects that were never stored were last removed from `admitted`
  };
  Kind& kind_of(const kube::Resource& resource);
  static void take(Kind& kind, const kube::Change& change);
  void take_classes(const kube::Change& slice);

  kube::async::Clock& clock_;
  /// The granted classes by tenant namespace and slice.
  std::map<std::string, std::map<std::string, core::admission::OfferedClasses>, std::less<>> classes_;
  Kind slices_, maps_, renews_;
};

}  // namespace liqo::webhook
