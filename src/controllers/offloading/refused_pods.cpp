#include "controllers/offloading/refused_pods.hpp"

#include <algorithm>
#include <utility>

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

/// The shortest time between two orders with the same demand that changes cause.
constexpr kube::Duration ask_pause = std::chrono::milliseconds(500);
/// The number of waiting resizes that are tried when there may be room again.
constexpr std::size_t max_resizes_asking = 8;

}  // namespace

RefusedPods::RefusedPods(OffloadingNode& node)
    : node_(node),
      virtual_nodes_(node.context.home.acquire({.resource = api::kinds::virtual_nodes})),
      slices_(node.context.home.acquire({.resource = api::kinds::resource_slices})) {
  follow_grants();
}

void RefusedPods::follow_grants() {
  // The label names the slice of a VirtualNode, whatever the VirtualNode itself is called.
  virtual_nodes_.follow([this](const kube::Change& node) {
    if (node.key.name != node_.forging.node_name) return;
    if (node.now)
      slice_names_.insert_or_assign(node.key.ns, node.now->label(api::labels::resource_slice_name));
    else
      slice_names_.erase(node.key.ns);
  });
  virtual_nodes_.subscribe([this](const kube::ObjectKey& key) {
    if (key.name == node_.forging.node_name) ask_again();
  });
  slices_.subscribe([this](const kube::ObjectKey& slice) {
    const auto named = slice_names_.find(slice.ns);
    if (named != slice_names_.end() && named->second == slice.name) ask_again();
  });
}

void RefusedPods::wake(const std::vector<kube::ObjectKey>& pods, kube::Duration delay) {
  for (const kube::ObjectKey& key : pods) {
    if (RememberedPod* known = node_.memory.find(key)) known->refused.ask_again();
    node_.enqueue_after(key, delay);
  }
}

void RefusedPods::refused(const kube::ObjectKey& key, std::string group) {
  wake(orders_.changed(key, group), ask_pause);
  (void)orders_.refused(key, std::move(group));
}

void RefusedPods::set_resize_waits(const kube::ObjectKey& key, bool waits) {
  if (waits)
    resizes_.insert(key);
  else
    resizes_.erase(key);
}

void RefusedPods::ask_again() {
  // Pods that were woken before are ordered after the pause, and so take this change into account as well.
  const kube::TimePoint now = node_.context.clock.now();
  if (now < asking_at_) return;
  asking_at_ = now + ask_pause;
  wake(orders_.asking(), ask_pause);
  // The resizes take turns, because each is a request of its own.
  auto next = resizes_.upper_bound(last_resize_);
  for (std::size_t i = 0; i < std::min(resizes_.size(), max_resizes_asking); ++i, ++next) {
    if (next == resizes_.end()) next = resizes_.begin();
    if (RememberedPod* known = node_.memory.find(*next)) known->refused.ask_resize_again();
    node_.enqueue_after(*next, ask_pause);
    last_resize_ = *next;
  }
}

}  // namespace liqo::controllers
