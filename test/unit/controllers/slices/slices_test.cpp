// Slices over a fake API server: what a provider grants, bounds and answers, and what a consumer makes of it.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/resource_slice.hpp"
#include "liqo/core/peering/csr.hpp"
#include "liqo/core/peering/forge.hpp"
#include "liqo/core/peering/names.hpp"
#include "liqo/core/slices/policy.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

json::object parsed(std::string_view text) {
  auto value = kube::parse_json(text);
  REQUIRE(value.has_value());
  return value->get_object();
}
std::string text(const json::object& object) {
  // Keys in order, so that texts can be compared.
  std::map<std::string, std::string> sorted;
  for (const auto& [key, value] : object) sorted[key] = json::serialize(value);
  std::string out;
  for (const auto& [key, value] : sorted) out += (out.empty() ? "" : ",") + key + "=" + value;
  return out;
}

/// Provider milan with a Tenant for rome, whose policy needs no handshake: the handshake has its own tests.
struct Provider : ClusterFixture {
  explicit Provider(std::string_view defaults = "cpu=4,memory=8Gi") : ClusterFixture("milan") {
    apply(resources::namespaces, core::forge_tenant_namespace("rome"));
    kube::Object tenant = kube::Object::make(kinds::tenants, {ns, "rome"});
    tenant.mutable_spec() = parsed(R"({"clusterID": "rome", "authzPolicy": "TolerateNoHandshake"})");
    apply(kinds::tenants, tenant);
    REQUIRE(core::set_policy(settings.slices, "default-node-resources", defaults).has_value());
    start(settings);
  }
  ~Provider() { stop(); }

  void add_slice(std::string_view request, std::string_view slice_class = "default", bool with_csr = true) {
    kube::Object slice = kube::Object::make(kinds::resource_slices, slice_key);
    slice.set_label(api::labels::replicated, "true");
    slice.set_label(api::labels::replication_origin, "rome");
    slice.set_label(api::labels::remote_cluster_id, "rome");
    slice.mutable_spec() =
        json::object{{"consumerClusterID", "rome"}, {"class", slice_class}, {"resources", parsed(request)}};
    if (with_csr)
      slice.mutable_spec()["csr"] =
          kube::encode_base64(*core::make_signing_request(rome, core::slice_name("pool", "rome")));
    apply(kinds::resource_slices, slice);
  }
  void ask(std::string_view request) {
    change(kinds::resource_slices, slice_key, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["resources"] = parsed(request); });
  }
  void set_class(std::string_view slice_class) {
    change(kinds::resource_slices, slice_key, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["class"] = slice_class; });
  }
  void set_tenant(std::string_view condition) {
    change(kinds::tenants, {ns, "rome"}, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["tenantCondition"] = condition; });
  }
  void set_policy(std::string_view data) {
    kube::Object map = kube::Object::make(resources::config_maps, {"liqo", "liqo-sharing-policy"});
    map.tree()["data"] = parsed(data);
    apply(resources::config_maps, map);
  }
  void answer_as_custom(std::string_view status, std::string_view granted) {
    change(kinds::resource_slices, slice_key, "status", [&](json::object& next) {
      next["status"] = json::object{
          {"resources", parsed(granted)},
          {"conditions", json::array{json::object{{"type", "Resources"}, {"status", status}, {"reason", "Custom"}}}}};
    });
  }

  std::string granted() {
    const auto quota = find(kinds::quotas, quota_key);
    return quota ? text(api::Quota(*quota).resources()) : "";
  }
  bool is_cordoned() {
    const auto quota = find(kinds::quotas, quota_key);
    return quota && api::Quota(*quota).is_cordoned();
  }
  std::string shown() {
    const auto slice = find(kinds::resource_slices, slice_key);
    return slice ? text(api::ResourceSlice(*slice).granted()) : "";
  }
  /// "status reason" of a condition.
  std::string condition(std::string_view type = "Resources") {
    const auto slice = find(kinds::resource_slices, slice_key);
    if (!slice) return "";
    const auto found = api::ResourceSlice(*slice).condition(type);
    return found ? std::string(found->status) + " " + std::string(found->reason) : "";
  }
  bool settles_as(std::string_view wanted) {
    return reaches([&] { return granted() == wanted && shown() == wanted; });
  }

  const std::string ns = "liqo-tenant-rome";
  const kube::ObjectKey slice_key{ns, "pool"};
  const kube::ObjectKey quota_key{ns, core::slice_user("pool", "rome")};
  const core::PrivateKey rome = *core::PrivateKey::make_ed25519(
      [](std::size_t size) -> kube::Result<std::string> { return std::string(size, 'r'); });
  controllers::Settings settings;
};

const char* const usual = R"(cpu="8",memory="8Gi")";
const char* const accepted = "Accepted ResourceSliceResourcesAccepted";
const char* const denied = "Denied ResourceSliceResourcesDenied";

}  // namespace

TEST_CASE("a slice gets a Quota, an answer and a certificate, and then costs nothing") {
  Provider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual));
  CHECK(milan.reaches([&] { return milan.condition() == accepted; }));
  CHECK(milan.reaches(
      [&] { return milan.condition("Authentication") == "Accepted ResourceSliceAuthenticationAccepted"; }));
  const auto slice = milan.find(kinds::resource_slices, milan.slice_key);
  CHECK(kube::string_at(slice->status(), {"authParams", "apiServer"}) == "https://milan:6443");
  const auto quota = milan.find(kinds::quotas, milan.quota_key);
  CHECK(api::Quota(*quota).user() == milan.quota_key.name);
  CHECK(api::Quota(*quota).enforcement() == "None");
  CHECK_FALSE(api::Quota(*quota).is_cordoned());
  REQUIRE(quota->controller());
  CHECK(quota->controller()->uid == slice->uid());
  milan.pass(5s);
  const std::size_t before = milan.writes();
  milan.pass(1h);
  CHECK(milan.writes() == before);

  // Deleting the slice leaves nothing.
  static_cast<void>(milan.server.remove(kinds::resource_slices, milan.slice_key, {}, "rome"));
  CHECK(milan.reaches([&] { return !milan.has(kinds::quotas, milan.quota_key); }));
}

TEST_CASE("edits are negotiated anew, new defaults are not, and removed keys go") {
  Provider milan;
  milan.add_slice(R"({"cpu": "8", "nvidia.com/gpu": "1"})");
  REQUIRE(milan.settles_as(R"(cpu="8",memory="8Gi",nvidia.com/gpu="1")"));
  milan.set_policy(R"({"default-node-resources": "cpu=1,memory=1Gi"})");
  milan.pass(10s);
  CHECK(milan.granted() == R"(cpu="8",memory="8Gi",nvidia.com/gpu="1")");
  milan.ask(R"({"cpu": "8000m", "nvidia.com/gpu": 1})");
  milan.pass(10s);
  CHECK(milan.granted() == R"(cpu="8",memory="8Gi",nvidia.com/gpu="1")");
  milan.ask("{}");
  CHECK(milan.settles_as(R"(cpu="1",memory="1Gi")"));
}

TEST_CASE("a request that is denied leaves what was granted before, on both sides") {
  Provider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual));
  milan.ask(R"({"cpu": "-1"})");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied InvalidRequest"; }));
  CHECK(milan.reaches([&] { return !milan.events("InvalidRequest").empty(); }));
  CHECK(milan.granted() == usual);
  CHECK(milan.shown() == usual);
  // W26: cordoning works all the same.
  milan.change(kinds::resource_slices, milan.slice_key, "", [](json::object& next) {
    kube::ensure_object(kube::ensure_object(next, "metadata"), "annotations")["liqo.io/cordoned-resource"] = "true";
  });
  CHECK(milan.reaches([&] { return milan.is_cordoned(); }));
  CHECK(milan.condition() == "Denied InvalidRequest");
}

TEST_CASE("a policy bounds what a consumer is granted, and a denied edit changes no quota") {
  Provider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual));
  milan.change(resources::namespaces, {"", milan.ns}, "", [](json::object& next) {
    kube::ensure_object(kube::ensure_object(next, "metadata"), "annotations")["liqo.io/pod-policy"] =
        R"({"maxSliceResources": {"cpu": "9"}, "maxResources": {"memory": "8Gi"}})";
  });
  milan.pass(5s);
  milan.ask(R"({"cpu": "10"})");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied ResourceSliceResourcesDenied"; }));
  CHECK(milan.granted() == usual);
  REQUIRE(milan.reaches([&] { return !milan.events("ResourceSliceResourcesDenied").empty(); }));
  CHECK(milan.events("ResourceSliceResourcesDenied").back().find("no more than 9 of cpu") != std::string::npos);
  milan.ask(R"({"cpu": "9"})");
  CHECK(milan.settles_as(R"(cpu="9",memory="8Gi")"));
  milan.ask(R"({"cpu": "9", "memory": "9Gi"})");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied ResourceSliceResourcesDenied"; }));
  // An administrator who allows more is heard at once.
  milan.change(resources::namespaces, {"", milan.ns}, "", [](json::object& next) {
    kube::ensure_object(kube::ensure_object(next, "metadata"), "annotations").erase("liqo.io/pod-policy");
  });
  CHECK(milan.settles_as(R"(cpu="9",memory="9Gi")"));
}

TEST_CASE("what a tenant writes into its slice's status or onto its Quota's name grants nothing") {
  Provider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual));
  milan.change(kinds::resource_slices, milan.slice_key, "status", [](json::object& next) {
    kube::ensure_object(next, "status")["resources"] = json::object{{"cpu", "8000"}};
  });
  CHECK(milan.settles_as(usual));
  // Taking the labels of replication off does not take the slice out of the provider's hands.
  milan.change(kinds::resource_slices, milan.slice_key, "",
               [](json::object& next) { kube::ensure_object(next, "metadata")["labels"] = json::object{}; });
  milan.set_tenant("Cordoned");
  CHECK(milan.reaches([&] { return milan.is_cordoned(); }));
  // Nor does naming another consumer.
  milan.change(kinds::resource_slices, milan.slice_key, "", [](json::object& next) {
    json::object& spec = kube::ensure_object(next, "spec");
    spec["consumerClusterID"] = "paris";
    spec["resources"] = json::object{{"cpu", "800"}};
  });
  milan.set_tenant("Active");
  CHECK(milan.reaches([&] { return !milan.events("WrongConsumer").empty(); }));
  CHECK(milan.granted() == usual);
}

TEST_CASE("cordon and drain of a tenant, and back") {
  Provider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual));
  milan.set_tenant("Cordoned");
  CHECK(milan.reaches([&] { return milan.is_cordoned() && milan.condition() == "Accepted ResourceSliceCordoned"; }));
  milan.ask(R"({"cpu": "9"})");
  milan.pass(10s);
  CHECK(milan.granted() == usual);
  milan.set_tenant("Active");
  CHECK(milan.settles_as(R"(cpu="9",memory="8Gi")"));
  CHECK(milan.reaches([&] { return !milan.is_cordoned() && milan.condition() == accepted; }));
  milan.set_tenant("Drained");
  CHECK(milan.reaches([&] { return milan.is_cordoned() && milan.condition() == denied; }));
  CHECK(milan.granted() == R"(cpu="9",memory="8Gi")");
  CHECK(milan.shown() == R"(cpu="9",memory="8Gi")");
  milan.set_tenant("Active");
  CHECK(milan.reaches([&] { return !milan.is_cordoned() && milan.condition() == accepted; }));
}

TEST_CASE("a slice that comes while its tenant is cordoned is denied until it is active") {
  Provider milan;
  milan.set_tenant("Cordoned");
  milan.add_slice("{}");
  CHECK(milan.reaches([&] { return milan.condition() == denied; }));
  CHECK_FALSE(milan.has(kinds::quotas, milan.quota_key));
  milan.set_tenant("Active");
  CHECK(milan.settles_as(R"(cpu="4",memory="8Gi")"));
}

TEST_CASE("the strictness of Quotas, and the default class, can be switched while liqod runs") {
  Provider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual));
  milan.set_policy(R"({"default-limits-enforcement": "Hard", "sharing-percentage": "many"})");
  CHECK(milan.reaches([&] { return api::Quota(*milan.find(kinds::quotas, milan.quota_key)).enforcement() == "Hard"; }));
  CHECK(milan.reaches([&] { return !milan.events("SettingNotTaken").empty(); }));
  milan.set_policy(R"({"default-resource-slice-class-enabled": "false"})");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied DefaultResourceSliceClassDisabled"; }));
  CHECK(milan.granted() == usual);
}

TEST_CASE("a custom class is its controller's: the Quota follows, and a drain comes and goes") {
  Provider milan;
  milan.add_slice(R"({"cpu": "8"})", "gold");
  milan.pass(10s);
  CHECK(milan.condition() == "");
  CHECK_FALSE(milan.has(kinds::quotas, milan.quota_key));
  milan.answer_as_custom("Accepted", R"({"cpu": "2"})");
  CHECK(milan.reaches([&] { return milan.granted() == R"(cpu="2")"; }));
  CHECK(milan.condition() == "Accepted Custom");
  milan.answer_as_custom("Denied", R"({"cpu": "1"})");
  milan.pass(10s);
  CHECK(milan.granted() == R"(cpu="2")");
  CHECK(milan.condition() == "Denied Custom");
  milan.answer_as_custom("Accepted", R"({"cpu": "3"})");
  CHECK(milan.reaches([&] { return milan.granted() == R"(cpu="3")"; }));
  milan.set_tenant("Drained");
  CHECK(milan.reaches([&] { return milan.is_cordoned() && milan.condition() == "Denied TenantDrained"; }));
  // Its controller has another view: nobody fights, the Quota stays cordoned.
  milan.answer_as_custom("Accepted", R"({"cpu": "3"})");
  milan.pass(1min);
  CHECK(milan.condition() == "Accepted Custom");
  CHECK(milan.is_cordoned());
  milan.set_tenant("Active");
  CHECK(milan.reaches([&] { return !milan.is_cordoned(); }));
  CHECK(milan.granted() == R"(cpu="3")");
  // A class that goes back to the built-in one is negotiated anew.
  milan.set_class("default");
  CHECK(milan.settles_as(usual));
}

TEST_CASE("a share follows the nodes and pods of the provider, but not the consumer's own pods") {
  Provider milan;
  const auto add_node = [&](std::string_view name, std::string_view cpu) {
    kube::Object node = kube::Object::make(resources::nodes, {"", std::string(name)});
    node.mutable_status() = parsed(R"({"allocatable": {"cpu": ")" + std::string(cpu) +
                                   R"("}, "conditions": [{"type": "Ready", "status": "True"}]})");
    milan.apply(resources::nodes, node);
  };
  const auto add_pod = [&](std::string_view ns, std::string_view name, std::string_view cpu, bool offloaded) {
    kube::Object pod = kube::Object::make(resources::pods, {std::string(ns), std::string(name)});
    if (offloaded) pod.set_label(api::labels::managed_by, api::labels::managed_by_shadow_pod);
    pod.mutable_spec() = parsed(R"({"nodeName": "n1", "containers": [{"name": "c", "image": "i", "resources":
      {"requests": {"cpu": ")" + std::string(cpu) +
                                R"("}}}]})");
    milan.apply(resources::pods, pod);
  };
  const auto cpu_is = [&](std::string_view cpu) {
    const std::string wanted = "cpu=\"" + std::string(cpu) + "\"";
    return milan.reaches([&] { return milan.granted() == wanted && milan.shown() == wanted; });
  };
  add_node("n1", "100");
  kube::Object twin = kube::Object::make(resources::namespaces, {"", "shop-rome"});
  twin.set_label(api::labels::remote_cluster_id, "rome");
  milan.apply(resources::namespaces, twin);
  milan.add_slice("{}", "share");
  CHECK(cpu_is("90"));
  add_pod("shop", "own", "50", false);
  CHECK(cpu_is("45"));
  add_pod("shop-rome", "theirs", "40", true);
  milan.pass(30s);
  CHECK(cpu_is("45"));
  static_cast<void>(milan.server.remove(resources::pods, {"shop", "own"}, {.grace_period_seconds = 0}, "operator"));
  add_node("n2", "100");
  CHECK(cpu_is("180"));
  // A small change waits until ten seconds were quiet.
  add_pod("shop", "small", "2", false);
  milan.pass(9s);
  CHECK(cpu_is("180"));
  milan.pass(2s);
  CHECK(milan.granted() == R"(cpu="178200m")");
  milan.set_policy(R"({"sharing-percentage": "50"})");
  CHECK(cpu_is("99"));
  milan.change(kinds::tenants, {milan.ns, "rome"}, "", [](json::object& next) {
    kube::ensure_object(kube::ensure_object(next, "metadata"), "annotations")["liqo.io/sharing-percentage"] = "10";
  });
  CHECK(milan.reaches([&] { return milan.granted() == R"(cpu="19800m")"; }));
  milan.ask(R"({"cpu": "3"})");
  CHECK(cpu_is("3"));
}

TEST_CASE("consumers are told what the machines are, at once and when that changes") {
  Provider milan;
  const auto set_node = [&](std::string_view name, std::string_view architecture) {
    kube::Object node = kube::Object::make(resources::nodes, {"", std::string(name)});
    node.set_label("kubernetes.io/arch", architecture);
    milan.apply(resources::nodes, node);
  };
  const auto told = [&] {
    const auto slice = milan.find(kinds::resource_slices, milan.slice_key);
    return std::string(kube::string_at(slice->status(), {"nodeLabels", "kubernetes.io/arch"}));
  };
  set_node("n1", "arm64");
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.reaches([&] { return milan.condition() == accepted; }));
  CHECK(told() == "arm64");
  set_node("n2", "amd64");
  CHECK(milan.reaches([&] { return told().empty(); }));
  milan.set_policy(R"({"cluster-labels": "kubernetes.io/arch=riscv64"})");
  CHECK(milan.reaches([&] { return told() == "riscv64"; }));
  CHECK(milan.server.remove(resources::config_maps, {"liqo", "liqo-sharing-policy"}, {}, "operator").has_value());
  CHECK(milan.reaches([&] { return told().empty(); }));
  CHECK(milan.server.remove(resources::nodes, {"", "n1"}, {}, "operator").has_value());
  CHECK(milan.reaches([&] { return told() == "amd64"; }));
  milan.pass(5s);
  const std::size_t before = milan.writes();
  milan.pass(1h);
  CHECK(milan.writes() == before);
}

TEST_CASE("a signing request for more than the slice is refused, a signer that is silent denies nothing") {
  Provider milan;
  milan.signer.silent = true;
  milan.add_slice("{}");
  milan.pass(1min);
  CHECK(milan.condition("Authentication") == "");
  CHECK(milan.condition() == accepted);
  milan.signer.silent = false;
  CHECK(milan.reaches([&] { return !milan.condition("Authentication").empty(); }, 5min));
  CHECK(milan.condition("Authentication") == "Accepted ResourceSliceAuthenticationAccepted");
  milan.change(kinds::resource_slices, milan.slice_key, "", [&](json::object& next) {
    kube::ensure_object(next, "spec")["csr"] =
        kube::encode_base64(*core::make_signing_request(milan.rome, core::slice_name("other", "rome")));
  });
  CHECK(milan.reaches([&] { return milan.condition("Authentication") == "Denied ResourceSliceAuthenticationDenied"; }));
  CHECK(milan.reaches([&] { return !milan.events("InvalidCSR").empty(); }));
}

TEST_CASE("the Quota of an earlier slice of the same name is not inherited") {
  Provider milan;
  kube::Object stale = kube::Object::make(kinds::quotas, milan.quota_key);
  stale.mutable_spec() = parsed(R"({"user": "pool", "resources": {"cpu": "999"}})");
  stale.add_owner_reference({.api_version = kinds::resource_slices.api_version(),
                             .kind = "ResourceSlice",
                             .name = "pool",
                             .uid = "an-earlier-one",
                             .controller = true,
                             .block_owner_deletion = true});
  milan.apply(kinds::quotas, stale);
  milan.add_slice(R"({"cpu": "8"})");
  CHECK(milan.settles_as(usual));
}

namespace {

/// Consumer rome with the tenant namespace of provider milan.
struct Consumer : ClusterFixture {
  Consumer() : ClusterFixture("rome") {
    apply(resources::namespaces, core::forge_tenant_namespace("milan"));
    start();
    REQUIRE(reaches([&] { return has(resources::secrets, {"liqo", "authentication-keys"}); }));
  }
  ~Consumer() { stop(); }

  void add_slice(std::string_view name = "pool", std::string_view annotations = "{}") {
    kube::Object slice = kube::Object::make(kinds::resource_slices, {ns, std::string(name)});
    slice.set_label(api::labels::remote_cluster_id, "milan");
    slice.mutable_metadata()["annotations"] = parsed(annotations);
    slice.mutable_spec() = parsed(R"({"class": "default", "resources": {"cpu": "4"}})");
    apply(kinds::resource_slices, slice);
  }
  /// What milan answers; the Identity is made of a certificate that is not looked at here.
  void answer(std::string_view granted, std::string_view resources_status = "Accepted", std::string_view name = "pool",
              std::string_view more = "{}") {
    change(kinds::resource_slices, {ns, std::string(name)}, "status", [&](json::object& next) {
      json::object status = parsed(more);
      status["resources"] = parsed(granted);
      const auto own_key = *core::read_cluster_keys(*find(resources::secrets, {"liqo", "authentication-keys"}));
      const kube::WallTime now = simulator.clock().wall();
      const std::string csr = *core::make_signing_request(own_key, core::slice_name(name, "rome"));
      status["authParams"] = json::object{{"ca", kube::encode_base64("CA of milan")},
                                          {"signedCRT", kube::encode_base64(issue_certificate(csr, now, now + 1h))},
                                          {"apiServer", "https://milan:6443"}};
      status["conditions"] = json::array{json::object{{"type", "Authentication"}, {"status", "Accepted"}},
                                         json::object{{"type", "Resources"}, {"status", resources_status}}};
      next["status"] = std::move(status);
    });
  }
  std::string capacity(std::string_view name = "pool") {
    const auto node = find(kinds::virtual_nodes, {ns, std::string(name)});
    return node ? text(kube::object_at(node->spec(), {"resourceQuota", "hard"})) : "";
  }

  const std::string ns = "liqo-tenant-milan";
  const kube::ObjectKey key{ns, "pool"};
};

}  // namespace

TEST_CASE("a slice with only the label of its provider is completed and signed for") {
  Consumer rome;
  rome.add_slice();
  const auto complete = [&] {
    const auto slice = rome.find(kinds::resource_slices, rome.key);
    return slice && !api::ResourceSlice(*slice).csr().empty();
  };
  REQUIRE(rome.reaches(complete));
  const auto slice = rome.find(kinds::resource_slices, rome.key);
  const api::ResourceSlice view(*slice);
  CHECK(view.consumer() == "rome");
  CHECK(view.provider() == "milan");
  CHECK(slice->label(api::labels::replication) == "true");
  CHECK(slice->label(api::labels::replication_destination) == "milan");
  const auto csr = core::read_signing_request(*kube::decode_base64(view.csr()));
  REQUIRE(csr);
  CHECK(csr->name == core::slice_name("pool", "rome"));
  rome.pass(5s);
  const std::size_t before = rome.writes();
  rome.pass(1h);
  CHECK(rome.writes() == before);

  kube::Object lost = kube::Object::make(kinds::resource_slices, {rome.ns, "lost"});
  lost.set_label(api::labels::remote_cluster_id, "turin");
  rome.apply(kinds::resource_slices, lost);
  CHECK(rome.reaches([&] { return !rome.events("InvalidResourceSlice").empty(); }));
}

TEST_CASE("a slice of a class that is not Liqo's says who has to answer") {
  Consumer rome;
  rome.add_slice();
  kube::Object gold = kube::Object::make(kinds::resource_slices, {rome.ns, "rare"});
  gold.set_label(api::labels::remote_cluster_id, "milan");
  gold.mutable_spec() = parsed(R"({"class": "gold"})");
  rome.apply(kinds::resource_slices, gold);
  CHECK(rome.reaches([&] { return !rome.events("WaitingForClass").empty(); }));
  rome.pass(5s);
  CHECK(rome.events("WaitingForClass").size() == 1);
  CHECK(rome.events("WaitingForClass").front().find("class gold") != std::string::npos);
}

TEST_CASE("an accepted slice becomes a VirtualNode that follows it, and keeps its size when a request is denied") {
  Consumer rome;
  rome.add_slice();
  rome.add_slice("gpu");
  rome.add_slice("none", R"({"liqo.io/create-virtual-node": "false"})");
  rome.pass(2s);
  CHECK_FALSE(rome.has(kinds::virtual_nodes, rome.key));
  rome.answer(R"({"cpu": "4"})", "Accepted", "pool", R"({"nodeLabels": {"region": "eu"}})");
  rome.answer(R"({"cpu": "1", "nvidia.com/gpu": "2"})", "Accepted", "gpu");
  rome.answer(R"({"cpu": "1"})", "Accepted", "none");
  CHECK(rome.reaches([&] { return rome.capacity() == R"(cpu="4")"; }));
  CHECK(rome.reaches([&] { return rome.capacity("gpu") == R"(cpu="1",nvidia.com/gpu="2")"; }));
  const auto node = rome.find(kinds::virtual_nodes, rome.key);
  CHECK(kube::string_at(node->spec(), {"kubeconfigSecretRef", "name"}) == "kubeconfig-resourceslice-pool");
  CHECK(kube::string_at(node->spec(), {"labels", "region"}) == "eu");
  rome.answer(R"({"cpu": "6"})");
  CHECK(rome.reaches([&] { return rome.capacity() == R"(cpu="6")"; }));
  CHECK(rome.reaches([&] {
    return !kube::object_at(rome.find(kinds::virtual_nodes, rome.key)->spec(), {"labels"}).contains("region");
  }));
  rome.answer(R"({"cpu": "1"})", "Denied");
  rome.pass(10s);
  CHECK(rome.capacity() == R"(cpu="6")");
  CHECK_FALSE(rome.has(kinds::virtual_nodes, {rome.ns, "none"}));
}

TEST_CASE("a deleted slice stays, with its identity, until its virtual nodes are gone") {
  Consumer rome;
  rome.add_slice();
  rome.answer(R"({"cpu": "4"})");
  REQUIRE(rome.reaches([&] { return rome.has(kinds::virtual_nodes, rome.key); }));
  // A second node that shares the slice, and that something holds.
  kube::Object second = kube::Object::make(kinds::virtual_nodes, {rome.ns, "second"});
  second.set_label(api::labels::resource_slice_name, "pool");
  second.mutable_metadata()["finalizers"] = json::array{"example.com/drain"};
  rome.apply(kinds::virtual_nodes, second);
  static_cast<void>(rome.server.remove(kinds::resource_slices, rome.key, {}, "operator"));
  CHECK(rome.reaches([&] { return !rome.has(kinds::virtual_nodes, rome.key); }));
  rome.pass(10s);
  CHECK(rome.has(kinds::resource_slices, rome.key));
  CHECK(rome.has(kinds::identities, {rome.ns, "resourceslice-pool"}));
  rome.change(kinds::virtual_nodes, {rome.ns, "second"}, "",
              [](json::object& next) { kube::ensure_object(next, "metadata")["finalizers"] = json::array{}; });
  CHECK(rome.reaches([&] { return !rome.has(kinds::resource_slices, rome.key); }));
  CHECK(rome.reaches([&] { return !rome.has(kinds::identities, {rome.ns, "resourceslice-pool"}); }));
}

TEST_CASE("a VirtualNode that is wanted no more goes, one that a user made is left alone") {
  Consumer rome;
  rome.add_slice();
  rome.answer(R"({"cpu": "4"})");
  REQUIRE(rome.reaches([&] { return rome.has(kinds::virtual_nodes, rome.key); }));
  rome.add_slice("pool", R"({"liqo.io/create-virtual-node": "false"})");
  CHECK(rome.reaches([&] { return !rome.has(kinds::virtual_nodes, rome.key); }));

  kube::Object own = kube::Object::make(kinds::virtual_nodes, {rome.ns, "mine"});
  own.mutable_spec()["clusterID"] = "milan";
  rome.apply(kinds::virtual_nodes, own);
  rome.add_slice("mine");
  rome.answer(R"({"cpu": "4"})", "Accepted", "mine");
  CHECK(rome.reaches([&] { return !rome.events("VirtualNodeExists").empty(); }));
  CHECK(rome.capacity("mine") == "");
}

}  // namespace liqo::testing
