#include "controllers/offloading/pods_without_room.hpp"

#include "controllers/common/scopes.hpp"
#include "core/offloading/capacity.hpp"

namespace liqo::controllers {
namespace {

/// How long a provider that had no room counts as full after the last waiting pod is gone: that pod's owner replaces
/// it in a moment, and the replacement is to go elsewhere.
constexpr kube::Duration full_time = std::chrono::seconds(10);

}  // namespace

PodsWithoutRoom::PodsWithoutRoom(OffloadingNode& node)
    : node_(node), nodes_(node.context.home.acquire(scope_of_virtual_nodes())) {
  nodes_.subscribe([this](const kube::ObjectKey& changed) {
    if (changed.name == node_.forging.node_name) see_node();
  });
  see_node();
}

void PodsWithoutRoom::add(const kube::Object& local) {
  const kube::ObjectKey key = local.key();
  Waiting waiting{.demand = core::scheduled_demand(local)};
  waiting.fits = core::why_too_large(waiting.demand, allocatable_).empty();
  const bool fits = waiting.fits;
  const auto [at, is_new] = waiting_.try_emplace(key);
  const bool fitted = std::exchange(at->second, std::move(waiting)).fits;
  if (!is_new && fitted == fits) return;
  if (fitted) --closing_;
  if (fits) ++closing_;
  // If the node is closed already, set_closed() does not enqueue the pod.
  if (closed_ || !fits) node_.enqueue(key);
  notify_change();
}

void PodsWithoutRoom::remove(const kube::ObjectKey& key) {
  const auto gone = waiting_.extract(key);
  if (gone.empty()) return;
  // The successor of a pod that never fits is not scheduled here, even if the node is open.
  if (gone.mapped().fits && --closing_ == 0) full_until_ = node_.context.clock.now() + full_time;
  notify_change();
}

void PodsWithoutRoom::see_taken() {
  if (std::exchange(full_until_, {}) > node_.context.clock.now()) notify_change();
}

void PodsWithoutRoom::see_node() {
  const auto node = nodes_->find({"", node_.forging.node_name});
  auto read = node ? core::read_resources(kube::object_at(node->status(), {"allocatable"}))
                   : kube::Result<core::Resources>(core::Resources());
  core::Resources now = read ? std::move(*read) : core::Resources();
  if (now == allocatable_) return;
  allocatable_ = std::move(now);
  const std::size_t before = closing_;
  for (auto& [key, waiting] : waiting_) {
    const bool fits = core::why_too_large(waiting.demand, allocatable_).empty();
    if (std::exchange(waiting.fits, fits) == fits) continue;
    if (fits)
      ++closing_;
    else
      --closing_;
    node_.enqueue(key);
  }
  if (closing_ != before) notify_change();
}

std::string PodsWithoutRoom::why_too_large(const kube::ObjectKey& key) const {
  const auto waiting = waiting_.find(key);
  if (waiting == waiting_.end() || waiting->second.fits) return {};
  return core::why_too_large(waiting->second.demand, allocatable_);
}

void PodsWithoutRoom::set_closed(bool closed, bool is_reported) {
  // A provider that reports when it closes also reports when it opens.
  if (is_reported) full_until_ = {};
  const bool same = std::exchange(closed_, closed) == closed;
  if (std::exchange(closed_is_reported_, is_reported) == is_reported && same) return;
  for (const auto& [key, waiting] : waiting_) node_.enqueue(key);
}

}  // namespace liqo::controllers
