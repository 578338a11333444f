#include "volumes/move_preparation.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/storage/volume.hpp"
#include "installation/daemon.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "model/volume/stranded_pods.hpp"
#include "volumes/move_leftovers.hpp"

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

/// The node in the source's cluster on which the reading pod runs; "" = the scheduler chooses.
asio::awaitable<Result<std::string>> node_of_source(MovedClaim& moved, const Object& claim, std::string cluster) {
  const std::string noted(claim.annotation(annotations::selected_node));
  KUBE_CO_TRY(nodes, co_await moved.cluster().list(resources::nodes, ""));
  std::string chosen;
  for (const Object& node : nodes) {
    if (cluster_of(node) != cluster || !kube::has_condition(node, "Ready")) continue;
    if (node.name() == noted) co_return noted;
    if (!cluster.empty()) chosen = node.name();
  }
  if (!cluster.empty() && chosen.empty())
    co_return kube::fail(Errc::missing,
                         "no virtual node of cluster " + cluster + ", which has the data, is Ready: see liqoctl info");
  co_return chosen;
}

/// Checks that it is a claim of Liqo's StorageClass, with files.
asio::awaitable<Result<void>> check_claim(MovedClaim& moved, const Object& claim) {
  if (claim.is_deleting())
    co_return kube::fail(Errc::invalid_input, "claim " + moved.key().text() + " is being deleted");
  const std::string class_name(string_at(claim.spec(), {"storageClassName"}));
  KUBE_CO_TRY(storage_class, co_await moved.cluster().find(kinds::storage_classes, {"", class_name}));
  if (!storage_class || string_at(storage_class->tree(), {"provisioner"}) != liqo::api::storage_provisioner)
    co_return kube::fail(Errc::invalid_input, "claim " + moved.key().text() + " is of class '" +
                                                  kube::printable(class_name) +
                                                  "': only volumes of Liqo's StorageClass can be moved");
  if (string_at(claim.spec(), {"volumeMode"}) == "Block")
    co_return kube::fail(Errc::invalid_input,
                         "claim " + moved.key().text() + " has volumeMode Block: only volumes with files can be moved");
  co_return Result<void>();
}

/// The volume that the claim is bound to.
asio::awaitable<Result<Object>> volume_of(MovedClaim& moved, const Object& claim) {
  const std::string volume_name(string_at(claim.spec(), {"volumeName"}));
  if (volume_name.empty())
    co_return kube::fail(Errc::invalid_input,
                         "claim " + moved.key().text() + " has no volume yet: its first pod decides where it is");
  KUBE_CO_TRY(volume, co_await moved.existing(kinds::volumes, {"", volume_name}));
  // A claim can name any volume of the cluster.
  if (phase_of(claim) != "Bound" || !liqo::core::storage::is_volume_of(volume, claim))
    co_return kube::fail(Errc::invalid_input, "claim " + moved.key().text() + " is not bound to PersistentVolume " +
                                                  volume_name + ", which it names");
  co_return std::move(volume);
}

asio::awaitable<Result<std::string>> find_image(MovedClaim& moved) {
  if (!moved.asked().image.empty()) co_return moved.asked().image;
  Cluster& cluster = moved.cluster();
  KUBE_CO_TRY(image, co_await read_liqod_image(cluster));
  if (image.empty())
    co_return kube::fail(Errc::missing, "there is no Deployment of liqod in namespace " + cluster.liqo_namespace() +
                                            " to take the image from: name one with --image");
  co_return std::move(image);
}

/// Warns which pods will find no node once the data is in the cluster of this node.
asio::awaitable<void> warn_of_stranded(MovedClaim& moved, const Object& node) {
  Cluster& cluster = moved.cluster();
  const ObjectKey key{moved.ns(), std::string(liqo::api::namespace_offloading_name)};
  auto offloading = co_await cluster.find(kinds::namespace_offloadings, key);
  if (!offloading || model::may_run_on(node, *offloading ? &**offloading : nullptr)) co_return;
  std::vector<std::string> makers;
  for (const kube::Resource& kind : {stateful_sets, kinds::deployments})
    // A user who may not list the workloads gets the warning without their names.
    if (auto found = co_await cluster.list(kind, moved.ns()))
      std::ranges::move(model::makers_of(*found, moved.asked().claim), std::back_inserter(makers));
  cluster.output().warn(cluster.scope(),
                        model::describe_stranded(node, moved.key(), *offloading ? &**offloading : nullptr, makers));
}

}  // namespace

asio::awaitable<Result<PreparedMove>> prepare_move(MovedClaim& moved) {
  KUBE_CO_TRY(claim, co_await moved.existing(kinds::claims, moved.key()));
  KUBE_CO_TRYV(co_await check_claim(moved, claim));
  KUBE_CO_TRY(node, co_await moved.existing(resources::nodes, {"", moved.asked().node}));
  KUBE_CO_TRY(volume, co_await volume_of(moved, claim));
  const auto backing = liqo::core::storage::backing_of(volume);
  if (!backing)
    co_return kube::fail(Errc::invalid_input, "PersistentVolume " + std::string(volume.name()) +
                                                  " does not say where its data is: it is none of liqod");
  const std::string target = cluster_of(node);
  if (target == backing->cluster) {
    KUBE_CO_TRY(left, co_await remove_leftovers(moved));
    co_return kube::fail(Errc::invalid_input,
                         "node " + moved.asked().node + " is of " + cluster_in_words(target) +
                             ", where the data is already: " +
                             (left ? "what an earlier move had left is removed" : "name a node of another cluster"));
  }
  KUBE_CO_TRYV(co_await moved.check_users(""));
  KUBE_CO_TRY(source_node, co_await node_of_source(moved, claim, backing->cluster));
  KUBE_CO_TRY(image, co_await find_image(moved));
  co_await warn_of_stranded(moved, node);
  model::MoveRecord record{.claim = model::claim_to_keep(claim),
                           .uid = std::string(claim.uid()),
                           .node = moved.asked().node,
                           .source = std::string(volume.name()),
                           .policy = std::string(string_at(volume.spec(), {"persistentVolumeReclaimPolicy"})),
                           .former_node = std::string(claim.annotation(annotations::selected_node))};
  co_return PreparedMove{.claim = std::move(claim),
                         .record = std::move(record),
                         .source_node = std::move(source_node),
                         .target = target,
                         .image = std::move(image)};
}

}  // namespace liqoctl
