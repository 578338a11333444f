// Which volumes have their data in other clusters, and how that is told.
#include "model/volumes.hpp"

#include <doctest/doctest.h>

namespace {

using namespace liqoctl;

kube::Object volume(std::string_view cluster, std::string_view claim, std::string_view phase = "Bound",
                    std::string_view provisioner = "liqo.io/storage") {
  kube::Object made(kube::json::parse(R"({"metadata": {"name": "pvc-1"}})").as_object());
  made.set_annotation("pv.kubernetes.io/provisioned-by", provisioner);
  made.set_annotation("storage.liqo.io/backing-claim", "shop-rome/x");
  made.set_annotation("storage.liqo.io/backing-claim-uid", "r1");
  if (!cluster.empty()) made.set_annotation("storage.liqo.io/backing-cluster", cluster);
  made.mutable_spec()["claimRef"] = kube::json::object{{"namespace", "shop"}, {"name", claim}, {"uid", "c1"}};
  made.mutable_status()["phase"] = phase;
  return made;
}

TEST_CASE("volumes in this cluster, and those of others, stand in nobody's way") {
  CHECK_FALSE(model::remote_volume(volume("", "a")));
  CHECK_FALSE(model::remote_volume(volume("milan", "a", "Bound", "csi.example.org")));
  CHECK(model::remote_volume(volume("milan", "a")) ==
        model::RemoteVolume{
            .name = "pvc-1", .cluster = "milan", .claim = {"shop", "a"}, .claim_uid = "c1", .has_claim = true});
  CHECK_FALSE(model::remote_volume(volume("milan", "a", "Released"))->has_claim);
}

TEST_CASE("the claims are named, and many are counted") {
  std::vector<model::RemoteVolume> found{*model::remote_volume(volume("milan", "a")),
                                         *model::remote_volume(volume("turin", "b", "Released"))};
  const std::string told = model::describe_remote_volumes(found);
  CHECK(told.contains("shop/a in milan, shop/b in turin (deleted, its volume pvc-1 is retained)."));
  CHECK(told.contains("--delete-volumes"));
  found.assign(10, found.front());
  CHECK(model::describe_remote_volumes(found).contains("and 2 more."));
}

}  // namespace
