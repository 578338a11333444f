// Sums how many objects the twins of each consumer hold, as Kubernetes counts them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kube/runtime/informer_set.hpp"

namespace liqo::webhook {

/// Sums, change by change, the usage in the ResourceQuotas of twins. One thread.
class TwinHoldings {
 public:
  explicit TwinHoldings(kube::InformerSet& home);

  bool has_synced() const { return quotas_->has_synced(); }
  /// The number of objects in all twins of that consumer; 0 for one without twins.
  std::int64_t objects_of(std::string_view consumer) const;

 private:
  struct Twin {
    std::string consumer;
    std::int64_t objects = 0;
  };
  void take(const kube::Change& quota);

  std::map<std::string, Twin> twins_;                           ///< by the name of the namespace
  std::map<std::string, std::int64_t, std::less<>> consumers_;  ///< objects, by ID
  kube::InformerHandle quotas_;
};

}  // namespace liqo::webhook
