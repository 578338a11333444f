// A provider and a consumer of slices over a fake API server, for tests of their controllers.
#pragma once

#include <doctest/doctest.h>

#include <map>

#include "../cluster_fixture.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/csr.hpp"
#include "core/peering/forge.hpp"
#include "core/slices/policy.hpp"
#include "kube/base/base64.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::testing {

inline json::object parsed(std::string_view text) {
  auto value = kube::parse_json(text);
  REQUIRE(value.has_value());
  return value->get_object();
}
inline std::string text(const json::object& object) {
  // Keys are sorted, so that texts can be compared.
  std::map<std::string, std::string> sorted;
  for (const auto& [key, value] : object) sorted[key] = json::serialize(value);
  std::string out;
  for (const auto& [key, value] : sorted) out += (out.empty() ? "" : ",") + key + "=" + value;
  return out;
}

/// Provider milan with a Tenant for rome, whose policy needs no handshake: the handshake has its own tests.
struct SliceProvider : ClusterFixture {
  explicit SliceProvider(std::string_view defaults = "cpu=4,memory=8Gi") : ClusterFixture("milan") {
    apply(kube::resources::namespaces, core::forge_tenant_namespace("rome"));
    kube::Object tenant = kube::Object::make(api::kinds::tenants, {ns, "rome"});
    tenant.mutable_spec() = parsed(R"({"clusterID": "rome", "authzPolicy": "TolerateNoHandshake"})");
    apply(api::kinds::tenants, tenant);
    REQUIRE(core::set_policy(settings.slices, "default-node-resources", defaults).has_value());
    ledger.emplace();
    start(settings);
  }
  ~SliceProvider() { stop(); }

  void add_slice(std::string_view request, std::string_view slice_class = "default", bool with_csr = true,
                 std::string_view name = "pool") {
    kube::Object slice = kube::Object::make(api::kinds::resource_slices, {ns, std::string(name)});
    slice.set_label(api::labels::replicated, "true");
    slice.set_label(api::labels::replication_origin, "rome");
    slice.set_label(api::labels::remote_cluster_id, "rome");
    slice.mutable_spec() =
        json::object{{"consumerClusterID", "rome"}, {"class", slice_class}, {"resources", parsed(request)}};
    if (with_csr)
      slice.mutable_spec()["csr"] =
          kube::encode_base64(*core::make_signing_request(rome, core::slice_name(name, "rome")));
    apply(api::kinds::resource_slices, slice);
  }
  void ask(std::string_view request, std::string_view name = "pool") {
    change(api::kinds::resource_slices, {ns, std::string(name)}, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["resources"] = parsed(request); });
  }
  void set_class(std::string_view slice_class) {
    change(api::kinds::resource_slices, slice_key, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["class"] = slice_class; });
  }
  void set_tenant(std::string_view condition) {
    change(api::kinds::tenants, {ns, "rome"}, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["tenantCondition"] = condition; });
  }
  void set_policy(std::string_view data) {
    kube::Object map = kube::Object::make(kube::resources::config_maps, {"liqo", "liqo-sharing-policy"});
    map.tree()["data"] = parsed(data);
    apply(kube::resources::config_maps, map);
  }
  void answer_as_custom(std::string_view status, std::string_view granted) {
    change(api::kinds::resource_slices, slice_key, "status", [&](json::object& next) {
      next["status"] = json::object{
          {"resources", parsed(granted)},
          {"conditions", json::array{json::object{{"type", "Resources"}, {"status", status}, {"reason", "Custom"}}}}};
    });
  }

  void set_pod_policy(std::string_view policy) {
    change(kube::resources::namespaces, {"", ns}, "",
           [&](json::object& next) { kube::testing::set_annotation(next, api::annotations::pod_policy, policy); });
  }
  /// A pod of a slice that runs here in the twin shop-rome, as if it had been admitted.
  void add_pod(const std::string& name, std::string_view cpu, std::string_view slice = "pool",
               std::int64_t grace = 30) {
    if (!has(kube::resources::namespaces, {"", "shop-rome"})) {
      kube::Object twin = kube::Object::make(kube::resources::namespaces, {"", "shop-rome"});
      twin.set_label(api::labels::remote_cluster_id, "rome");
      apply(kube::resources::namespaces, twin);
    }
    kube::Object shadow = kube::Object::make(api::kinds::shadow_pods, {"shop-rome", name});
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::creator_user, core::slice_user(slice, "rome"));
    const json::object container{
        {"name", "main"}, {"image", "shop:1"}, {"resources", json::object{{"requests", json::object{{"cpu", cpu}}}}}};
    shadow.mutable_spec()["pod"] = json::object{
        {"nodeName", "worker"}, {"terminationGracePeriodSeconds", grace}, {"containers", json::array{container}}};
    apply(api::kinds::shadow_pods, shadow);
    REQUIRE(reaches([&] { return has(kube::resources::pods, {"shop-rome", name}); }));
  }

  std::string granted(std::string_view name = "pool") {
    const auto quota = find(api::kinds::quotas, {ns, core::slice_user(name, "rome")});
    return quota ? text(api::Quota(*quota).resources()) : "";
  }
  bool is_cordoned() {
    const auto quota = find(api::kinds::quotas, quota_key);
    return quota && api::Quota(*quota).is_cordoned();
  }
  std::string shown() {
    const auto slice = find(api::kinds::resource_slices, slice_key);
    return slice ? text(api::ResourceSlice(*slice).granted()) : "";
  }
  /// "status reason" of a condition.
  std::string condition(std::string_view type = "Resources", std::string_view name = "pool") {
    const auto slice = find(api::kinds::resource_slices, {ns, std::string(name)});
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

/// Consumer rome with the tenant namespace of provider milan.
struct SliceConsumer : ClusterFixture {
  SliceConsumer() : ClusterFixture("rome") {
    apply(kube::resources::namespaces, core::forge_tenant_namespace("milan"));
    start();
    REQUIRE(reaches([&] { return has(kube::resources::secrets, {"liqo", "authentication-keys"}); }));
  }
  ~SliceConsumer() { stop(); }

  void add_slice(std::string_view name = "pool", std::string_view annotations = "{}") {
    kube::Object slice = kube::Object::make(api::kinds::resource_slices, {ns, std::string(name)});
    slice.set_label(api::labels::remote_cluster_id, "milan");
    slice.mutable_metadata()["annotations"] = parsed(annotations);
    slice.mutable_spec() = parsed(R"({"class": "default", "resources": {"cpu": "4"}})");
    apply(api::kinds::resource_slices, slice);
  }
  /// Milan's answer; the Identity is made from a certificate that does not matter here.
  void answer(std::string_view granted, std::string_view resources_status = "Accepted", std::string_view name = "pool",
              std::string_view more = "{}") {
    change(api::kinds::resource_slices, {ns, std::string(name)}, "status", [&](json::object& next) {
      json::object status = parsed(more);
      status["resources"] = parsed(granted);
      const auto own_key = *core::read_cluster_keys(*find(kube::resources::secrets, {"liqo", "authentication-keys"}));
      const kube::WallTime now = simulator.clock().wall();
      const std::string csr = *core::make_signing_request(own_key, core::slice_name(name, "rome"));
      status["authParams"] =
          json::object{{"ca", kube::encode_base64("CA of milan")},
                       {"signedCRT", kube::encode_base64(issue_certificate(csr, now, now + std::chrono::hours(1)))},
                       {"apiServer", "https://milan:6443"}};
      status["conditions"] = json::array{json::object{{"type", "Authentication"}, {"status", "Accepted"}},
                                         json::object{{"type", "Resources"}, {"status", resources_status}}};
      next["status"] = std::move(status);
    });
  }
  std::string capacity(std::string_view name = "pool") {
    const auto node = find(api::kinds::virtual_nodes, {ns, std::string(name)});
    return node ? text(kube::object_at(node->spec(), {"resourceQuota", "hard"})) : "";
  }

  const std::string ns = "liqo-tenant-milan";
  const kube::ObjectKey key{ns, "pool"};
};

inline constexpr const char* usual_grant = R"(cpu="8",memory="8Gi")";
inline constexpr const char* accepted = "Accepted ResourceSliceResourcesAccepted";
inline constexpr const char* denied = "Denied RequestDenied";
/// The condition when the provider accepts nothing new from a consumer.
inline constexpr const char* closed = "Denied ResourceSliceResourcesDenied";

}  // namespace liqo::testing
