// How many objects the twins of each consumer hold, as Kubernetes counts them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kube/runtime/informer_set.hpp"

namespace liqo::webhook {

/// Adds up, change by change, what the ResourceQuotas of twins say to be in use. One thread.
class TwinHoldings {
 public:
  explicit TwinHoldings(kube::InformerSet& home);

  bool has_synced() const { return quotas_->has_synced(); }
  /// How many objects the twins of that consumer hold together; 0 for one without twins.
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
