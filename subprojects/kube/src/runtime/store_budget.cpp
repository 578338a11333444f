#include "kube/runtime/store_budget.hpp"

#include "kube/telemetry/families.hpp"

namespace kube {

StoreUse::StoreUse(Limits limits, Metrics& metrics, const std::string& cluster) : limits_(limits) {
  const Labels labels{{"cluster", cluster}};
  held_bytes_ = metrics.gauge(families::budget_bytes, labels);
  held_objects_ = metrics.gauge(families::budget_objects, labels);
  max_bytes_ = metrics.gauge(families::budget_max_bytes, labels);
  max_bytes_.set(double(limits.bytes));
  max_objects_ = metrics.gauge(families::budget_max_objects, labels);
  max_objects_.set(double(limits.objects));
}

void StoreUse::change(std::ptrdiff_t bytes, std::ptrdiff_t objects) {
  bytes_ += std::size_t(bytes);  // unsigned: what is taken back wraps to what is left
  objects_ += std::size_t(objects);
  held_bytes_.set(double(bytes_));
  held_objects_.set(double(objects_));
}

void StoreBudget::change(std::ptrdiff_t bytes, std::ptrdiff_t objects, std::string_view resource, std::string_view ns) {
  use_->change(bytes, objects);
  if (is_exceeded() || use_->fits() || (bytes <= 0 && objects <= 0)) return;
  exceeded_by_ = std::string(resource).append(" of ").append(ns);
  if (on_exceeded_) on_exceeded_();
}

}  // namespace kube
