// The rights of liqod in a tenant namespace, over a fake API server: they last as long as a Secret needs them.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

/// Consumer rome with the tenant namespace of milan, and credentials for it.
struct Consumer : ClusterFixture {
  Consumer() : ClusterFixture("rome") {
    apply(resources::namespaces, core::forge_tenant_namespace("milan"));
    start();
  }
  ~Consumer() { stop(); }

  void add_credentials() {
    kube::Object made = kube::Object::make(resources::secrets, secret);
    made.set_label(api::labels::identity_type, api::control_plane_identity);
    made.set_label(api::labels::remote_cluster_id, "milan");
    made.set_annotation(api::annotations::remote_tenant_namespace, "liqo-tenant-rome");
    apply(resources::secrets, made);
  }
  bool holds(const kube::Resource& kind, const kube::ObjectKey& key, std::string_view finalizer) {
    const auto found = find(kind, key);
    return found && found->has_finalizer(finalizer);
  }
  bool is_held() { return holds(kinds::role_bindings, binding, api::finalizers::tenant_namespace); }
  bool is_guarded() { return holds(resources::secrets, secret, api::finalizers::replication_credentials); }
  void remove(const kube::Resource& kind, const kube::ObjectKey& key) {
    static_cast<void>(server.remove(kind, key, {}, "namespace-controller"));
  }

  const std::string ns = "liqo-tenant-milan";
  const kube::ObjectKey secret{ns, "kubeconfig-controlplane-milan"}, binding{ns, std::string(core::own_tenant_role)};
};

}  // namespace

TEST_CASE("a tenant namespace that is deleted keeps our rights until its credentials are let go") {
  Consumer rome;
  REQUIRE(rome.reaches([&] { return rome.has(kinds::role_bindings, rome.binding); }));
  rome.pass(5s);
  CHECK_FALSE(rome.is_held());
  rome.add_credentials();
  REQUIRE(rome.reaches([&] { return rome.is_guarded(); }));
  CHECK(rome.is_held());

  // Something of it is still needed: an object that waits for its replica to go.
  kube::Object slice = kube::Object::make(kinds::resource_slices, {rome.ns, "pool"});
  slice.set_label(api::labels::replication, "true");
  slice.set_label(api::labels::replication_destination, "milan");
  slice.mutable_metadata()["finalizers"] = json::array{"example.com/wait", api::finalizers::replicated_object};
  rome.apply(kinds::resource_slices, slice);
  // The namespace's end takes them in any order; the rights come first here.
  rome.change(resources::namespaces, {"", rome.ns}, "",
              [](json::object& ns) { kube::ensure_object(ns, "metadata")["finalizers"] = json::array{"kubernetes"}; });
  rome.remove(resources::namespaces, {"", rome.ns});
  rome.remove(kinds::role_bindings, rome.binding);
  rome.pass(2s);
  CHECK(rome.has(kinds::role_bindings, rome.binding));
  rome.remove(resources::secrets, rome.secret);
  CHECK(rome.reaches([&] { return !rome.has(resources::secrets, rome.secret); }));
  CHECK(rome.reaches([&] { return !rome.has(kinds::role_bindings, rome.binding); }));
}

TEST_CASE("our rights outlast their deletion while there are credentials, and are made anew then") {
  Consumer rome;
  rome.add_credentials();
  REQUIRE(rome.reaches([&] { return rome.is_guarded() && rome.is_held(); }));
  // If it is removed by others, it is restored.
  rome.change(kinds::role_bindings, rome.binding, "",
              [](json::object& binding) { kube::ensure_object(binding, "metadata").erase("finalizers"); });
  REQUIRE(rome.reaches([&] { return rome.is_held(); }));
  const std::string before(rome.find(kinds::role_bindings, rome.binding)->uid());
  rome.remove(kinds::role_bindings, rome.binding);
  rome.pass(10s);
  CHECK(rome.is_held());
  CHECK(rome.find(kinds::role_bindings, rome.binding)->is_deleting());
  rome.remove(resources::secrets, rome.secret);
  CHECK(rome.reaches([&] {
    const auto now = rome.find(kinds::role_bindings, rome.binding);
    return now && now->uid() != before && !rome.is_held();
  }));
  CHECK_FALSE(rome.has(resources::secrets, rome.secret));
  const std::size_t writes = rome.writes();
  rome.pass(2min);
  CHECK(rome.writes() == writes);
}

}  // namespace liqo::testing
