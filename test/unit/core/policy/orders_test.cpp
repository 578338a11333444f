#include "core/policy/orders.hpp"

#include <doctest/doctest.h>

#include "../admission/reviews.hpp"
#include "core/admission/check_orders.hpp"
#include "core/admission/claims.hpp"
#include "core/policy/order_table.hpp"

using namespace liqo::core::admission;
using liqo::core::leave_at_home;
using liqo::core::leave_out_orders;
using liqo::core::Metadata;
using liqo::core::PodPolicy;
using liqo::core::read_pod_policy;
using liqo::core::take_out_notes;
using liqo::core::twin_kind;
using liqo::core::TwinKind;
using liqo::core::who_obeys;
using liqo::test::creating;
using liqo::test::updating;
namespace json = kube::json;

namespace {

std::string object(std::string_view part, std::string_view key, std::string_view value = "x") {
  return R"({"metadata":{"name":"o","namespace":"shop-rome",")" + std::string(part) + R"(":{")" + std::string(key) +
         R"(":")" + std::string(value) + R"("}},"spec":{"storageClassName":"gold"}})";
}

/// Whether a copy at home goes out without the key.
bool is_left_at_home(TwinKind kind, std::string_view part, std::string_view key, std::vector<std::string> kept = {}) {
  json::object metadata{{part, json::object{{key, "x"}, {"team", "a"}}}};
  leave_at_home(metadata, kind, kept);
  CHECK(metadata[part].as_object().contains("team"));
  return !metadata[part].as_object().contains(key);
}

/// Why the consumer's object is refused; "" = it is not.
std::string refusal(TwinKind kind, std::string_view part, std::string_view key, std::string_view policy = "") {
  const Request request = creating(object(part, key), "pool-1f", {"rome"});
  const PodPolicy read = read_pod_policy(policy).value();
  const std::string gold[] = {"gold"};
  const Answer answer =
      kind == TwinKind::claim ? check_claim(request, "rome", read, gold) : check_orders(request, "rome", kind, read);
  return answer.allowed ? "" : answer.message;
}

}  // namespace

TEST_CASE("keys by which controllers copy, fetch or load are refused unless the policy lists them") {
  struct Row {
    TwinKind kind;
    std::string_view part, key;
  };
  constexpr Row rows[] = {
      {TwinKind::secret, "annotations", "reflector.v1.k8s.emberstack.com/reflection-auto-enabled"},
      {TwinKind::secret, "annotations", "replicator.v1.mittwald.de/replicate-from"},
      {TwinKind::secret, "annotations", "kubed.appscode.com/sync"},
      {TwinKind::secret, "annotations", "secretgen.carvel.dev/image-pull-secret"},
      {TwinKind::secret, "annotations", "vault.security.banzaicloud.io/vault-addr"},
      {TwinKind::secret, "annotations", "cert-manager.io/allow-direct-injection"},
      {TwinKind::secret, "labels", "argocd.argoproj.io/secret-type"},
      {TwinKind::config_map, "annotations", "replicator.v1.mittwald.de/replicate-to"},
      {TwinKind::config_map, "annotations", "propagate.hnc.x-k8s.io/select"},
      {TwinKind::config_map, "labels", "grafana_dashboard"},
      {TwinKind::config_map, "labels", "grafana_datasource"},
      {TwinKind::config_map, "labels", "loki_rule"},
      {TwinKind::config_map, "labels", "openpolicyagent.org/policy"},
      {TwinKind::config_map, "annotations", "k8s-sidecar-target-directory"},
      {TwinKind::claim, "annotations", "nfs.io/storage-path"},
      {TwinKind::claim, "annotations", "cdi.kubevirt.io/storage.import.endpoint"},
      {TwinKind::claim, "annotations", "k8s.io/CloneRequest"},
      {TwinKind::claim, "annotations", "trident.netapp.io/importOriginalName"},
      {TwinKind::claim, "annotations", "volume.kubernetes.io/selected-node"},
      {TwinKind::claim, "labels", "recurring-job.longhorn.io/source"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.key);
    const bool is_label = row.part == "labels";
    const std::string said = refusal(row.kind, row.part, row.key);
    CHECK(said.contains((is_label ? "label " : "annotation ") + std::string(row.key) + " is an order to "));
    const std::string list = is_label ? "objectLabels" : "objectAnnotations";
    CHECK(said.ends_with("the policy key " + list + " would allow it"));
    CHECK(refusal(row.kind, row.part, row.key, R"({")" + list + R"(":[")" + std::string(row.key) + R"("]})") == "");
    CHECK(refusal(row.kind, row.part, row.key, R"({")" + list + R"(":["*"]})") == "");
    CHECK(refusal(row.kind, row.part, row.key, R"({"annotations":["*"],"labels":["*"]})") != "");
    CHECK(is_left_at_home(row.kind, row.part, row.key));
    CHECK_FALSE(is_left_at_home(row.kind, row.part, row.key, {std::string(row.key)}));
  }
  CHECK(refusal(TwinKind::config_map, "labels", "grafana_dashboard") ==
        "ConfigMap \"o\" may not be in this cluster: label grafana_dashboard is an order to the sidecar of Grafana, "
        "which "
        "loads dashboards and data sources from it; the policy key objectLabels would allow it");
}

TEST_CASE("what describes, and what nobody knows, passes; with strictMetadata only the former") {
  struct Row {
    TwinKind kind;
    std::string_view part, key;
    bool known;
  };
  constexpr Row rows[] = {
      {TwinKind::secret, "labels", "app.kubernetes.io/instance", true},
      {TwinKind::secret, "labels", "offloading.liqo.io/origin", true},
      {TwinKind::secret, "annotations", "offloading.liqo.io/service-account-for-pod-name", true},
      {TwinKind::secret, "annotations", "kubectl.kubernetes.io/last-applied-configuration", true},
      {TwinKind::secret, "labels", "team", true},
      {TwinKind::secret, "annotations", "cert-manager.io/certificate-name", false},
      {TwinKind::config_map, "annotations", "example.com/note", false},
      {TwinKind::claim, "annotations", "storage.liqo.io/backing-cluster", true},
      {TwinKind::claim, "labels", "velero.io/restore-name", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.key);
    CHECK(refusal(row.kind, row.part, row.key) == "");
    if (row.key != "team") CHECK_FALSE(is_left_at_home(row.kind, row.part, row.key));
    const std::string strict = refusal(row.kind, row.part, row.key, R"({"strictMetadata":true})");
    CHECK((strict == "") == row.known);
    if (!row.known)
      CHECK(strict.contains("is not known here, and strictMetadata of the policy refuses what is unknown"));
    const std::string list = row.part == "labels" ? "objectLabels" : "objectAnnotations";
    const std::string both = R"({"strictMetadata":true,")" + list + R"(":[")" + std::string(row.key) + R"("]})";
    CHECK(refusal(row.kind, row.part, row.key, both) == "");
  }
}

TEST_CASE("an order that is stored may stay as it is, others than the consumer give orders, and deletions pass") {
  const auto before = object("labels", "grafana_dashboard", "1"), after = object("labels", "grafana_dashboard", "2");
  const auto check = [](const Request& request) {
    return check_orders(request, "rome", TwinKind::config_map, {}).allowed;
  };
  CHECK(check(updating(before, before, "pool-1f", {"rome"})));
  CHECK_FALSE(check(updating(before, after, "pool-1f", {"rome"})));
  CHECK_FALSE(check(updating(object("labels", "team"), after, "pool-1f", {"rome"})));
  CHECK(check(creating(before, "admin", {"system:masters"})));
  CHECK_FALSE(check(creating(before, "rome", {"liqo.io"})));
  Request removal = creating(before, "pool-1f", {"rome"});
  removal.operation = Operation::remove;
  CHECK(check(removal));
}

TEST_CASE("Services and Ingresses go out with all keys, and are refused by their own") {
  CHECK_FALSE(is_left_at_home(TwinKind::service, "annotations", "metallb.io/loadBalancerIPs"));
  CHECK_FALSE(is_left_at_home(TwinKind::ingress, "annotations", "cert-manager.io/issuer"));
  CHECK(who_obeys(TwinKind::service, Metadata::labels, "istio.io/use-waypoint") == "Istio");
  CHECK(who_obeys(TwinKind::service, Metadata::labels, "acme.cert-manager.io/http01-solver") == "");
  CHECK(who_obeys(TwinKind::secret, Metadata::annotations, "metallb.io/loadBalancerIPs") == "");
  CHECK(twin_kind("secrets") == TwinKind::secret);
  CHECK(twin_kind("shadowendpointslices") == std::nullopt);
}

TEST_CASE("notes of controllers of home are told from their orders") {
  json::object metadata{{"annotations", json::object{{"metallb.io/ip-allocated-from-pool", "a"},
                                                     {"metallb.io/address-pool", "internal"},
                                                     {"kube-vip.io/vipHost", "n"},
                                                     {"note", "x"}}}};
  CHECK(take_out_notes(metadata) ==
        std::vector<std::string>{"metallb.io/ip-allocated-from-pool", "kube-vip.io/vipHost"});
  CHECK(metadata ==
        json::object{{"annotations", json::object{{"metallb.io/address-pool", "internal"}, {"note", "x"}}}});
  CHECK(take_out_notes(metadata).empty());
}

TEST_CASE("templates of claims run without orders, and what was left out is said") {
  const auto spec = [] {
    return json::parse(R"({"volumes":[{"name":"data","ephemeral":{"volumeClaimTemplate":{"metadata":{
        "labels":{"app":"a","recurring-job.longhorn.io/source":"enabled"},
        "annotations":{"nfs.io/storage-path":"../x","note":"y"}},"spec":{}}}},{"name":"other","emptyDir":{}},7]})")
        .as_object();
  };
  json::object strict = spec();
  CHECK(leave_out_orders(strict, {}) ==
        std::vector<std::string>{"label recurring-job.longhorn.io/source of the claim of volume data",
                                 "annotation nfs.io/storage-path of the claim of volume data"});
  const json::value& metadata = strict["volumes"]
                                    .as_array()[0]
                                    .as_object()["ephemeral"]
                                    .as_object()["volumeClaimTemplate"]
                                    .as_object()["metadata"];
  CHECK(metadata == json::value{{"labels", {{"app", "a"}}}, {"annotations", {{"note", "y"}}}});
  json::object listed = spec();
  CHECK(leave_out_orders(listed, {.object_annotations = {"nfs.io/*"}, .object_labels = {"*"}}).empty());
  CHECK(listed == spec());
}
