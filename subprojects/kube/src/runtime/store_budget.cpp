#include "kube/runtime/store_budget.hpp"

namespace kube {

StoreUse::StoreUse(Limits limits, Metrics& metrics, const std::string& cluster) : limits_(limits) {
  const Labels labels{{"cluster", cluster}};
  held_bytes_ = metrics.gauge("kube_store_budget_bytes", "Bytes of JSON held of a peer with a budget.", labels);
  held_objects_ = metrics.gauge("kube_store_budget_objects", "Objects held of a peer with a budget.", labels);
  metrics.gauge("kube_store_budget_bytes_limit", "Bytes of JSON that may be held of it.", labels)
      .set(double(limits.bytes));
  metrics.gauge("kube_store_budget_objects_limit", "Objects that may be held of it.", labels)
      .set(double(limits.objects));
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
