#include "controllers/namespaces/offered_nodes.hpp"

#include "controllers/common/node_context.hpp"
#include "core/namespaces/desired_mapping.hpp"
#include "core/namespaces/selecting_spec.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {

namespace json = kube::json;

OfferedNodes::OfferedNodes(const Context& context, kube::InformerHandle& virtual_nodes, kube::InformerHandle& nodes,
                           Handlers handlers)
    : ctx_(node_context(context.settings)),
      handlers_(std::move(handlers)),
      offers_(
          virtual_nodes, offer_of,
          [this](const kube::ObjectKey& key, const Offer* before, const Offer* now) {
            offer_changed(key, before, now);
          },
          handlers_.synced),
      labels_(
          nodes, labels_of,
          [this](const kube::ObjectKey& key, const Labels* before, const Labels* now) {
            labels_changed(key.name, before, now);
          },
          handlers_.synced) {
  for (const auto& [key, offer] : offers_.all()) {
    named_[key.name].insert(key);
    add_home(offer.cluster, key);
    look(key);
  }
}

OfferedNodes::Offer OfferedNodes::offer_of(const kube::Object& virtual_node) {
  json::object tree{{"metadata", {{"name", virtual_node.name()}, {"namespace", virtual_node.ns()}}},
                    {"spec", core::selecting_spec(virtual_node)}};
  return {.cluster = std::string(api::VirtualNode(virtual_node).cluster_id()), .node = kube::Object(std::move(tree))};
}

OfferedNodes::Labels OfferedNodes::labels_of(const kube::Object& node) {
  return {.node = kube::Object({{"metadata", {{"name", node.name()}, {"labels", node.labels()}}}})};
}

bool OfferedNodes::may_be_home(std::string_view cluster, const std::string& ns) const {
  const auto found = homes_.find(cluster);
  return found == homes_.end() || found->second.contains(ns);
}

bool OfferedNodes::add_home(const std::string& cluster, const kube::ObjectKey& virtual_node) {
  return ++homes_[cluster][virtual_node.ns] == 1;
}

bool OfferedNodes::remove_home(const std::string& cluster, const kube::ObjectKey& virtual_node) {
  const auto of_cluster = homes_.find(cluster);
  const auto count = of_cluster->second.find(virtual_node.ns);
  if (--count->second > 0) return false;
  of_cluster->second.erase(count);
  if (of_cluster->second.empty()) homes_.erase(of_cluster);
  return true;
}

void OfferedNodes::offer_changed(const kube::ObjectKey& key, const Offer* before, const Offer* now) {
  if (before && now && *before == *now) return;
  if (now) {
    named_[key.name].insert(key);
  } else if (const auto named = named_.find(key.name); named != named_.end()) {
    named->second.erase(key);
    if (named->second.empty()) named_.erase(named);
  }
  std::set<std::string> moved;
  if (!before || !now || before->cluster != now->cluster) {
    if (now && add_home(now->cluster, key)) moved.insert(now->cluster);
    if (before && remove_home(before->cluster, key)) moved.insert(before->cluster);
  }
  notify(look(key));
  if (handlers_.homes)
    for (const std::string& cluster : moved) handlers_.homes(cluster);
}

void OfferedNodes::labels_changed(const std::string& name, const Labels* before, const Labels* now) {
  if (before && now && *before == *now) return;
  const auto named = named_.find(name);
  if (named == named_.end()) return;
  for (const kube::ObjectKey& key : named->second) notify(look(key));
}

std::vector<std::string> OfferedNodes::look(const kube::ObjectKey& key) {
  const Offer* offer = offers_.find(key);
  if (!offer) return selections_.see(key, std::nullopt);
  const Labels* labels = labels_.find({"", key.name});
  const core::OfferedNode offered{.virtual_node = &offer->node, .node = labels ? &labels->node : nullptr};
  return selections_.see(
      key, core::Selections::Node{
               .cluster = offer->cluster, .name = key.name, .labels = core::offered_labels(offered, ctx_)});
}

void OfferedNodes::notify(const std::vector<std::string>& selectors) const {
  if (!selectors.empty() && handlers_.selected) handlers_.selected(selectors);
}

}  // namespace liqo::controllers
