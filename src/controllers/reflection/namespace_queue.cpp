#include "controllers/reflection/namespace_queue.hpp"

#include <algorithm>

namespace liqo::controllers {

void NamespaceQueue::add(std::string name) const {
  kube::Duration pause = name.empty() ? kube::Duration::zero() : kube::Duration(context_.kind.pace.settle);
  pause = std::max(pause, rests_for(name));
  if (pause > kube::Duration::zero())
    add_after(std::move(name), pause);
  else
    controller_.enqueue({ns_, {ns_, std::move(name)}});
}

void NamespaceQueue::add_after(std::string name, kube::Duration pause) const {
  controller_.enqueue_after({ns_, {ns_, std::move(name)}}, pause);
}

void NamespaceQueue::add_copy(std::string_view remote_name) const {
  if (std::string local = context_.kind.local_name(remote_name, context_.forging); !local.empty())
    add(std::move(local));
}

kube::Duration NamespaceQueue::rests_for(const std::string& name) const {
  const auto looked_at = looked_at_.find(name);
  if (looked_at == looked_at_.end()) return kube::Duration::zero();
  return looked_at->second + context_.kind.pace.interval - context_.clock.now();
}

void NamespaceQueue::note_look(std::string_view name) {
  if (context_.kind.pace.interval > kube::Duration::zero()) looked_at_[std::string(name)] = context_.clock.now();
}

}  // namespace liqo::controllers
