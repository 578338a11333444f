#include "core/namespaces/desired_mapping.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/common/difference.hpp"
#include "core/namespaces/remote_name.hpp"
#include "core/namespaces/selections.hpp"
#include "core/nodes/wanted_node.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace labels = api::labels;
namespace {

json::object replication_labels(std::string_view remote_cluster) {
  return {{labels::remote_cluster_id, remote_cluster},
          {labels::replication, "true"},
          {labels::replication_destination, remote_cluster}};
}

/// The Node of the VirtualNode; null if there is none. One that shows another cluster is that of another VirtualNode of
/// the name.
const kube::Object* own_node(const OfferedNode& offered) {
  if (!offered.node) return nullptr;
  const std::string_view shown = offered.node->label(labels::remote_cluster_id);
  const bool is_own = shown.empty() || shown == api::VirtualNode(*offered.virtual_node).cluster_id();
  return is_own ? offered.node : nullptr;
}

/// Which virtual nodes each selector selects, evaluated once for all requests that have it.
class SelectedNodes {
 public:
  using Names = std::set<std::string, std::less<>>;
  SelectedNodes(std::span<const OfferedNode> nodes, const NodeContext& ctx) {
    for (const OfferedNode& offered : nodes)
      nodes_.emplace_back(offered.virtual_node->name(), offered_labels(offered, ctx));
  }
  /// Of a request that has a selector.
  const Names& of(const TwinRequest& request) {
    const auto [entry, is_new] = selected_.try_emplace(request.selects);
    if (is_new)
      for (const auto& [name, labels] : nodes_)
        if (is_selected(*request.selector, name, labels)) entry->second.insert(name);
    return entry->second;
  }

 private:
  std::vector<std::pair<std::string, json::object>> nodes_;  // name, labels
  std::map<std::string_view, Names> selected_;               // by the text of the selector
};

/// Differs if somebody has changed the wish.
std::string wish_of(const TwinRequest& request) { return request.uid + request.selects; }

/// Whether a selected VirtualNode lacks its Node. Labels that were set on the Node by hand are unknown until it is
/// back, and may select it again.
bool is_in_doubt(const TwinMemory::Selection& before, std::span<const OfferedNode> nodes) {
  return std::ranges::any_of(nodes, [&](const OfferedNode& offered) {
    return !own_node(offered) && api::VirtualNode(*offered.virtual_node).create_node() &&
           before.nodes.contains(offered.virtual_node->name());
  });
}

/// Whether an administrator has unselected the twin: by another selector, or by removing all selected nodes.
bool is_meant(const TwinMemory::Selection& before, std::string_view by, std::span<const OfferedNode> nodes) {
  if (before.by.empty()) return false;
  return before.by != by || std::ranges::none_of(nodes, [&](const OfferedNode& offered) {
           return !offered.virtual_node->is_deleting() && before.nodes.contains(offered.virtual_node->name());
         });
}

}  // namespace

json::object offered_labels(const OfferedNode& offered, const NodeContext& ctx) {
  if (const kube::Object* node = own_node(offered)) return node->labels();
  return node_labels(api::VirtualNode(*offered.virtual_node), ctx);
}

TwinRequest twin_request(const kube::Object& object, std::string_view local_cluster) {
  const api::NamespaceOffloading offloading(object);
  TwinRequest request{.local = std::string(object.ns()),
                      .counts = offloading.has_right_name() && !object.is_deleting(),
                      .is_guarded = object.has_finalizer(api::finalizers::namespace_offloading),
                      .uid = std::string(object.uid()),
                      .selects = json::serialize(offloading.cluster_selector())};
  if (auto selector = NodeSelector::parse(offloading.cluster_selector())) request.selector = std::move(*selector);
  if (auto name = remote_namespace_name(offloading, local_cluster)) request.remote = std::move(*name);
  return request;
}

TwinWish wanted_twins(const ObservedTwins& observed, const TwinRules& rules, TwinMemory& memory) {
  const auto& [requests, nodes, current] = observed;
  TwinWish wish;
  TwinMemory before;
  std::swap(before, memory);
  SelectedNodes selected_nodes(nodes, rules.node);
  for (const TwinRequest* request : requests) {
    if (!request->counts) continue;
    const std::string& local = request->local;
    const auto present = current.find(local);
    auto known = before.namespaces.extract(local);
    TwinMemory::Selection last = known ? std::move(known.mapped()) : TwinMemory::Selection();
    if (!request->selector || !request->remote || !request->is_guarded) {
      if (present == current.end()) continue;
      wish.twins.insert(*present);
      memory.namespaces.emplace(local, std::move(last));
      continue;
    }
    if (const auto& selected = selected_nodes.of(*request); !selected.empty()) {
      wish.twins.insert_or_assign(local, *request->remote);
      memory.namespaces.emplace(local, TwinMemory::Selection{wish_of(*request), selected, std::nullopt});
      continue;
    }
    if (present == current.end()) continue;
    if (!is_in_doubt(last, nodes)) {
      const bool meant = is_meant(last, wish_of(*request), nodes), is_new = !last.lost_since;
      if (!meant && is_new) last.lost_since = rules.now;
      const kube::Duration left = meant ? kube::Duration::zero() : rules.grace - (rules.now - *last.lost_since);
      if (left <= kube::Duration::zero()) {
        // The entry stays until the map no longer asks for the twin, which may take long: without it the grace would
        // begin again.
        memory.namespaces.emplace(local, std::move(last));
        continue;
      }
      wish.leaving.emplace(local, TwinWish::Leaving{left, is_new});
    }
    wish.twins.insert(*present);
    memory.namespaces.emplace(local, std::move(last));
  }
  cut_to_max(wish.twins, current);
  return wish;
}

WantedTwins asked_by(const kube::Object& map) {
  WantedTwins twins;
  for (api::WantedNamespace& entry : api::NamespaceMap(map).desired_mapping())
    twins.insert_or_assign(std::move(entry.local), std::move(entry.remote));
  return twins;
}

void cut_to_max(WantedTwins& twins, const WantedTwins& current) {
  for (auto last = twins.end(); twins.size() > max_mappings && last != twins.begin();) {
    --last;
    if (!current.contains(last->first)) last = twins.erase(last);
  }
}

kube::Object forge_namespace_map(const kube::ObjectKey& key, std::string_view remote_cluster,
                                 const WantedTwins& wanted) {
  kube::Object map = kube::Object::make(api::kinds::namespace_maps, key);
  map.mutable_metadata()["labels"] = replication_labels(remote_cluster);
  json::object& desired = kube::ensure_object(map.mutable_spec(), "desiredMapping");
  for (const auto& [local, remote] : wanted) desired[local] = remote;
  return map;
}

std::optional<json::object> plan_namespace_map(const kube::Object& map, std::string_view remote_cluster,
                                               const WantedTwins& wanted) {
  json::object marks = changed_entries(map.labels(), replication_labels(remote_cluster));
  const json::object& present = kube::object_at(map.spec(), {"desiredMapping"});
  json::object changes;
  for (const auto& [local, remote] : wanted)
    if (kube::string_at(present, {local}) != remote) changes[local] = remote;
  for (const auto& [local, remote] : present)
    if (!wanted.contains(std::string_view(local))) changes[local] = nullptr;
  if (marks.empty() && changes.empty()) return std::nullopt;

  json::object metadata{{"resourceVersion", map.resource_version()}};
  if (!marks.empty()) metadata["labels"] = std::move(marks);
  json::object patch{{"metadata", std::move(metadata)}};
  if (!changes.empty()) patch["spec"] = json::object{{"desiredMapping", std::move(changes)}};
  return patch;
}

}  // namespace liqo::core
