// Removes the Node of a virtual node once it is drained.
#include "controllers/common/guarded_write.hpp"
#include "controllers/common/older_namesake.hpp"
#include "controllers/nodes/virtual_node.hpp"
#include "kube/client/find_live.hpp"
#include "kube/client/list_all.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::VirtualNode;
using kube::Outcome;

constexpr std::string_view node_not_wanted = "NodeNotWanted";

}  // namespace

asio::awaitable<Outcome> VirtualNodeController::remove_orphan(kube::ObjectKey node_key) {
  const auto node = nodes_->find(node_key);
  if (!node || !node->has_annotation(api::annotations::applied_node) ||
      !virtual_nodes_->store().keys(by_node_name, node_key.name).empty())
    co_return Outcome::done();
  // A consistent read: another replica may have made the Node, and the cache may lag behind.
  const kube::ListOptions options{.selection = {.field_selector = kube::name_is(node_key.name)}, .limit = 1};
  KUBE_CO_TRY(page, co_await context_.home.api().list(api::kinds::virtual_nodes, "", options),
              "looking for the VirtualNode of a Node");
  if (!page.items.empty()) co_return Outcome::done();
  KUBE_CO_TRY(removed, co_await kube::remove_object(context_.home.api(), kube::resources::nodes, node_key,
                                                    {.options = {.uid = std::string(node->uid())},
                                                     .phase = "deleting a Node without VirtualNode"}));
  if (!removed) co_return Outcome::done();
  log_.warn("Node deleted that came into being when its VirtualNode was gone", {{"node", node_key}});
  co_return Outcome::done();
}

asio::awaitable<Outcome> VirtualNodeController::tear_down(kube::Object virtual_node) {
  const kube::ObjectKey key = virtual_node.key();
  const kube::ObjectKey node_key{"", key.name};
  if (!virtual_node.has_finalizer(api::finalizers::virtual_node)) co_return Outcome::done();
  auto node = nodes_->find(node_key);
  if (!node) {
    // A Node whose create got no answer may exist all the same, and nothing looks for it later.
    KUBE_CO_TRY(live, co_await kube::find_live(context_.home.api(), kube::resources::nodes, node_key),
                "looking for the Node");
    node = std::move(live);
  }
  if (node && core::why_foreign(*node).empty()) {
    KUBE_CO_TRYV(co_await set_condition(key, {.type = "Node", .status = "Draining", .reason = "VirtualNodeDeleted"}));
    std::string since(kube::string_at(virtual_node.tree(), {"metadata", "deletionTimestamp"}));
    KUBE_CO_TRY(left, co_await remove_node(virtual_node, *node, std::move(since)));
    if (left > kube::Duration::zero()) co_return Outcome::again_after(left);
  }
  leases_.forget(key.name);
  KUBE_CO_TRYV(co_await remove_finalizer(context_.home.api(), *virtual_nodes_,
                                         latest_of(*virtual_nodes_, std::move(virtual_node)),
                                         api::finalizers::virtual_node));
  co_return Outcome::done();
}

asio::awaitable<Outcome> VirtualNodeController::withdraw_node(kube::Object virtual_node, kube::Object node) {
  const kube::ObjectKey key = virtual_node.key();
  KUBE_CO_TRYV(co_await set_condition(key, {.type = "Node", .status = "Draining", .reason = node_not_wanted}));
  const auto latest = virtual_nodes_->find(key);
  if (!latest) co_return Outcome::done();
  KUBE_CO_TRY(left, co_await remove_node(*latest, std::move(node), std::string(core::draining_since(*latest))));
  if (left > kube::Duration::zero()) co_return Outcome::again_after(left);
  leases_.forget(key.name);
  co_return Outcome::again_after(0ms);
}

asio::awaitable<kube::Result<kube::Duration>> VirtualNodeController::remove_node(kube::Object virtual_node,
                                                                                 kube::Object node, std::string since) {
  KUBE_CO_TRY(drained, co_await drain_.drain(node, since, notices_.is_lost(VirtualNode(virtual_node).cluster_id())));
  if (drained.look_again > kube::Duration::zero()) {
    // The Node shows people who wait for its pods whether the provider answers. A Node that was deleted is not made
    // again.
    if (nodes_->store().contains(node.key()))
      KUBE_CO_TRYV(co_await writer_.write(virtual_node, health_of(virtual_node)));
    co_return drained.look_again;
  }
  auto removed =
      co_await context_.home.api().remove(kube::resources::nodes, node.key(), {.uid = std::string(node.uid())});
  // Another Node of that name (409) may have the pods that were found: everything is looked at again.
  if (!removed && !removed.error().is_not_found())
    co_return kube::fail(std::move(removed.error()), "deleting the Node");
  nodes_->observe_gone(node.key(), node.uid());
  writer_.forget(std::string(node.name()));
  log_.info("Node deleted", {{"node", node.key()}});
  co_await drain_.remove_leftovers(std::move(drained.leftovers));
  co_return kube::Duration::zero();
}

}  // namespace liqo::controllers
