// liqoctl move volume, as far as it runs no command in a pod.
#include <doctest/doctest.h>

#include <array>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

const kube::ObjectKey claim{"shop", "data"};
const kube::ObjectKey copy_claim{"shop", "liqo-move-data"};
const std::array<kube::ObjectKey, 2> helpers{kube::ObjectKey{"shop", "liqo-move-data-from"},
                                             kube::ObjectKey{"shop", "liqo-move-data-to"}};

/// rome has the claim data, whose volume is in milan, and a node of each cluster.
struct Consumer {
  CommandWorld world;
  TestCluster rome{world, "rome"};
  Consumer() {
    constexpr const char* ready = R"({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})";
    rome.add(resources::nodes, {"", "milan"}, ready);
    rome.change(resources::nodes, {"", "milan"},
                R"({"metadata": {"labels": {"liqo.io/type": "virtual-node", "liqo.io/remote-cluster-id": "milan"}}})");
    rome.add(resources::nodes, {"", "rome-1"}, ready);
    rome.add(kinds::storage_classes, {"", "liqo"}, R"({"provisioner": "liqo.io/storage"})");
    rome.add(kinds::claims, claim, R"({"metadata": {"uid": "c1"}, "status": {"phase": "Bound"}, "spec": {
        "storageClassName": "liqo", "volumeName": "pvc-c1", "accessModes": ["ReadWriteOnce"]}})");
    rome.add(kinds::volumes, {"", "pvc-c1"}, R"({"spec": {"claimRef": {"uid": "c1"}}, "metadata": {"annotations": {
        "pv.kubernetes.io/provisioned-by": "liqo.io/storage", "storage.liqo.io/backing-claim": "shop-rome/data",
        "storage.liqo.io/backing-claim-uid": "b1", "storage.liqo.io/backing-cluster": "milan"}}})");
  }

  Done move(const std::string& timeout) {
    return world.run("move volume data --namespace shop --target-node rome-1 --image x --timeout " + timeout, rome);
  }
  std::string volume_of_claim() {
    return std::string(kube::string_at(rome.get(kinds::claims, claim).spec(), {"volumeName"}));
  }
};

TEST_CASE("a move whose copy gets no volume says soon what keeps it") {
  // At home, the claim that will hold the data is named by the UID of the copy's claim.
  Consumer consumer;
  TestCluster& rome = consumer.rome;
  std::string uid;
  rome.before_reading = [&](std::string_view path) {
    if (path != resources::events.path("") || !rome.has(kinds::claims, copy_claim)) return;
    uid = rome.get(kinds::claims, copy_claim).uid();
    rome.add(resources::events, {"liqo-storage", "provisioner"},
             R"({"type": "Warning", "message": "no disk of class fast", "lastTimestamp": ")" +
                 kube::format_time(consumer.world.simulator().clock().wall()) +
                 R"(", "involvedObject": {"kind": "PersistentVolumeClaim", "uid": "another", "name": ")" + uid +
                 R"("}})");
  };
  const Done done = consumer.move("6s");
  CHECK(done.code == 1);
  const std::string words = "the claim " + uid + ", which is to hold the data, has no volume: no disk of class fast";
  const std::size_t warned = done.err.find("WARN: ");
  REQUIRE_MESSAGE(warned != std::string::npos, done.err);
  CHECK_MESSAGE(done.err.substr(warned, done.err.find('\n', warned) - warned).contains(words), done.err);
  CHECK(done.err.find("WARN: ", warned + 1) == std::string::npos);
  CHECK_MESSAGE(done.err.contains("gave up waiting for a volume in this cluster"), done.err);
  // The claim that was to be moved is unchanged.
  CHECK(consumer.volume_of_claim() == "pvc-c1");
}

TEST_CASE("a move whose helper pod ends says at once why, and what is left") {
  Consumer consumer;
  TestCluster& rome = consumer.rome;
  rome.add(kinds::volumes, {"", "pvc-c2"}, R"({"spec": {"claimRef": {"uid": "c2"}}, "metadata": {"annotations": {
      "pv.kubernetes.io/provisioned-by": "liqo.io/storage", "storage.liqo.io/backing-claim": "liqo-storage/c2",
      "storage.liqo.io/backing-claim-uid": "b2"}}})");
  // Plays liqod for the copy, and kubelets for the pods: the one that reads is evicted.
  rome.before_reading = [&](std::string_view path) {
    if (path == kinds::claims.path(copy_claim.ns, copy_claim.name) && rome.has(kinds::claims, copy_claim))
      rome.change(kinds::claims, copy_claim,
                  R"({"metadata": {"uid": "c2"}, "spec": {"volumeName": "pvc-c2"}, "status": {"phase": "Bound"}})");
    for (const kube::ObjectKey& helper : helpers) {
      if (path != resources::pods.path(helper.ns, helper.name) || !rome.has(resources::pods, helper)) continue;
      if (rome.get(resources::pods, helper).is_deleting()) {
        rome.remove(resources::pods, helper);
      } else if (helper == helpers.front()) {
        rome.change(resources::pods, helper, R"({"status": {"phase": "Failed", "reason": "Evicted",
            "message": "the node was low on memory"}})");
      }
    }
  };
  const Done done = consumer.move("60s");
  CHECK(done.code == 1);
  CHECK_MESSAGE(
      done.err.contains("ERRO: pod shop/liqo-move-data-from, which was to carry the data, has ended: Evicted: "
                        "the node was low on memory. Claim shop/liqo-move-data, "),
      done.err);
  CHECK_MESSAGE(done.err.ends_with(": kubectl delete pvc liqo-move-data -n shop\n"), done.err);
  for (const kube::ObjectKey& helper : helpers) CHECK_FALSE(rome.has(resources::pods, helper));
  CHECK(consumer.volume_of_claim() == "pvc-c1");
}

}  // namespace
}  // namespace liqoctl::test
