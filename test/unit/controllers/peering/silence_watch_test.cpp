// A provider that answers and does not act: the notes on pods, slices, twins and its Node at home, and when they are
// withdrawn.
#include <algorithm>

#include "../offloading_fixture.hpp"
#include "controllers/links/provider_orders.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/silence.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

const kube::ObjectKey lease_key{"liqo", "liqod"};

/// Consumer rome, and a milan whose liqod renews its Lease only when the test does.
struct SilentProvider : Offloading {
  SilentProvider() : Offloading({}, {}, prepare) {
    outage = [this](kube::HttpRequest& request) {
      if (request.resource == "leases" && request.verb == "get") ++looks;
      return webhook_is_away && request.verb == "create" &&
             (request.resource == "shadowpods" || request.resource == "resourceslices");
    };
    refuse = [this](const kube::HttpRequest& request) {
      return std::string(request.resource == "leases" && is_of_go ? "leases is forbidden" : "");
    };
    // The map is answered at milan, too, which is where its status comes from.
    const kube::ObjectKey replica{"liqo-tenant-rome", "milan"};
    REQUIRE(reaches([&] { return milan.get(kinds::namespace_maps, replica) != nullptr; }));
    (void)milan.update(
        {kinds::namespace_maps, replica, "status"},
        [](json::object& next) {
          next["status"] = json::object{
              {"currentMapping", json::object{{shop, json::object{{"remoteNamespace", twin}, {"phase", "Accepted"}}}}}};
        },
        "milan");
    pass(2min);
    looks = 0;
  }
  static std::string kubeconfig(const std::string& token) {
    return kube::encode_base64(
        "clusters: [{name: milan, cluster: {server: 'https://milan:6443', certificate-authority-data: Y2E=}}]\n"
        "users: [{name: rome, user: {token: " +
        token +
        "}}]\n"
        "contexts: [{name: rome, context: {cluster: milan, user: rome}}]\n"
        "current-context: rome\n");
  }
  static void prepare(Offloading& world) {
    for (const kube::Resource& kind : {kinds::namespace_maps, kinds::resource_slices, kinds::renews})
      world.milan.serve(kind);
    world.apply(resources::namespaces, core::forge_tenant_namespace("milan"));
    kube::Object secret = kube::Object::make(resources::secrets, {tenant, "kubeconfig-controlplane-milan"});
    secret.set_label(api::labels::remote_cluster_id, "milan");
    secret.set_label(api::labels::identity_type, api::control_plane_identity);
    secret.set_annotation(api::annotations::remote_tenant_namespace, "liqo-tenant-rome");
    secret.tree()["data"] = json::object{{"kubeconfig", kubeconfig("first")}};
    world.apply(resources::secrets, secret);
    kube::Object lease = kube::Object::make(resources::leases, lease_key);
    lease.mutable_spec() = json::object{{"leaseDurationSeconds", 15}, {"renewTime", "2020-01-01T00:00:00.000000Z"}};
    REQUIRE(world.milan.create(resources::leases, lease.tree(), "milan").has_value());
  }
  /// Renews the Lease for that long.
  void lead(std::chrono::seconds time) {
    for (std::chrono::seconds i = 0s; i < time; i += 2s) {
      renew();
      pass(2s);
    }
  }
  void renew(std::string_view holder = "liqod-1") {
    (void)milan.update(
        {resources::leases, lease_key},
        [&](json::object& next) {
          kube::ensure_object(next, "spec")["holderIdentity"] = holder;
          kube::ensure_object(next, "spec")["renewTime"] = kube::format_micro_time(simulator.clock().wall());
        },
        "milan");
  }
  void give_slice() {
    kube::Object slice = kube::Object::make(kinds::resource_slices, {tenant, "pool"});
    for (std::string_view label : {api::labels::replication_destination, api::labels::remote_cluster_id})
      slice.set_label(label, "milan");
    slice.set_label(api::labels::replication, "true");
    slice.mutable_spec() = json::object{
        {"class", "default"}, {"consumerClusterID", "rome"}, {"providerClusterID", "milan"}, {"csr", "Q1NS"}};
    apply(kinds::resource_slices, slice);
  }
  bool has_slice_at_milan() { return milan.get(kinds::resource_slices, {"liqo-tenant-rome", "pool"}) != nullptr; }
  std::size_t writes_of(std::string_view plural) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        server.writes(), [&](const auto& write) { return write.actor == link.actor() && write.plural == plural; }));
  }
  std::string told(std::string_view field = "message") { return condition("web", api::offloaded_condition, field); }
  std::string closed() {
    const auto node = find(resources::nodes, {"", "milan"});
    for (const json::value& taint : kube::array_at(node->spec(), {"taints"}))
      if (kube::string_at(taint, {"key"}) == api::closed_taint) return std::string(kube::string_at(taint, {"value"}));
    return "";
  }
  core::SilenceNote note() {
    const auto peer = find(kinds::foreign_clusters, {"", "milan"});
    return peer ? core::silence_note(*peer) : core::SilenceNote{};
  }

  int looks = 0;
  bool webhook_is_away = false, is_of_go = false;
};

}  // namespace

TEST_CASE("a provider without a leader is told of on the pod within 20 s, and closes its Node after a minute") {
  SilentProvider world;
  CHECK(world.looks == 0);
  world.create_pod("web");
  world.pass(9s);
  CHECK(world.looks == 0);
  REQUIRE(world.reaches([&] { return world.told("reason") == "ProviderSilent"; }, 11s));
  CHECK(world.told().starts_with("Liqo of cluster milan has not run since "));
  CHECK(world.reaches([&] { return world.events("ProviderSilent").size() >= 2; }, 5s));
  for (const std::string& event : world.events("ProviderSilent")) CHECK(event.contains("; it has 1 order of yours"));
  CHECK(world.note().words.contains("; it has 1 order of yours"));
  CHECK(core::without_count(world.note().words) == world.told());
  const auto node = world.find(kinds::virtual_nodes, {tenant, "milan"});
  CHECK(node->text().contains("ProviderSilent"));
  world.pass(45s);
  CHECK(world.closed() == "");
  CHECK(world.reaches([&] { return world.closed() == "silent"; }, 20s));

  const std::size_t writes = world.writes();
  const int looks = world.looks;
  world.pass(5min);
  CHECK(world.closed() == "silent");
  CHECK(world.writes() - writes < 120);  // leases and heartbeats of the Node
  CHECK(world.looks - looks <= 101);

  world.lead(6s);
  CHECK(world.reaches([&] { return world.closed() == ""; }, 10s));
  world.run_at_milan("web");
  CHECK(world.reaches([&] { return world.told() == "(none)"; }, 10s));
  CHECK(world.note().words == "");
}

TEST_CASE("pods that a provider could not take run soon after somebody leads there again") {
  SilentProvider world;
  world.webhook_is_away = true;
  world.create_pod("web");
  world.create_pod("other");
  REQUIRE(world.reaches([&] { return world.told("reason") == "ProviderSilent"; }, 20s));
  world.pass(10min);
  CHECK(world.told("reason") == "ProviderSilent");
  world.webhook_is_away = false;
  world.renew();
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 8s));
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "other").has_value(); }, 1s));
}

TEST_CASE("a slice that a provider could not take is tried as soon as a pod is taken") {
  SilentProvider world;
  world.webhook_is_away = true;
  world.create_pod("web");
  world.give_slice();
  REQUIRE(world.reaches([&] { return world.told("reason") == "ProviderSilent"; }, 20s));
  world.pass(10min);
  world.webhook_is_away = false;
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web") || world.has_slice_at_milan(); }, 6s));
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web") && world.has_slice_at_milan(); }, 1s));
}

TEST_CASE("a slice that the server of a provider could not take is tried every few seconds, without pods, too") {
  SilentProvider world;
  world.webhook_is_away = true;
  world.give_slice();
  world.lead(180s);
  CHECK(world.note().words == "");
  CHECK(!world.has_slice_at_milan());
  world.webhook_is_away = false;
  CHECK(world.reaches([&] { return world.has_slice_at_milan(); }, 6s));
}

TEST_CASE("the number of orders follows on the ForeignCluster, and costs no write on the pods that wait") {
  SilentProvider world;
  const auto says = [&](const std::string& number) {
    return world.reaches([&] { return world.note().words.contains("; it has " + number + " of yours"); }, 35s);
  };
  world.create_pod("web");
  REQUIRE(says("1 order"));
  for (int i = 0; i < 20; ++i) world.create_pod("web-" + std::to_string(i));
  CHECK(says("21 orders"));
  REQUIRE(world.reaches([&] { return world.condition("web-19", api::offloaded_condition, "reason") != "(none)"; }));
  world.pass(10s);
  const std::size_t pods = world.writes_of("pods"), peers = world.writes_of("foreignclusters");
  const std::int64_t told = world.times_reported("ProviderSilent");
  for (int i = 0; i < 20; ++i) {
    (void)world.server.remove(resources::pods, {shop, "web-" + std::to_string(i)}, {.grace_period_seconds = 0},
                              "operator");
    world.pass(6s);
  }
  CHECK(says("1 order"));
  CHECK(world.writes_of("pods") == pods);
  CHECK(world.writes_of("foreignclusters") - peers <= 7);  // one of them says that the Node is closed
  CHECK(world.times_reported("ProviderSilent") == told);
}

TEST_CASE("what waits for a provider that seems to come back all the time is tried at a bounded rate") {
  kube::testing::Simulator simulator(1);
  const auto orders = std::make_shared<controllers::ProviderOrders>(simulator.executor());
  int tried = 0;
  controllers::OrderBook book(orders, simulator.clock(), [&] { ++tried; });
  const kube::TimePoint begin{};
  orders->wake(begin);
  CHECK(tried == 0);
  book.open("pod a");
  orders->wake(begin + 5s);
  CHECK(tried == 1);
  for (int i = 0; i < 40; ++i) orders->wake(begin + 5s + i * 100ms);
  CHECK(tried == 1);
  // The last of them is not forgotten.
  orders->catch_up(begin + 9s);
  CHECK(tried == 1);
  orders->catch_up(begin + 10s);
  CHECK(tried == 2);
  orders->catch_up(begin + 1h);
  CHECK(tried == 2);
  // A provider that has come back is tried every five seconds for half a minute.
  tried = 0;
  const auto seems_back = [&](kube::Duration from, kube::Duration to) {
    for (kube::Duration at = from; at < to; at += 1s) orders->wake(begin + at);
  };
  seems_back(2h, 2h + 31s);
  CHECK(tried == 7);
  // One that goes on returning is tried less and less often.
  seems_back(2h + 31s, 3h);
  CHECK(tried <= 7 + 20);
  const int before = tried;
  seems_back(3h, 4h);
  CHECK(tried - before <= 16);
  CHECK(tried - before >= 14);
  // After some quiet it is tried at once again.
  tried = 0;
  seems_back(5h, 5h + 6s);
  CHECK(tried == 2);
}

TEST_CASE("a provider whose webhooks alone are away is told of in the words of its server, and closes nothing") {
  SilentProvider world;
  world.webhook_is_away = true;
  world.create_pod("web");
  world.create_pod("other");
  world.lead(12s);
  CHECK(world.reaches([&] { return world.told("reason") == "OrderNotTaken"; }, 5s));
  CHECK(world.told() == "cluster milan cannot take the pod at present: failed calling webhook");
  world.lead(180s);
  CHECK(world.told("reason") == "OrderNotTaken");
  CHECK(world.closed() == "");
  CHECK(world.note().words == "");
  world.webhook_is_away = false;
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 7s));
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "other").has_value(); }, 2s));
  world.run_at_milan("web");
  CHECK(world.reaches([&] { return world.told() == "(none)"; }, 10s));
}

TEST_CASE("of a provider that shows no Lease home tells what it sees, and closes nothing") {
  SilentProvider world;
  world.is_of_go = true;
  world.create_pod("web");
  CHECK(world.reaches([&] { return world.told("reason") == "ProviderSilent"; }, 20s));
  CHECK(world.told().starts_with("cluster milan has not acted upon orders of yours since "));
  CHECK(world.note().words.starts_with("cluster milan has not acted upon 1 order of yours since "));
  world.pass(5min);
  CHECK(world.closed() == "");
  world.run_at_milan("web");
  CHECK(world.reaches([&] { return world.told() == "(none)" && world.note().words.empty(); }, 10s));
}

TEST_CASE("the Lease is looked for where it is declared, and only there") {
  SilentProvider world;
  kube::Object lease = kube::Object::make(resources::leases, {"liqo-system", "liqod"});
  lease.mutable_spec() = json::object{{"leaseDurationSeconds", 15}, {"holderIdentity", "liqod-1"}};
  REQUIRE(world.milan.create(resources::leases, lease.tree(), "milan").has_value());
  world.change(kinds::foreign_clusters, {"", "milan"}, "", [](json::object& next) {
    kube::testing::set_annotation(next, core::remote_liqo_namespace, "liqo-system");
  });
  world.create_pod("web");
  // The Lease in namespace liqo, which has no holder, is of an earlier installation.
  for (int i = 0; i < 60; ++i) {
    (void)world.milan.update(
        {resources::leases, {"liqo-system", "liqod"}},
        [&](json::object& next) { kube::ensure_object(next, "spec")["renewTime"] = std::to_string(i); }, "milan");
    world.pass(2s);
  }
  CHECK(world.looks > 0);
  CHECK(world.note().words == "");
}

TEST_CASE("a slice and a twin that wait for nobody say so") {
  SilentProvider world;
  world.give_slice();
  REQUIRE(world.reaches([&] { return !world.note().words.empty(); }, 20s));
  CHECK(world.reaches([&] { return world.times_reported("ProviderSilent") >= 2; }, 5s));
  CHECK(world.note().words.contains("it has 1 order of yours"));
}

TEST_CASE("a slice whose request changes waits for another answer") {
  SilentProvider world;
  world.give_slice();
  const kube::ObjectKey replica{"liqo-tenant-rome", "pool"};
  REQUIRE(world.reaches([&] { return world.milan.get(kinds::resource_slices, replica) != nullptr; }));
  // Home signs its own requests.
  world.pass(2s);
  const auto answer = [&](std::string_view cpu) {
    (void)world.milan.update(
        {kinds::resource_slices, replica, "status"},
        [&](json::object& next) {
          next["status"] =
              json::object{{"resources", json::object{{"cpu", cpu}}},
                           {"conditions", json::array{json::object{{"type", "Resources"}, {"status", "Accepted"}}}}};
        },
        "milan");
  };
  answer("1");
  world.pass(1min);
  CHECK(world.note().words == "");
  world.change(kinds::resource_slices, {tenant, "pool"}, "",
               [](json::object& next) { kube::ensure_object(next, "spec")["resources"] = json::object{{"cpu", "2"}}; });
  REQUIRE(world.reaches([&] { return !world.note().words.empty(); }, 40s));
  CHECK(world.note().words.contains("it has 1 order of yours"));
  answer("2");
  CHECK(world.reaches([&] { return world.note().words.empty(); }, 10s));
}

TEST_CASE("a slice that is made while a provider is known to be silent says so at once") {
  SilentProvider world;
  world.create_pod("web");
  REQUIRE(world.reaches([&] { return world.told("reason") == "ProviderSilent"; }, 20s));
  world.pass(5s);
  const std::int64_t before = world.times_reported("ProviderSilent");
  world.give_slice();
  CHECK(world.reaches([&] { return world.times_reported("ProviderSilent") > before; }, 5s));
}

TEST_CASE("a session that is made anew does not open the Node of a silent provider") {
  SilentProvider world;
  world.create_pod("web");
  REQUIRE(world.reaches([&] { return world.closed() == "silent"; }, 2min));
  world.change(resources::secrets, {tenant, "kubeconfig-controlplane-milan"}, "", [](json::object& next) {
    next["data"] = json::object{{"kubeconfig", SilentProvider::kubeconfig("second")}};
  });
  for (int i = 0; i < 90; ++i) {
    world.pass(2s);
    REQUIRE(world.closed() == "silent");
  }
}

TEST_CASE("what is told ends a minute after the credentials with which more could be found out") {
  SilentProvider world;
  world.create_pod("web");
  REQUIRE(world.reaches([&] { return world.closed() == "silent"; }, 2min));
  world.change(resources::secrets, {tenant, "kubeconfig-controlplane-milan"}, "", [](json::object& next) {
    kube::testing::set_annotation(next, api::annotations::remote_tenant_namespace, "?");
  });
  world.pass(30s);
  CHECK(world.closed() == "silent");
  CHECK(world.reaches([&] { return world.closed() == ""; }, 45s));
}

TEST_CASE("a session that ends before it could find out does not open the Node of a silent provider") {
  SilentProvider world;
  world.create_pod("web");
  REQUIRE(world.reaches([&] { return world.closed() == "silent"; }, 2min));
  const auto lead_to = [&](std::string_view ns) {
    world.change(resources::secrets, {tenant, "kubeconfig-controlplane-milan"}, "", [&](json::object& next) {
      kube::testing::set_annotation(next, api::annotations::remote_tenant_namespace, ns);
    });
  };
  lead_to("?");
  world.pass(50s);
  lead_to("liqo-tenant-rome");
  world.pass(5s);
  lead_to("?");
  world.pass(30s);
  CHECK(world.closed() == "silent");
  CHECK(world.reaches([&] { return world.closed() == ""; }, 45s));
}

TEST_CASE("a pod that home takes back waits for nobody") {
  SilentProvider world;
  world.create_pod("web");
  world.pass(5s);
  (void)world.server.remove(resources::pods, {shop, "web"}, {.grace_period_seconds = 0}, "operator");
  world.pass(2min);
  CHECK(world.looks == 0);
  CHECK(world.note().words == "");
}

TEST_CASE("a pod whose name somebody else's ShadowPod has waits for nobody, and says one thing") {
  SilentProvider world;
  const kube::Object foreign = kube::Object::make(kinds::shadow_pods, {twin, "web"});
  REQUIRE(world.milan.create(kinds::shadow_pods, foreign.tree(), "milan").has_value());
  world.create_pod("web");
  REQUIRE(world.reaches([&] { return world.told("reason") == "FailedReflection"; }, 10s));
  const std::size_t writes = world.writes();
  world.pass(5min);
  CHECK(world.told("reason") == "FailedReflection");
  CHECK(world.looks == 0);
  CHECK(world.writes() - writes < 120);  // leases and heartbeats of the Node
}

TEST_CASE("a line that breaks is no answer to an order") {
  SilentProvider world;
  world.admit = [] { return std::string("quota exceeded"); };
  world.create_pod("web");
  REQUIRE(world.reaches([&] { return world.told("reason") == "OffloadingRefused"; }, 10s));
  world.webhook_is_away = true;
  REQUIRE(world.reaches([&] { return world.told("reason") == "ProviderSilent"; }, 2min));
  world.to_milan.refuse();
  world.pass(20s);
  world.to_milan.heal();
  world.pass(30s);
  CHECK(world.told("reason") == "ProviderSilent");
  CHECK(world.note().proven);
}

TEST_CASE("a provider that toggles its Lease causes few writes at home") {
  SilentProvider world;
  for (int i = 0; i < 10; ++i) world.create_pod("web-" + std::to_string(i));
  world.pass(20s);
  const std::size_t before = world.writes();
  for (int i = 0; i < 60; ++i) {
    world.lead(10s);
    world.pass(20s);
  }
  // Half an hour: heartbeats of the Node, and a dozen reports to ten pods.
  CHECK(world.writes() - before < 600);
}

}  // namespace liqo::testing
