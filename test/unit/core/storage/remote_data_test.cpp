// The data in other clusters, as objects at home show it.
#include "core/storage/remote_data.hpp"

#include "../objects.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core::storage {
namespace {

using namespace core::testing;
namespace annotations = api::annotations;
namespace json = kube::json;

/// A volume of the claim shop/data.
kube::Object volume(std::string_view phase, std::string_view policy = "Delete") {
  kube::Object made = parse(R"({"metadata": {"name": "pvc-c1"}, "spec": {"claimRef": {"namespace": "shop",
    "name": "data", "uid": "c1"}}, "status": {}})");
  made.set_annotation(annotations::provisioned_by, api::storage_provisioner);
  made.mutable_spec()["persistentVolumeReclaimPolicy"] = policy;
  made.mutable_status()["phase"] = phase;
  return made;
}

/// The volume with the notes of this version about where its data is.
kube::Object noted(kube::Object made, std::string_view cluster = "milan") {
  made.set_annotation(annotations::backing_claim, "shop-rome/data");
  made.set_annotation(annotations::backing_claim_uid, "r1");
  if (!cluster.empty()) made.set_annotation(annotations::backing_cluster, cluster);
  return made;
}

/// A volume as the Go version makes it.
kube::Object of_go(kube::Object made, std::string_view expression = R"({"key": "liqo.io/remote-cluster-id",
    "operator": "In", "values": ["milan"]})") {
  made.mutable_spec()["nodeAffinity"] =
      parse_value(R"({"required": {"nodeSelectorTerms": [{"matchExpressions": [)" + std::string(expression) + "]}]}}");
  return made;
}

kube::Object foreign(kube::Object made) {
  made.set_annotation(annotations::provisioned_by, "csi.example.org");
  return made;
}

/// A claim that was begun in milan.
kube::Object claim(std::string_view volume_name = "", std::string_view cluster = "milan",
                   std::string_view behind = "shop-rome/data") {
  kube::Object made = parse(R"({"metadata": {"name": "data", "namespace": "shop", "uid": "c1"}, "spec": {}})");
  if (!cluster.empty()) made.set_annotation(annotations::backing_cluster, cluster);
  if (!behind.empty()) made.set_annotation(annotations::backing_claim, behind);
  if (!volume_name.empty()) made.mutable_spec()["volumeName"] = volume_name;
  made.mutable_metadata()["finalizers"] = json::array{json::value(api::finalizers::storage_provisioning)};
  return made;
}

/// By an administrator, who gives it to another one.
kube::Object taken(kube::Object made) {
  made.mutable_spec().erase("claimRef");
  return made;
}

}  // namespace

TEST_CASE("a volume tells where its data is, until that is meant to go") {
  struct Case {
    const char* title;
    kube::Object volume;
    const char* expected;  ///< "cluster/twin", and what becomes of it
  };
  const Case cases[] = {
      {"ours", noted(volume("Bound")), "milan/shop-rome with claim"},
      {"ours, in this cluster", noted(volume("Bound"), ""), "none"},
      {"ours, of a claim that is gone: its data is there until it is removed", noted(volume("Released")),
       "milan/shop-rome"},
      {"ours, retained", noted(volume("Bound", "Retain")), "milan/shop-rome with claim, outlasts it"},
      {"ours, retained, its claim is gone", noted(volume("Released", "Retain")), "milan/shop-rome, outlasts it"},
      {"ours, retained, taken from its claim", taken(noted(volume("Available", "Retain"))),
       "milan/shop-rome, outlasts it"},
      {"of the Go version, taken from its claim", taken(of_go(volume("Available", "Retain"))), "none"},
      {"of the Go version", of_go(volume("Bound")), "milan/ with claim, outlasts it"},
      {"of the Go version, retained", of_go(volume("Released", "Retain")), "milan/, outlasts it"},
      {"of the Go version, to be deleted, which nobody does", of_go(volume("Released")), "none"},
      {"of the Go version, in this cluster",
       of_go(volume("Bound"), R"({"key": "liqo.io/type", "operator": "DoesNotExist"})"), "none"},
      {"for nodes of two clusters",
       of_go(volume("Bound"), R"({"key": "liqo.io/remote-cluster-id", "operator": "In", "values": ["a", "b"]})"),
       "none"},
      {"of somebody else", foreign(noted(volume("Bound"))), "none"},
      {"of somebody else, for virtual nodes", foreign(of_go(volume("Bound"))), "none"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const auto data = data_of_volume(c.volume);
    std::string text = "none";
    if (data)
      text = data->cluster + "/" + data->twin + (data->has_claim ? " with claim" : "") +
             (data->outlasts ? ", outlasts it" : "");
    CHECK(text == c.expected);
    if (!data) continue;
    const bool is_taken = c.volume.spec().if_contains("claimRef") == nullptr;
    CHECK(data->claim == (is_taken ? kube::ObjectKey{} : kube::ObjectKey{"shop", "data"}));
    CHECK(data->claim_uid == (is_taken ? "" : "c1"));
    CHECK(data->volume == "pvc-c1");
  }
}

TEST_CASE("a claim tells where it was begun, as long as it is bound to nothing else") {
  CHECK(data_of_claim(claim()) == RemoteData{.cluster = "milan",
                                             .twin = "shop-rome",
                                             .claim = {"shop", "data"},
                                             .claim_uid = "c1",
                                             .volume = {},
                                             .has_claim = true,
                                             .outlasts = false});
  CHECK(data_of_claim(claim("pvc-c1")));
  CHECK_FALSE(data_of_claim(claim("other")));
  // Whoever may write claims can write these annotations.
  kube::Object not_begun = claim();
  not_begun.mutable_metadata().erase("finalizers");
  CHECK_FALSE(data_of_claim(not_begun));
  CHECK_FALSE(data_of_claim(claim("", "")));
  CHECK_FALSE(data_of_claim(claim("", "milan", "")));
  CHECK_FALSE(data_of_claim(claim("", "milan", "no-namespace")));
}

TEST_CASE("what a volume says of a claim's data comes before what the claim says") {
  const RemoteData by_volume = *data_of_volume(noted(volume("Bound"), "turin"));
  RemoteData other = *data_of_claim(claim());
  other.claim_uid = "c2";
  CHECK(each_once({by_volume}, {*data_of_claim(claim()), other}) == std::vector<RemoteData>{by_volume, other});
}

TEST_CASE("claims are named, and many are counted") {
  std::vector<RemoteData> found{*data_of_volume(noted(volume("Bound"))),
                                *data_of_volume(noted(volume("Released", "Retain"), "turin"))};
  CHECK(in_words(found) ==
        "the PersistentVolumeClaims shop/data in milan, shop/data in turin (deleted, its volume pvc-c1 is retained)");
  found.assign(10, found.front());
  CHECK(in_words(found).ends_with(" and 2 more"));
}

}  // namespace liqo::core::storage
