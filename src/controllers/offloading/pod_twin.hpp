// One twin namespace that holds pods of a virtual node.
// Tested by test/unit/controllers/offloading/hidden_twin_test.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "controllers/common/counters.hpp"
#include "controllers/links/twin_watches.hpp"

namespace liqo::controllers {

/// One twin namespace of a virtual node. Each virtual node of a provider has its own PodTwin for the same namespace.
struct PodTwin {
  std::string remote;
  bool withdrawn = false;  ///< nothing is sent to it any more; it is watched until its pods are gone
  std::shared_ptr<TwinWatch> watch;
  ReflectionCounters counters;

  bool has_synced() const { return watch->has_synced(); }
  /// Looks up an object; nothing if the twin's watch rests, because it has no caches then.
  std::optional<kube::Object> find(kube::InformerHandle TwinWatch::* which, const kube::ObjectKey& key) const {
    const kube::InformerHandle& cache = (*watch).*which;
    return cache ? cache->find(key) : std::nullopt;
  }
  bool contains(kube::InformerHandle TwinWatch::* which, const kube::ObjectKey& key) const {
    const kube::InformerHandle& cache = (*watch).*which;
    return cache && cache->store().contains(key);
  }
};

}  // namespace liqo::controllers
