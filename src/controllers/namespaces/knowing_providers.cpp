#include "controllers/namespaces/knowing_providers.hpp"

#include <ranges>
#include <utility>

#include "core/common/home_names.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {

KnowingProviders::KnowingProviders(kube::InformerHandle& virtual_nodes, std::function<void()> changed)
    : changed_(std::move(changed)),
      view_(virtual_nodes, cluster_of,
            [this](const kube::ObjectKey&, const std::string* before, const std::string* now) { take(before, now); }) {
  for (const std::string& cluster : view_.all() | std::views::values)
    if (!cluster.empty()) ++counts_[cluster];
}

std::string KnowingProviders::cluster_of(const kube::Object& virtual_node) {
  const api::VirtualNode view(virtual_node);
  return core::knows_names_of_home(view.labels()) ? std::string(view.cluster_id()) : "";
}

void KnowingProviders::take(const std::string* before, const std::string* now) {
  const std::string was = before ? *before : "", is = now ? *now : "";
  if (was == is) return;
  bool changes = false;
  if (!is.empty()) changes = ++counts_[is] == 1;
  if (const auto known = counts_.find(was); known != counts_.end() && --known->second == 0) {
    counts_.erase(known);
    changes = true;
  }
  if (changes) changed_();
}

}  // namespace liqo::controllers
