#include "controllers/nodes/node_writer.hpp"

#include "controllers/common/node_context.hpp"
#include "core/nodes/namesakes.hpp"
#include "core/nodes/node_extras.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {

using namespace std::chrono_literals;
using api::VirtualNode;

asio::awaitable<kube::Result<void>> NodeWriter::write(const kube::Object& object, core::ProviderHealth health) {
  core::NodeContext ctx = node_context(context_.settings);
  ctx.kubelet_port = decide_port(object);
  auto node = parts_.nodes->find({"", std::string(object.name())});
  if (!node) {
    KUBE_CO_TRY(found, co_await create(object, health, ctx));
    if (!found) co_return kube::Result<void>();
    node = std::move(found);
  }
  co_return co_await update(object, *node, health, ctx);
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> NodeWriter::create(const kube::Object& object,
                                                                              const core::ProviderHealth& health,
                                                                              const core::NodeContext& ctx) {
  const kube::ObjectKey key{"", std::string(object.name())};
  kube::Api& home = context_.home.api();
  const kube::Object wish = with_template(object, nullptr);
  auto created = co_await home.create(
      kube::resources::nodes,
      core::forge_node({.virtual_node = VirtualNode(wish), .health = health, .ctx = ctx}, context_.clock.wall()));
  if (!created && created.error().is_already_exists()) {
    // The Node is not in the cache of virtual nodes: find out who owns it.
    KUBE_CO_TRY(live, co_await home.get(kube::resources::nodes, key), "looking at the Node of that name");
    co_return std::move(live);
  }
  if (!created) co_return kube::fail(std::move(created.error()), "creating the Node");
  if (made_.insert(key.name).second) {
    log_.info("Node created", {{"node", key}});
  } else {
    log_.warn("Node created again: somebody has deleted it", {{"node", key}});
  }
  parts_.sessions.note_foreign(object.key(), "");
  const std::string uid(created->uid());
  log_readiness(key, core::unready_reason(*created));
  parts_.nodes->observe(std::move(*created));
  co_await parts_.leases.renew(key.name, uid);
  co_return std::nullopt;
}

asio::awaitable<kube::Result<void>> NodeWriter::update(const kube::Object& object, const kube::Object& node,
                                                       const core::ProviderHealth& health,
                                                       const core::NodeContext& ctx) {
  const kube::ObjectKey key = node.key();
  kube::Api& home = context_.home.api();
  const kube::Object wish = with_template(object, &node);
  const core::NodePlan plan = core::plan_node(node, {.virtual_node = VirtualNode(wish), .health = health, .ctx = ctx},
                                              context_.clock.wall(), earliest_refresh - 5s);
  const auto* refusal = std::get_if<core::node_action::Refuse>(&plan);
  // There is a session only if the Node is ours: the pods of a machine are not ours.
  parts_.sessions.note_foreign(object.key(), refusal ? refusal->why : "");
  if (refusal) {
    parts_.ports_changed(parts_.ports.forget(key.name));
    context_.events.warning(object, api::kinds::virtual_nodes, core::name_taken, refusal->why);
    co_return kube::fail(kube::Errc::invalid_input, refusal->why);
  }
  const auto& due = std::get<core::node_action::Update>(plan);
  made_.insert(key.name);
  if (due.metadata) {
    KUBE_CO_TRY(patched,
                co_await home.patch(kube::resources::nodes, key,
                                    {kube::PatchType::merge, kube::json::serialize(*due.metadata)}),
                "updating the Node");
    parts_.nodes->observe(std::move(patched));
  }
  if (due.status) {
    KUBE_CO_TRY(patched,
                co_await home.patch(kube::resources::nodes, key,
                                    {kube::PatchType::strategic_merge, kube::json::serialize(*due.status)},
                                    {.subresource = "status"}),
                "updating the Node's status");
    log_readiness(key, core::unready_reason(patched));
    parts_.nodes->observe(std::move(patched));
  }
  co_return kube::Result<void>();
}

std::uint16_t NodeWriter::decide_port(const kube::Object& virtual_node) {
  const auto [port, is_shared_now] = parts_.ports.decide(std::string(virtual_node.name()));
  if (is_shared_now)
    context_.events.warning(virtual_node, api::kinds::virtual_nodes, "KubeletPortShared",
                            "node " + std::string(virtual_node.name()) + " shares port " + std::to_string(port) +
                                " of the kubelet API with other virtual nodes, so paths that name no pod are not "
                                "served there: there are more virtual nodes than ports (--listen-port-count)");
  return port;
}

void NodeWriter::log_readiness(const kube::ObjectKey& node, std::string why) {
  const auto [known, is_new] = logged_unready_.try_emplace(node.name, why);
  const std::string before = std::exchange(known->second, std::move(why));
  if (!is_new && before.empty() == known->second.empty()) return;
  if (known->second.empty()) {
    log_.info("Node is Ready", {{"node", node}});
  } else {
    log_.warn("Node is not Ready", {{"node", node}, {"reason", known->second}});
  }
}

kube::Object NodeWriter::with_template(const kube::Object& virtual_node, const kube::Object* node) const {
  if (parts_.templates.is_known())
    if (const auto options = parts_.templates.of(virtual_node))
      // ClusterReflection reports what is refused.
      return *options ? core::with_extras(virtual_node, core::node_extras(**options).usable) : virtual_node;
  // Selectors of namespaces and pods may depend on the last known labels.
  return node ? core::with_extras(virtual_node, core::applied_extras(*node)) : virtual_node;
}

asio::awaitable<kube::Result<void>> NodeWriter::uncordon(std::string node) {
  const kube::json::object patch{{"spec", kube::json::object{{"unschedulable", nullptr}}}};
  KUBE_CO_TRYV(co_await kube::merge_patch(
      context_.home.api(), *parts_.nodes, {"", std::move(node)},
      {.body = kube::json::serialize(patch), .phase = "uncordoning the Node that is wanted again"}));
  co_return kube::Result<void>();
}

void NodeWriter::forget(const std::string& name) {
  made_.erase(name);
  logged_unready_.erase(name);
}

}  // namespace liqo::controllers
