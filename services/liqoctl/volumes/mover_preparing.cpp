#include <algorithm>
#include <array>
#include <iterator>

#include "core/storage/volume.hpp"
#include "installation/daemon.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "model/volume/stranded_pods.hpp"
#include "volumes/mover.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
namespace labels = liqo::api::labels;
namespace resources = kube::resources;
using kube::Errc;
using kube::ObjectKey;
using kube::string_at;
using liqo::api::phase_of;

constexpr kube::Resource stateful_sets{"apps", "v1", "statefulsets", "StatefulSet"};

/// The provider whose cluster a node stands for; "" = this cluster.
std::string cluster_of(const Object& node) {
  return node.label(labels::type) == labels::type_virtual_node ? std::string(node.label(labels::remote_cluster_id))
                                                               : "";
}

}  // namespace

asio::awaitable<Result<Mover::Found>> Mover::find_record() {
  auto volumes = co_await cluster_.list(kinds::volumes, "");
  if (!volumes) co_return std::unexpected(std::move(volumes.error()));
  for (const Object& volume : *volumes)
    if (auto record = model::read_record(volume); record && record->claim.key() == claim_key())
      co_return Found(std::pair(std::string(volume.name()), std::move(*record)));
  co_return Found();
}

asio::awaitable<Result<Object>> Mover::existing(const kube::Resource& kind, ObjectKey key) {
  auto found = co_await cluster_.find(kind, key);
  if (!found) co_return std::unexpected(std::move(found.error()));
  if (!*found)
    co_return kube::fail(
        Errc::missing, "there is no " + std::string(kind.kind) + " " + key.text() + " in cluster " + cluster_.scope());
  co_return std::move(**found);
}

asio::awaitable<Result<void>> Mover::check_users(std::string_view when) {
  auto pods = co_await cluster_.list(resources::pods, ns_);
  if (!pods) co_return std::unexpected(std::move(pods.error()));
  const std::array carriers{key_of(model::Carrier::reads).name, key_of(model::Carrier::writes).name};
  const auto users = model::users_of(*pods, asked_.claim, carriers);
  if (users.empty()) co_return Result<void>();
  co_return kube::fail(Errc::invalid_input, "claim " + claim_key().text() + " is used by " + kube::join_some(users, 5) +
                                                std::string(when) +
                                                ": end these pods (scale down what makes them), and run it again");
}

asio::awaitable<Result<std::string>> Mover::node_of_source(const Object& claim, std::string cluster) {
  const std::string noted(claim.annotation(annotations::selected_node));
  auto nodes = co_await cluster_.list(resources::nodes, "");
  if (!nodes) co_return std::unexpected(std::move(nodes.error()));
  std::string chosen;
  for (const Object& node : *nodes) {
    if (cluster_of(node) != cluster || !kube::has_condition(node, "Ready")) continue;
    if (node.name() == noted) co_return noted;
    if (!cluster.empty()) chosen = node.name();
  }
  if (!cluster.empty() && chosen.empty())
    co_return kube::fail(Errc::missing,
                         "no virtual node of cluster " + cluster + ", which has the data, is Ready: see liqoctl info");
  co_return chosen;
}

asio::awaitable<Result<void>> Mover::check_claim(const Object& claim) {
  if (claim.is_deleting())
    co_return kube::fail(Errc::invalid_input, "claim " + claim_key().text() + " is being deleted");
  const std::string class_name(string_at(claim.spec(), {"storageClassName"}));
  auto storage_class = co_await cluster_.find(kinds::storage_classes, {"", class_name});
  if (!storage_class) co_return std::unexpected(std::move(storage_class.error()));
  if (!*storage_class || string_at((*storage_class)->tree(), {"provisioner"}) != liqo::api::storage_provisioner)
    co_return kube::fail(Errc::invalid_input, "claim " + claim_key().text() + " is of class '" +
                                                  kube::printable(class_name) +
                                                  "': only volumes of Liqo's StorageClass can be moved");
  if (string_at(claim.spec(), {"volumeMode"}) == "Block")
    co_return kube::fail(Errc::invalid_input,
                         "claim " + claim_key().text() + " has volumeMode Block: only volumes with files can be moved");
  co_return Result<void>();
}

asio::awaitable<Result<void>> Mover::prepare() {
  auto claim = co_await existing(kinds::claims, claim_key());
  if (!claim) co_return std::unexpected(std::move(claim.error()));
  if (auto good = co_await check_claim(*claim); !good) co_return good;
  auto node = co_await existing(resources::nodes, {"", asked_.node});
  if (!node) co_return std::unexpected(std::move(node.error()));
  const std::string volume_name(string_at(claim->spec(), {"volumeName"}));
  if (volume_name.empty())
    co_return kube::fail(Errc::invalid_input,
                         "claim " + claim_key().text() + " has no volume yet: its first pod decides where it is");
  auto volume = co_await existing(kinds::volumes, {"", volume_name});
  if (!volume) co_return std::unexpected(std::move(volume.error()));
  // A claim can name any volume of the cluster.
  if (phase_of(*claim) != "Bound" || !liqo::core::storage::is_volume_of(*volume, *claim))
    co_return kube::fail(Errc::invalid_input, "claim " + claim_key().text() + " is not bound to PersistentVolume " +
                                                  volume_name + ", which it names");
  const auto backing = liqo::core::storage::backing_of(*volume);
  if (!backing)
    co_return kube::fail(Errc::invalid_input,
                         "PersistentVolume " + volume_name + " does not say where its data is: it is none of liqod");
  const std::string target = cluster_of(*node);
  if (target == backing->cluster) {
    auto left = co_await remove_leftovers();
    if (!left) co_return std::unexpected(std::move(left.error()));
    co_return kube::fail(Errc::invalid_input,
                         "node " + asked_.node + " is of " + cluster_in_words(target) +
                             ", where the data is already: " +
                             (*left ? "what an earlier move had left is removed" : "name a node of another cluster"));
  }
  if (auto free = co_await check_users(""); !free) co_return free;
  auto source_node = co_await node_of_source(*claim, backing->cluster);
  if (!source_node) co_return std::unexpected(std::move(source_node.error()));
  source_node_ = std::move(*source_node);
  target_ = target;
  auto image = co_await find_image();
  if (!image) co_return std::unexpected(std::move(image.error()));
  image_ = std::move(*image);
  record_ = {.claim = model::claim_to_keep(*claim),
             .uid = std::string(claim->uid()),
             .node = asked_.node,
             .source = volume_name,
             .policy = std::string(string_at(volume->spec(), {"persistentVolumeReclaimPolicy"})),
             .former_node = std::string(claim->annotation(annotations::selected_node))};
  claim_ = std::move(*claim);
  co_await warn_of_stranded(*node);
  co_return Result<void>();
}

asio::awaitable<Result<bool>> Mover::remove_leftovers() {
  auto claim = co_await cluster_.find(kinds::claims, copy_key());
  if (!claim) co_return std::unexpected(std::move(claim.error()));
  if (auto gone = co_await remove_carriers(); !gone) co_return std::unexpected(std::move(gone.error()));
  if (!*claim || (*claim)->annotation(annotations::moves_claim) != asked_.claim) co_return false;
  if (auto gone = co_await remove_copy_claim(true); !gone) co_return std::unexpected(std::move(gone.error()));
  co_return true;
}

asio::awaitable<void> Mover::warn_of_stranded(const Object& node) {
  const ObjectKey key{ns_, std::string(liqo::api::namespace_offloading_name)};
  auto offloading = co_await cluster_.find(kinds::namespace_offloadings, key);
  if (!offloading || model::may_run_on(node, *offloading ? &**offloading : nullptr)) co_return;
  std::vector<std::string> makers;
  for (const kube::Resource& kind : {stateful_sets, kinds::deployments})
    // Who may not see them is told of the pods without them.
    if (auto found = co_await cluster_.list(kind, ns_))
      std::ranges::move(model::makers_of(*found, asked_.claim), std::back_inserter(makers));
  cluster_.output().warn(cluster_.scope(),
                         model::describe_stranded(node, claim_key(), *offloading ? &**offloading : nullptr, makers));
}

asio::awaitable<Result<std::string>> Mover::find_image() {
  if (!asked_.image.empty()) co_return asked_.image;
  auto image = co_await read_liqod_image(cluster_);
  if (!image) co_return std::unexpected(std::move(image.error()));
  if (image->empty())
    co_return kube::fail(Errc::missing, "there is no Deployment of liqod in namespace " + cluster_.liqo_namespace() +
                                            " to take the image from: name one with --image");
  co_return image;
}

}  // namespace liqoctl
