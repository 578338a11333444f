#include "controllers/nodes/node_leases.hpp"

#include "controllers/common/some_at_a_time.hpp"
#include "kube/client/find_live.hpp"

namespace liqo::controllers {
namespace {

/// The number of leases that are renewed concurrently.
constexpr std::size_t max_renewals = 16;

}  // namespace

asio::awaitable<void> NodeLeases::renew_all(std::vector<Holder> nodes) {
  co_await some_at_a_time(nodes, max_renewals,
                          [this](Holder node) { return renew(std::move(node.name), std::move(node.uid)); });
}

asio::awaitable<void> NodeLeases::renew(std::string name, std::string uid) {
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key{"kube-node-lease", name};
  const auto known = leases_.find(name);
  std::optional<kube::Object> lease;
  if (known != leases_.end()) lease = known->second;
  if (!lease) {
    auto live = co_await kube::find_live(home, kube::resources::leases, key);
    if (!live) {
      log_.warn("the node's lease cannot be read", {{"node", name}, {"error", live.error()}});
      co_return;
    }
    lease = std::move(*live);
  }
  const bool exists = lease.has_value();
  if (!exists) lease = kube::Object::make(kube::resources::leases, key);
  kube::json::object& spec = lease->mutable_spec();
  spec["holderIdentity"] = name;
  spec["leaseDurationSeconds"] = context_.settings.nodes.lease_seconds;
  spec["renewTime"] = kube::format_micro_time(context_.clock.wall());
  lease->mutable_metadata()["ownerReferences"] =
      kube::json::array{kube::json::object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", name}, {"uid", uid}}};
  auto written = exists ? co_await home.replace(kube::resources::leases, *lease)
                        : co_await home.create(kube::resources::leases, *lease);
  if (written) {
    leases_.insert_or_assign(name, kube::Object(std::as_const(*written)));
    co_return;
  }
  // It is read again next time: another client wrote it, or it was removed with an earlier Node of this name.
  leases_.erase(name);
  log_.warn("the node's lease was not renewed", {{"node", name}, {"error", written.error()}});
}

}  // namespace liqo::controllers
