// Sums what the twins of each consumer hold, and decides what their ResourceQuotas let them hold.
// Tested by test/unit/controllers/namespaces/namespace_map_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "controllers/common/context.hpp"
#include "core/namespaces/twin_plan.hpp"
#include "core/namespaces/twin_quota.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::controllers {

/// Reads ResourceQuotas and Quotas from caches. The caches and the handlers outlive it. One thread.
class HeldInTwins {
 public:
  struct Caches {
    kube::InformerHandle& namespaces;  ///< with the index core::tenants_by_cluster
    kube::InformerHandle& bounds;      ///< the ResourceQuotas of twins
    kube::InformerHandle& grants;      ///< the Quotas of consumers
  };
  /// Called after a change. Neither may suspend.
  struct Handlers {
    /// The bounds in the ResourceQuota of a twin have changed, or whether they are counted.
    std::function<void(const std::string& twin)> twin_changed;
    /// The bounds of a consumer's twins together have changed; the argument is its tenant namespace.
    std::function<void(const std::string& tenant_namespace)> bounds_changed;
  };

  HeldInTwins(Caches caches, Handlers handlers) : caches_(caches), handlers_(std::move(handlers)) {}

  /// Takes in the ResourceQuota with this key, as the cache has it.
  void see_bounds(const kube::ObjectKey& quota);
  /// Takes in all Quotas of the tenant namespace in which this one has changed.
  void see_grant(const kube::ObjectKey& quota);
  /// The bounds that the ResourceQuota of a twin should have; `existing`: null if there is none.
  core::Resources hard(const core::TwinContext& ctx, const kube::Object* existing);

 private:
  /// The state of one ResourceQuota.
  struct Bounded {
    std::string consumer;
    core::Resources used;
    std::string state;  ///< its bounds, and whether they are counted; "" = there is none
  };
  /// The sum of what the twins of a consumer hold, and the resources of which they get no more.
  struct Held {
    core::Resources total;
    std::set<std::string> spent;
  };
  /// Reports when the twins of a consumer together reach a bound, and when they no longer do.
  void see_held(const std::string& consumer);
  core::TwinBounds bounds_of(const std::string& tenant_namespace) const;

  Caches caches_;
  Handlers handlers_;
  std::unordered_map<kube::ObjectKey, Bounded> bounded_;
  std::map<std::string, Held> held_;          ///< by consumer that holds something
  std::map<std::string, std::int64_t> pods_;  ///< tenant namespace to counted_pods(), if any
};

}  // namespace liqo::controllers
