// What each consumer has in its tenant namespace: how many objects it asks by, and which classes it was granted.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/admission/offered_classes.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::webhook {

/// Follows the caches of ResourceSlices, NamespaceMaps and Renews and keeps names alone, so that no review reads the
/// objects. Caches are behind what is being stored, so what was admitted counts until they show it, and for
/// `admission_counts` at most. One thread.
class TenantHoldings {
 public:
  /// An API server stores what was admitted within this time, or never.
  static constexpr kube::Duration admission_counts = std::chrono::seconds(10);

  explicit TenantHoldings(kube::InformerSet& home);

  /// Whether all that is stored is known; a kind that the server does not have is.
  bool is_known() const;
  /// How many replicas of consumers a namespace has or is about to have, without the one of that name.
  std::size_t others_than(const kube::Resource& kind, const kube::ObjectKey& key);
  /// Takes in that one more is about to be stored. Only an API server knows that.
  void admit(const kube::Resource& kind, const kube::ObjectKey& key);
  /// The classes that the slices of the consumer with that tenant namespace were granted.
  core::admission::OfferedClasses offered_classes(std::string_view tenant_namespace) const;

 private:
  /// The replicas of one kind by namespace.
  struct Kind {
    kube::InformerHandle informer;
    std::map<std::string, std::set<std::string>, std::less<>> stored;
    std::map<std::string, std::map<std::string, kube::TimePoint>, std::less<>> admitted;
    kube::TimePoint swept{};  ///< when what was never stored was last taken out of `admitted`
  };
  Kind& kind_of(const kube::Resource& resource);
  static void take(Kind& kind, const kube::Change& change);
  void take_classes(const kube::Change& slice);

  kube::async::Clock& clock_;
  /// By slice.
  std::map<std::string, std::map<std::string, core::admission::OfferedClasses>, std::less<>> classes_;
  Kind slices_, maps_, renews_;
};

}  // namespace liqo::webhook
