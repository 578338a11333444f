// Sessions with a provider that lose a worker by an exception: they are restarted, with pauses, and that is reported.
#include <doctest/doctest.h>

#include <stdexcept>

#include "../cluster_fixture.hpp"
#include "controllers/links/session_workers.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "kube/base/url.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace labels = api::labels;
namespace resources = kube::resources;

/// Requests whose path ends like this throw, that many times.
struct Bug {
  std::string path;
  int left = 0;
};

/// A link with a bug in it.
class BuggyLink final : public PlainLink {
 public:
  BuggyLink(kube::testing::SimLink& link, Bug& bug) : PlainLink(link), bug_(bug) {}
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline deadline) override {
    const std::string path(kube::path_of(request.target));
    if (bug_.left > 0 && path.ends_with(bug_.path)) {
      --bug_.left;
      throw std::runtime_error("a bug");
    }
    co_return co_await PlainLink::send(std::move(request), deadline);
  }

 private:
  Bug& bug_;
};

const std::string tenant = core::tenant_namespace_name("milan");

/// Consumer rome with a virtual node of provider milan, and a slice that is replicated to it.
struct Consumer : ClusterFixture {
  Consumer() : ClusterFixture("rome"), milan(simulator.clock()), to_milan(simulator, milan, "rome") {
    for (const kube::Resource& kind :
         {kinds::namespace_maps, kinds::resource_slices, kinds::renews, kinds::shadow_pods})
      milan.serve(kind);
    connect = [this](const std::string&,
                     const kube::Object& secret) -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
      const bool replicates = secret.label(labels::identity_type) == api::control_plane_identity;
      ++(replicates ? replications : offloadings);
      return std::make_unique<BuggyLink>(to_milan, replicates ? replication_bug : offloading_bug);
    };
    kube::Object ns = core::forge_tenant_namespace("milan");
    ns.set_label(labels::remote_cluster_id, "milan");
    apply(resources::namespaces, ns);
    kube::Object identity = kube::Object::make(resources::secrets, {tenant, "kubeconfig-controlplane-milan"});
    identity.set_label(labels::remote_cluster_id, "milan");
    identity.set_label(labels::identity_type, api::control_plane_identity);
    identity.set_annotation(api::annotations::remote_tenant_namespace, "liqo-tenant-rome");
    apply(resources::secrets, identity);
    apply(resources::secrets, kube::Object::make(resources::secrets, {tenant, "kubeconfig"}));
    kube::Object node = kube::Object::make(kinds::virtual_nodes, node_key);
    const json::object hard{{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};
    node.mutable_spec() = json::object{{"clusterID", "milan"},
                                       {"createNode", true},
                                       {"kubeconfigSecretRef", json::object{{"name", "kubeconfig"}}},
                                       {"resourceQuota", json::object{{"hard", hard}}}};
    apply(kinds::virtual_nodes, node);
    start();
  }
  ~Consumer() { stop(); }

  void give_slice() {
    kube::Object slice = kube::Object::make(kinds::resource_slices, {tenant, "pool"});
    slice.set_label(labels::replication, "true");
    slice.set_label(labels::replication_destination, "milan");
    slice.set_label(labels::remote_cluster_id, "milan");
    slice.mutable_spec() = json::object{
        {"class", "custom"}, {"consumerClusterID", "rome"}, {"providerClusterID", "milan"}, {"csr", "Q1NS"}};
    apply(kinds::resource_slices, slice);
  }
  bool is_node_ready() {
    const auto node = find(resources::nodes, {"", "milan"});
    if (!node) return false;
    for (const json::value& condition : kube::array_at(node->tree(), {"status", "conditions"}))
      if (kube::string_at(condition, {"type"}) == "Ready") return kube::string_at(condition, {"status"}) == "True";
    return false;
  }
  bool metrics_have(const std::string& line) const { return metrics().find(line) != std::string::npos; }

  const kube::ObjectKey node_key{tenant, "milan"};
  kube::testing::FakeApiServer milan;
  kube::testing::SimLink to_milan;
  Bug offloading_bug, replication_bug;
  int offloadings = 0, replications = 0;
};

}  // namespace

TEST_CASE("pauses between lost sessions grow, and begin anew after a session that lived long") {
  kube::Random random(1);
  controllers::SessionRestarts restarts;
  kube::TimePoint now{1h};
  kube::Duration before{};
  for (int losses = 1; losses <= 12; ++losses) {
    restarts.begin(now);
    now += 1s;
    const kube::Duration pause = restarts.lose(now, random);
    CHECK(restarts.is_repeated() == (losses > 1));
    CHECK(pause >= 750ms);
    CHECK(pause <= 5min);
    if (losses < 8) CHECK(pause > before);
    before = pause;
    now += pause;
  }
  CHECK(before >= 3min);
  restarts.begin(now);
  CHECK(restarts.lose(now + 10min, random) <= 1s);
  CHECK_FALSE(restarts.is_repeated());
}

TEST_CASE("the session of a virtual node that loses a worker is made anew, and its node is Ready") {
  Consumer rome;
  rome.offloading_bug = {"/livez", 1};
  REQUIRE(rome.reaches([&] { return rome.is_node_ready(); }));
  CHECK(rome.offloadings == 2);
  CHECK(rome.metrics_have("liqo_sessions_lost_total{cluster_id=\"milan\",session=\"offloading\"} 1"));
  // A single loss is not reported: people could do nothing about it.
  CHECK(rome.events("ProviderUnusable").empty());
  rome.pass(20min);
  CHECK(rome.offloadings == 2);
}

TEST_CASE("one that is lost again and again is tried less and less often, and that is told") {
  Consumer rome;
  rome.offloading_bug = {"/livez", 1000};
  rome.pass(1h);
  CHECK(rome.offloadings > 12);
  CHECK(rome.offloadings < 12 + 60 / 3);
  REQUIRE_FALSE(rome.events("ProviderUnusable").empty());
  CHECK(rome.events("ProviderUnusable")[0] ==
        "the session with cluster milan ends again and again because of an error in liqod, and is restarted each time: "
        "a bug");
  CHECK_FALSE(rome.is_node_ready());
  // Replication with the same provider has a session of its own.
  CHECK(rome.replications == 1);
  rome.offloading_bug.left = 0;
  CHECK(rome.reaches([&] { return rome.is_node_ready(); }, 6min));
}

TEST_CASE("a session of replication that loses its caches is made anew, and replicates") {
  Consumer rome;
  rome.replication_bug = {"/resourceslices", 2};
  rome.pass(1s);
  rome.give_slice();
  CHECK(rome.reaches([&] { return rome.milan.get(kinds::resource_slices, {"liqo-tenant-rome", "pool"}) != nullptr; }));
  CHECK(rome.replications == 3);
  CHECK(rome.offloadings == 1);
  CHECK(rome.metrics_have("liqo_sessions_lost_total{cluster_id=\"milan\",session=\"replication\"} 2"));
  // And ends in order.
  (void)rome.server.remove(kinds::resource_slices, {tenant, "pool"}, {}, "operator");
  CHECK(rome.reaches([&] { return !rome.has(kinds::resource_slices, {tenant, "pool"}); }));
  CHECK(rome.milan.get(kinds::resource_slices, {"liqo-tenant-rome", "pool"}) == nullptr);
}

}  // namespace liqo::testing
