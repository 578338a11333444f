// Certificates and configurations as several replicas keep them, over an API server in memory and years of virtual
// time.
#include <doctest/doctest.h>

#include <memory>
#include <set>

#include "kube/async/task_group.hpp"
#include "kube/base/base64.hpp"
#include "kube/runtime/leadership.hpp"
#include "kube/testing/fake/garbage_collector.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/names.hpp"
#include "support/captured_stderr.hpp"
#include "webhook/certificates.hpp"
#include "webhook/configuration_plan.hpp"
#include "webhook/configurations.hpp"

namespace {

using namespace liqo::webhook;
using liqo::api::kinds::cluster_roles;
using namespace kube::testing;
using namespace std::chrono_literals;
namespace asio = boost::asio;

struct Cluster {
  explicit Cluster(std::uint64_t seed)
      : simulator(seed), server(simulator.clock(), seed), collector(simulator, server) {
    server.serve(mutating_configurations);
    server.serve(validating_configurations);
    server.serve(cluster_roles);
    server.create(kube::resources::namespaces, {{"metadata", {{"name", "liqo"}}}}, "somebody");
    install();
  }
  /// The objects of the chart.
  void install() { server.create(cluster_roles, {{"metadata", {{"name", installation_role}}}}, "somebody"); }
  CertificateState stored() {
    const auto secret =
        server.get(kube::resources::secrets, {"liqo", std::string(liqo::api::webhook_certificate_secret)});
    return secret ? read_certificate_secret(kube::Object(kube::json::object(*secret))) : CertificateState();
  }
  Simulator simulator;
  FakeApiServer server;
  FakeGarbageCollector collector;
};

/// One process: its certificates, and the configurations when it leads.
struct Replica {
  Replica(Cluster& cluster, std::string name, bool leads, kube::Duration lifetime)
      : link(cluster.simulator, cluster.server, std::move(name)),
        transport(link),
        api(transport, cluster.simulator.clock(), cluster.simulator.random(), metrics, {.cluster = "milan"}),
        home(cluster.simulator.executor(), api, metrics),
        configurations({cluster.simulator.executor(), cluster.simulator.clock(), cluster.simulator.random(), metrics},
                       api, home, {.url = "https://192.168.1.1:9443", .ns = "liqo"}),
        certificates(cluster.simulator.executor(), api, home,
                     {"liqo", std::string(liqo::api::webhook_certificate_secret)}, "webhook", settings(lifetime),
                     [this](const CertificateState& state) {
                       used = state;
                       history.insert(state.certificate);
                       configurations.trust(state.authority);
                     }),
        group(cluster.simulator.executor()) {
    group.spawn(home.run());
    group.spawn(certificates.run());
    if (leads) group.spawn(configurations.run());
  }
  static CertificateSettings settings(kube::Duration lifetime) {
    CertificateSettings made;
    made.dns_names = {"liqo-webhook.liqo.svc"};
    made.lifetime = lifetime;
    return made;
  }

  SimLink link;
  SimTransport transport;
  kube::Metrics metrics;
  kube::Api api;
  kube::InformerSet home;
  Configurations configurations;
  Certificates certificates;
  CertificateState used;
  std::set<std::string> history;
  kube::async::TaskGroup group;
};

std::string configured(Cluster& cluster) {
  const auto found = cluster.server.get(validating_configurations, {{}, std::string(liqo::api::webhook_configuration)});
  if (!found) return "";
  const kube::json::array& hooks = kube::array_at(*found, {"webhooks"});
  if (hooks.empty()) return "";
  return kube::decode_base64(kube::string_at(hooks.at(0), {"clientConfig", "caBundle"})).value_or("");
}

bool is_trusted(const std::string& bundle, const std::string& certificate) {
  for (const std::string& authority : kube::net::split_certificates(bundle))
    if (kube::net::is_signed_by(certificate, authority).value_or(false)) return true;
  return false;
}

}  // namespace

TEST_CASE("replicas that start at once end with one authority, whatever the network does") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    Cluster cluster(seed);
    std::vector<std::unique_ptr<Replica>> replicas;
    for (int i = 0; i < 3; ++i) {
      replicas.push_back(std::make_unique<Replica>(cluster, "replica-" + std::to_string(i), i == 0, 2160h));
      replicas.back()->link.set_faults({.refused = 0.1, .lost_answer = 0.1, .failing = 0.1, .conflict = 0.1});
    }
    const auto agree = [&] {
      const CertificateState stored = cluster.stored();
      for (const auto& replica : replicas)
        if (replica->used != stored || stored.certificate.empty()) return false;
      return configured(cluster) == stored.authority;
    };
    CHECK(cluster.simulator.run_until(agree, 10min) == Simulator::End::reached);
    CHECK(kube::net::split_certificates(cluster.stored().authority).size() == 1);
    // Only stored certificates were ever served: no replica goes on with one that lost.
    std::set<std::string> served;
    for (const auto& replica : replicas) served.insert(replica->history.begin(), replica->history.end());
    CHECK(served.size() == 1);
    for (const auto& replica : replicas) cluster.simulator.run(replica->group.stop());
  }
}

TEST_CASE("over many renewals, what is configured trusts what every replica serves") {
  Cluster cluster(7);
  Replica one(cluster, "one", true, 24h), two(cluster, "two", false, 24h);
  const auto agree = [&] {
    return !one.used.certificate.empty() && one.used == two.used && configured(cluster) == one.used.authority;
  };
  REQUIRE(cluster.simulator.run_until(agree, 1min) == Simulator::End::reached);
  std::set<std::string> authorities;
  for (int hour = 0; hour < 24 * 10; hour += 2) {
    cluster.simulator.run_for(2h);
    authorities.insert(configured(cluster));
    REQUIRE(is_trusted(configured(cluster), one.used.certificate));
    REQUIRE(is_trusted(configured(cluster), two.used.certificate));
    const auto info = kube::net::read_certificate(one.used.certificate).value();
    REQUIRE(info.not_after > cluster.simulator.clock().wall() + 7h);
  }
  CHECK(one.history.size() >= 24 * 10 / 18);
  CHECK(authorities.size() >= 3);
  cluster.simulator.run(one.group.stop());
  cluster.simulator.run(two.group.stop());
}

TEST_CASE("why there is no new certificate is told now and then, and whether there is one") {
  Cluster cluster(7);
  kube::test::CapturedStderr log;
  Replica one(cluster, "one", false, 24h);
  // Everything is read, and nothing can be stored.
  const auto refuse = [&](const kube::HttpRequest& request) {
    one.link.set_faults({.unavailable = request.method == "GET" ? 0.0 : 1.0});
  };
  one.link.on_send(refuse);
  cluster.simulator.run_for(4min);
  CHECK(log.lines_with("no certificate for API servers yet") == 1);
  one.link.on_send(nullptr);
  one.link.set_faults({});
  REQUIRE(cluster.simulator.run_until([&] { return one.certificates.has_certificate(); }, 1min) ==
          Simulator::End::reached);
  cluster.simulator.run_for(15h + 50min);
  CHECK(log.lines_with("cannot be renewed") == 0);
  one.link.on_send(refuse);
  cluster.simulator.run_for(30min);
  const std::size_t told = log.lines_with("the certificate for API servers cannot be renewed");
  CHECK(told >= 2);
  CHECK(told <= 6);
  CHECK(log.lines_with("no certificate for API servers yet") == 1);
  cluster.simulator.run(one.group.stop());
}

TEST_CASE("a configuration that somebody changes or deletes is put right") {
  Cluster cluster(3);
  Replica one(cluster, "one", true, 2160h);
  const auto is_right = [&] { return !one.used.certificate.empty() && configured(cluster) == one.used.authority; };
  REQUIRE(cluster.simulator.run_until(is_right, 1min) == Simulator::End::reached);
  const kube::ObjectKey key{{}, std::string(liqo::api::webhook_configuration)};
  cluster.server.update(
      {validating_configurations, key}, [](kube::json::object& tree) { tree["webhooks"] = kube::json::array(); },
      "somebody");
  CHECK(cluster.simulator.run_until(is_right, 1min) == Simulator::End::reached);
  cluster.server.remove(validating_configurations, key, {}, "somebody");
  CHECK(cluster.simulator.run_until(is_right, 1min) == Simulator::End::reached);
  cluster.server.remove(kube::resources::secrets, {"liqo", std::string(liqo::api::webhook_certificate_secret)}, {},
                        "somebody");
  const std::string before = one.used.certificate;
  CHECK(cluster.simulator.run_until([&] { return one.used.certificate != before && is_right(); }, 1min) ==
        Simulator::End::reached);
  cluster.simulator.run(one.group.stop());
}

TEST_CASE("configurations go with the installation, and are not made again for one that is not there") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    Cluster cluster(seed);
    Replica one(cluster, "one", true, 2160h);
    one.link.set_faults({.refused = 0.1, .lost_answer = 0.1, .failing = 0.1, .conflict = 0.1});
    const kube::ObjectKey role{"", std::string(installation_role)},
        key{"", std::string(liqo::api::webhook_configuration)};
    const auto are_there = [&] {
      return cluster.server.get(validating_configurations, key) && cluster.server.get(mutating_configurations, key);
    };
    const auto are_gone = [&] {
      return !cluster.server.get(validating_configurations, key) && !cluster.server.get(mutating_configurations, key);
    };
    REQUIRE(cluster.simulator.run_until(are_there, 1min) == Simulator::End::reached);
    // As helm uninstall does, while liqod still runs.
    cluster.server.remove(cluster_roles, role, {}, "somebody");
    REQUIRE(cluster.simulator.run_until(are_gone, 1min) == Simulator::End::reached);
    cluster.simulator.run_for(30min);
    CHECK(are_gone());
    cluster.install();
    REQUIRE(cluster.simulator.run_until(are_there, 10min) == Simulator::End::reached);
    cluster.server.remove(kube::resources::namespaces, {"", "liqo"}, {}, "somebody");
    CHECK(cluster.simulator.run_until(are_gone, 10min) == Simulator::End::reached);
    CHECK_FALSE(cluster.server.get(cluster_roles, role));
    cluster.simulator.run(one.group.stop());
  }
}

TEST_CASE("configurations of an older version get their owner, and are kept right without one") {
  Cluster cluster(5);
  const kube::ObjectKey role{"", std::string(installation_role)},
      key{"", std::string(liqo::api::webhook_configuration)};
  cluster.server.remove(cluster_roles, role, {}, "somebody");
  for (const kube::Resource& kind : {validating_configurations, mutating_configurations})
    cluster.server.create(kind, {{"metadata", {{"name", liqo::api::webhook_configuration}}}}, "somebody");
  Replica one(cluster, "one", true, 2160h);
  const auto is_right = [&] { return !one.used.certificate.empty() && configured(cluster) == one.used.authority; };
  REQUIRE(cluster.simulator.run_until(is_right, 1min) == Simulator::End::reached);
  CHECK(kube::array_at(*cluster.server.get(validating_configurations, key), {"metadata", "ownerReferences"}).empty());
  cluster.install();
  const auto change = [](kube::json::object& tree) { tree["webhooks"] = kube::json::array(); };
  cluster.server.update({validating_configurations, key}, change, "somebody");
  const auto owned = [&] {
    const auto& owners =
        kube::array_at(*cluster.server.get(validating_configurations, key), {"metadata", "ownerReferences"});
    return owners.size() == 1 && kube::string_at(owners.at(0), {"name"}) == installation_role;
  };
  CHECK(cluster.simulator.run_until(owned, 1min) == Simulator::End::reached);
  CHECK(is_right());
  // Nothing is written any more.
  const auto before = cluster.server.get(cluster_roles, role);
  cluster.simulator.run_for(1h);
  CHECK(kube::string_at(*cluster.server.get(cluster_roles, role), {"metadata", "resourceVersion"}) ==
        kube::string_at(*before, {"metadata", "resourceVersion"}));
  cluster.simulator.run(one.group.stop());
}
