// What the twins of each consumer hold together, and what their ResourceQuotas let them hold.
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

/// The caches that it reads, and what it calls, outlive it. One thread.
class HeldInTwins {
 public:
  struct Caches {
    kube::InformerHandle& namespaces;  ///< with the index core::tenants_by_cluster
    kube::InformerHandle& bounds;      ///< the ResourceQuotas of twins
    kube::InformerHandle& grants;      ///< the Quotas of consumers
  };
  /// What is called after a change. Neither may suspend.
  struct Handlers {
    /// What the ResourceQuota of a twin bounds, or whether that is counted.
    std::function<void(const std::string& twin)> twin_changed;
    /// What the twins of a consumer may hold, by its tenant namespace.
    std::function<void(const std::string& tenant_namespace)> bounds_changed;
  };

  HeldInTwins(Caches caches, Handlers handlers) : caches_(caches), handlers_(std::move(handlers)) {}

  /// Takes the ResourceQuota under this key, as the cache has it.
  void see_bounds(const kube::ObjectKey& quota);
  /// Takes the Quotas of a tenant namespace, of which that one has changed.
  void see_grant(const kube::ObjectKey& quota);
  /// What the ResourceQuota of a twin is to bound; `existing`: null where it is not there.
  core::Resources hard(const core::TwinContext& ctx, const kube::Object* existing);

 private:
  /// What one ResourceQuota says.
  struct Bounded {
    std::string consumer;
    core::Resources used;
    std::string state;  ///< what it bounds, and whether that is counted; "" = it is not there
  };
  /// What the twins of a consumer hold together, and of which resources they get no more.
  struct Held {
    core::Resources total;
    std::set<std::string> spent;
  };
  /// Tells where a bound of all twins of a consumer together is reached or left.
  void see_held(const std::string& consumer);
  core::TwinBounds bounds_of(const std::string& tenant_namespace) const;

  Caches caches_;
  Handlers handlers_;
  std::unordered_map<kube::ObjectKey, Bounded> bounded_;
  std::map<std::string, Held> held_;          ///< by consumer that holds something
  std::map<std::string, std::int64_t> pods_;  ///< tenant namespace to counted_pods(), if any
};

}  // namespace liqo::controllers
