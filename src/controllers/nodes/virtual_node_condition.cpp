#include "controllers/nodes/virtual_node_condition.hpp"

#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {

asio::awaitable<kube::Result<void>> set_virtual_node_condition(const Context& context, kube::Informer& virtual_nodes,
                                                               kube::ObjectKey key, kube::Condition condition) {
  const auto object = virtual_nodes.find(key);
  if (!object) co_return kube::Result<void>();
  auto wanted = api::with_condition(*object, condition, context.clock.wall());
  if (!wanted) co_return kube::Result<void>();
  const kube::json::object patch{{"metadata", kube::json::object{{"resourceVersion", object->resource_version()}}},
                                 {"status", std::move(*wanted)}};
  KUBE_CO_TRYV(co_await kube::merge_patch(context.home.api(), virtual_nodes, key,
                                          {.body = kube::json::serialize(patch),
                                           .phase = "setting a condition of the VirtualNode",
                                           .options = {.subresource = "status"}}));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
