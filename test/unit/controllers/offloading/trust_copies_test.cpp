// The trust bundles of home that pods mount elsewhere, seen by the liqod of the consumer; the test plays the provider.
#include "controllers/offloading/trust_copies.hpp"

#include <doctest/doctest.h>

#include "../offloading_fixture.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

std::string pem(std::string_view base64) {
  return "-----BEGIN CERTIFICATE-----\n" + std::string(base64) + "\n-----END CERTIFICATE-----\n";
}

kube::Object bundle(std::string_view name, const std::string& text, std::string_view signer = "") {
  kube::Object made = kube::Object::make(kinds::trust_bundles, {"", std::string(name)});
  made.mutable_spec()["trustBundle"] = text;
  if (!signer.empty()) made.mutable_spec()["signerName"] = signer;
  return made;
}

kube::Object pod_with(std::string_view name, json::object projection) {
  kube::Object pod = kube::Object::make(resources::pods, {shop, std::string(name)});
  projection["path"] = "ca.pem";
  const json::object source{{"clusterTrustBundle", std::move(projection)}};
  pod.mutable_spec() = json::object{
      {"nodeName", "milan"},
      {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}},
      {"volumes",
       json::array{json::object{{"name", "trust"}, {"projected", json::object{{"sources", json::array{source}}}}}}}};
  return pod;
}

/// A consumer that serves ClusterTrustBundles.
struct Trusting : Offloading {
  explicit Trusting(const kube::Resource& version = kinds::trust_bundles)
      : Offloading({}, {}, [&version](Offloading& world) { world.server.serve(version); }) {}

  /// The only file of the ConfigMap that the pod mounts in milan; "(none)" = there is none.
  std::string text_for(const kube::Object& pod) {
    const auto copy = at_milan(resources::config_maps, core::trust_copy_name(core::trust_sources(pod)));
    if (!copy) return "(none)";
    const json::object& data = kube::object_at(copy->tree(), {"data"});
    return data.size() == 1 ? std::string(data.begin()->value().as_string()) : "(" + std::to_string(data.size()) + ")";
  }
  bool mounts_copy(const kube::Object& pod) {
    const auto shadow = at_milan(kinds::shadow_pods, pod.name());
    return shadow && core::mounts_trust_copy(*shadow, core::trust_sources(pod));
  }
  void end(std::string_view name) {
    (void)server.remove(resources::pods, {shop, std::string(name)}, {}, "user");
    pass(5s);
    (void)milan.remove(resources::pods, {twin, std::string(name)}, {.grace_period_seconds = 0}, "milan");
    REQUIRE(reaches([&] { return !local(name).has_value(); }, 2min));
  }
};

std::size_t copies_written(const kube::testing::FakeApiServer& server) {
  std::size_t count = 0;
  for (const auto& write : server.writes())
    if (write.plural == "configmaps") ++count;
  return count;
}

}  // namespace

TEST_CASE("pods that mount the same trust bundle of home have one ConfigMap, which follows it and goes with the last") {
  Trusting world;
  world.apply(kinds::trust_bundles, bundle("ca", pem("YQ==")));
  const kube::Object web = pod_with("web", json::object{{"name", "ca"}}),
                     db = pod_with("db", json::object{{"name", "ca"}});
  world.apply(resources::pods, web);
  world.apply(resources::pods, db);
  world.run_at_milan("web");
  world.run_at_milan("db");
  CHECK(world.mounts_copy(web));
  CHECK(world.mounts_copy(db));
  CHECK(world.text_for(web) == pem("YQ=="));
  world.pass(10min);
  CHECK(copies_written(world.milan) == 1);

  world.change(kinds::trust_bundles, {"", "ca"}, "", [](json::object& next) {
    kube::ensure_object(next, "spec")["trustBundle"] = pem("YQ==") + pem("Yg==");
  });
  CHECK(world.reaches([&] { return world.text_for(web) == pem("YQ==") + pem("Yg=="); }, 5s));
  CHECK(copies_written(world.milan) == 2);
  CHECK(world.events("NoTrustBundleOfHome").empty());

  // Another process writes nothing again.
  world.stop();
  world.start();
  world.pass(5min);
  CHECK(copies_written(world.milan) == 2);

  world.end("web");
  world.pass(15min);
  CHECK(world.text_for(db) == pem("YQ==") + pem("Yg=="));
  world.end("db");
  CHECK(world.reaches([&] { return world.text_for(db) == "(none)"; }, 20min));
}

TEST_CASE("a ConfigMap with trust bundles that somebody removes comes back") {
  Trusting world;
  world.apply(kinds::trust_bundles, bundle("ca", pem("YQ==")));
  const kube::Object web = pod_with("web", json::object{{"name", "ca"}});
  world.apply(resources::pods, web);
  world.run_at_milan("web");
  const std::string name = core::trust_copy_name(core::trust_sources(web));
  REQUIRE(world.milan.remove(resources::config_maps, {twin, name}, {}, "admin").has_value());
  CHECK(world.reaches([&] { return world.text_for(web) == pem("YQ=="); }, 10s));
}

TEST_CASE("a ConfigMap with trust bundles that is removed while it is written is no refusal") {
  Trusting world;
  world.apply(kinds::trust_bundles, bundle("ca", pem("YQ==")));
  const kube::Object web = pod_with("web", json::object{{"name", "ca"}});
  world.apply(resources::pods, web);
  world.run_at_milan("web");
  bool is_gone = true;
  world.outage = [&](kube::HttpRequest& request) {
    if (request.resource == "configmaps" && request.verb == "update" && std::exchange(is_gone, false)) {
      request.method = "GET";
      request.target = "/api/v1/namespaces/" + twin + "/configmaps/none";
    }
    return false;
  };
  world.change(kinds::trust_bundles, {"", "ca"}, "",
               [](json::object& next) { kube::ensure_object(next, "spec")["trustBundle"] = pem("Yg=="); });
  CHECK(world.reaches([&] { return world.text_for(web) == pem("Yg=="); }, 1min));
  CHECK_FALSE(is_gone);
  CHECK(world.events("NoTrustBundleOfHome").empty());
}

TEST_CASE("a pod waits in the provider for a trust bundle that home does not have, and learns it at once") {
  Trusting world;
  const kube::Object web = pod_with("web", json::object{{"name", "ca"}});
  world.apply(resources::pods, web);
  REQUIRE(world.reaches([&] { return world.mounts_copy(web); }, 10s));
  CHECK(world.text_for(web) == "(0)");
  REQUIRE(world.reaches([&] { return !world.events("NoTrustBundleOfHome").empty(); }, 10s));
  CHECK(world.events("NoTrustBundleOfHome").front() ==
        "the pod waits in cluster milan for ClusterTrustBundle \"ca\", which cluster rome does not have: create what "
        "is missing, or mount it with optional: true");
  world.make_at_milan("web");
  world.change_at_milan("web", "status", [](json::object& next) {
    json::object& status = kube::ensure_object(next, "status");
    status["phase"] = "Pending";
    status["conditions"] =
        json::array{json::object{{"type", "Ready"}, {"status", "False"}, {"reason", "ContainersNotReady"}}};
  });
  // A pod that starts shows its status late, and this one does not start.
  CHECK(world.reaches([&] { return world.condition("web", "Ready", "reason") == "ContainersNotReady"; }, 3s));
  world.pass(5min);
  CHECK(world.times_reported("NoTrustBundleOfHome") == 1);
  CHECK(copies_written(world.milan) == 1);

  world.apply(kinds::trust_bundles, bundle("ca", pem("YQ==")));
  CHECK(world.reaches([&] { return world.text_for(web) == pem("YQ=="); }, 5s));
  // What home does not trust any more is not there either.
  REQUIRE(world.server.remove(kinds::trust_bundles, {"", "ca"}, {}, "user").has_value());
  CHECK(world.reaches([&] { return world.text_for(web) == "(0)"; }, 5s));
}

TEST_CASE("an optional trust bundle that home does not have is an empty file, until it is there") {
  Trusting world;
  const kube::Object web = pod_with(
      "web", json::object{{"signerName", "example.com/x"}, {"labelSelector", json::object()}, {"optional", true}});
  world.apply(resources::pods, web);
  REQUIRE(world.reaches([&] { return world.mounts_copy(web); }, 10s));
  CHECK(world.text_for(web) == "");
  CHECK(world.events("NoTrustBundleOfHome").empty());
  world.apply(kinds::trust_bundles, bundle("example.com:x:1", pem("YQ=="), "example.com/x"));
  world.apply(kinds::trust_bundles, bundle("example.com:x:2", pem("Yg=="), "example.com/x"));
  world.apply(kinds::trust_bundles, bundle("example.com:y:1", pem("Yw=="), "example.com/y"));
  CHECK(world.reaches([&] { return world.text_for(web) == pem("YQ==") + pem("Yg=="); }, 5s));
}

TEST_CASE("trust bundles of an older Kubernetes are found") {
  Trusting world(kinds::trust_bundles_beta);
  kube::Object ca = kube::Object::make(kinds::trust_bundles_beta, {"", "ca"});
  ca.mutable_spec()["trustBundle"] = pem("YQ==");
  world.apply(kinds::trust_bundles_beta, ca);
  const kube::Object web = pod_with("web", json::object{{"name", "ca"}});
  world.apply(resources::pods, web);
  CHECK(world.reaches([&] { return world.mounts_copy(web); }, 30s));
  CHECK(world.text_for(web) == pem("YQ=="));
}

TEST_CASE("where home serves no trust bundles, pods get those of the provider and are told so") {
  std::size_t asked = 0;
  Offloading world([&asked](kube::HttpRequest& request) {
    if (request.resource == "clustertrustbundles") ++asked;
  });
  const kube::Object web = pod_with("web", json::object{{"name", "ca"}});
  world.apply(resources::pods, web);
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 1min));
  const auto shadow = world.at_milan(kinds::shadow_pods, "web");
  CHECK_FALSE(core::mounts_trust_copy(*shadow, core::trust_sources(web)));
  CHECK(world.reaches([&] { return world.events("NoTrustBundleOfHome").size() == 1; }, 10s));
  CHECK(world.events("NoTrustBundleOfHome").front() ==
        "the pod gets the trust bundles of cluster milan, not those of cluster rome: this cluster serves no "
        "ClusterTrustBundles");
  CHECK(world.reaches([&] { return world.events("OffloadingFieldsDropped").size() == 1; }, 10s));
  const std::size_t before = asked;
  world.apply(resources::pods, pod_with("later", json::object{{"name", "ca"}}));
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "later").has_value(); }, 10s));
  world.pass(30min);
  CHECK(asked == before);
}

TEST_CASE("a liqod that may not read trust bundles leaves pods those of the provider, and says what to do") {
  Trusting world;
  world.refuses = [](const kube::HttpRequest& request) -> std::string {
    return request.resource == "clustertrustbundles" ? "no right to list them" : "";
  };
  const kube::Object web = pod_with("web", json::object{{"name", "ca"}});
  world.apply(resources::pods, web);
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 1min));
  CHECK_FALSE(world.mounts_copy(web));
  REQUIRE(world.reaches([&] { return world.events("NoTrustBundleOfHome").size() == 1; }, 10s));
  CHECK(world.events("NoTrustBundleOfHome").front() ==
        "the pod gets the trust bundles of cluster milan, not those of cluster rome: liqod may not read "
        "ClusterTrustBundles here: upgrade the installation with its chart");
}

TEST_CASE("a ConfigMap of somebody else that has the name is left alone, and the pod tells of it once") {
  Trusting world;
  world.apply(kinds::trust_bundles, bundle("ca", pem("YQ==")));
  const kube::Object web = pod_with("web", json::object{{"name", "ca"}});
  const std::string name = core::trust_copy_name(core::trust_sources(web));
  kube::Object theirs = kube::Object::make(resources::config_maps, {twin, name});
  theirs.tree()["data"] = json::object{{"word", "ciao"}};
  REQUIRE(world.milan.create(resources::config_maps, theirs.tree(), "admin"));
  world.apply(resources::pods, web);
  REQUIRE(world.reaches([&] { return !world.events("NoTrustBundleOfHome").empty(); }, 10s));
  CHECK(world.events("NoTrustBundleOfHome").front() ==
        "cluster milan refuses ConfigMap " + twin + "/" + name + " with the trust bundles of this pod: it is not ours");
  CHECK(world.reaches([&] { return world.mounts_copy(web); }, 10s));
  world.pass(3h);
  CHECK(world.times_reported("NoTrustBundleOfHome") == 1);
  CHECK(world.text_for(web) == "ciao");
}

TEST_CASE("a provider that refuses the ConfigMap is asked once an hour") {
  Trusting world;
  world.apply(kinds::trust_bundles, bundle("ca", pem("YQ==")));
  std::size_t asked = 0;
  world.refuse = [&asked](const kube::HttpRequest& request) -> std::string {
    if (request.resource != "configmaps" || request.verb != "create") return {};
    ++asked;
    return "configmaps is forbidden: no room";
  };
  const kube::Object web = pod_with("web", json::object{{"name", "ca"}});
  world.apply(resources::pods, web);
  REQUIRE(world.reaches([&] { return world.mounts_copy(web); }, 30s));
  for (int i = 0; i < 30; ++i) {
    world.change(resources::pods, {shop, "web"}, "", [i](json::object& next) {
      kube::ensure_object(kube::ensure_object(next, "metadata"), "annotations")["a"] = std::to_string(i);
    });
    world.pass(1min);
  }
  CHECK(asked == 1);
  CHECK(world.times_reported("NoTrustBundleOfHome") == 1);
}

}  // namespace liqo::testing
