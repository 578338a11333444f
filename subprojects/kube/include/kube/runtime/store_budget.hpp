// How much the stores of one peer may hold together, whoever reads them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kube/telemetry/metrics.hpp"

namespace kube {

/// What all stores of one peer hold, and may hold. One thread.
class StoreUse {
 public:
  struct Limits {
    std::size_t bytes;    ///< of JSON text
    std::size_t objects;  ///< stored
  };
  /// Shows as the gauges `kube_store_budget_*` of that cluster.
  StoreUse(Limits limits, Metrics& metrics, const std::string& cluster);

  void change(std::ptrdiff_t bytes, std::ptrdiff_t objects);
  bool fits() const { return bytes_ <= limits_.bytes && objects_ <= limits_.objects; }
  const Limits& limits() const { return limits_; }

 private:
  Limits limits_;
  std::size_t bytes_ = 0, objects_ = 0;
  Gauge held_bytes_, held_objects_, max_bytes_, max_objects_;
};

/// The share that the informers of one set have in a StoreUse. If growth in this set takes the StoreUse over its
/// bounds, no informer of the set reads any more: the owner of the set is notified once, and drops it. What is held
/// goes over the bounds by one object at most. One thread.
class StoreBudget {
 public:
  StoreBudget(std::shared_ptr<StoreUse> use, std::function<void()> on_exceeded)
      : use_(std::move(use)), on_exceeded_(std::move(on_exceeded)) {}

  /// The store of that resource and namespace has changed by so much.
  void change(std::ptrdiff_t bytes, std::ptrdiff_t objects, std::string_view resource, std::string_view ns);
  bool is_exceeded() const { return !exceeded_by_.empty(); }
  /// The store whose growth was too much, e.g. "configmaps of shop-rome"; "" = none.
  const std::string& exceeded_by() const { return exceeded_by_; }
  const StoreUse::Limits& limits() const { return use_->limits(); }

 private:
  std::shared_ptr<StoreUse> use_;
  std::function<void()> on_exceeded_;
  std::string exceeded_by_;
};

}  // namespace kube
