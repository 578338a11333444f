// Certificates of home for pods elsewhere, seen by the liqod of the consumer; the test plays provider and signer.
#include "controllers/offloading/pod_certificates.hpp"

#include <doctest/doctest.h>

#include <map>
#include <thread>

#include "../offloading_fixture.hpp"
#include "core/peering/keys.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

const std::string secret_name = "web-certificates";

std::string pem(std::string_view base64) {
  return "-----BEGIN CERTIFICATE-----\n" + std::string(base64) + "\n-----END CERTIFICATE-----\n";
}

/// A consumer that takes requests for certificates of pods.
struct Certified : Offloading {
  Certified()
      : Offloading({}, {}, [](Offloading& world) {
          world.server.serve(kinds::pod_certificate_requests);
          world.apply(resources::service_accounts, kube::Object::make(resources::service_accounts, {shop, "robot"}));
        }) {}

  void create(std::string_view key_type = "ED25519") {
    kube::Object pod = kube::Object::make(resources::pods, {shop, "web"});
    const json::object source{
        {"podCertificate",
         json::object{{"signerName", "example.com/x"}, {"keyType", key_type}, {"credentialBundlePath", "all.pem"}}}};
    pod.mutable_spec() = json::object{
        {"nodeName", "milan"},
        {"serviceAccountName", "robot"},
        {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}},
        {"volumes",
         json::array{json::object{{"name", "tls"}, {"projected", json::object{{"sources", json::array{source}}}}}}}};
    apply(resources::pods, pod);
  }
  std::vector<kube::Object> requests() {
    std::vector<kube::Object> found;
    for (const auto& request : server.list(kinds::pod_certificate_requests)) found.emplace_back(*request);
    return found;
  }
  /// The number of requests that were made.
  std::size_t made() const {
    std::size_t count = 0;
    for (const auto& write : server.writes())
      if (write.plural == "podcertificaterequests" && write.actor == link.actor()) ++count;
    return count;
  }
  /// Acts as the signer: answers every request that waits, with this chain.
  void issue(std::string_view chain, std::chrono::seconds renew_after = 1h) {
    const kube::WallTime now = simulator.clock().wall();
    for (const kube::Object& request : requests()) {
      if (!request.status().empty()) continue;
      change(kinds::pod_certificate_requests, request.key(), "status", [&](json::object& next) {
        next["status"] = json::object{{"conditions", json::array{json::object{{"type", "Issued"}, {"status", "True"}}}},
                                      {"certificateChain", chain},
                                      {"beginRefreshAt", kube::format_time(now + renew_after)},
                                      {"notAfter", kube::format_time(now + 2 * renew_after)}};
      });
    }
  }
  void refuse_requests(std::string_view type, std::string_view reason) {
    for (const kube::Object& request : requests())
      change(kinds::pod_certificate_requests, request.key(), "status", [&](json::object& next) {
        next["status"] = json::object{
            {"conditions", json::array{json::object{
                               {"type", type}, {"status", "True"}, {"reason", reason}, {"message", "not this one"}}}}};
      });
  }
  /// What the Secret in milan has at the keys with this end, "" = nothing.
  std::string file(std::string_view end) {
    const auto secret = at_milan(resources::secrets, secret_name);
    if (!secret) return {};
    for (const auto& [key, value] : kube::object_at(secret->tree(), {"data"}))
      if (std::string_view(key).ends_with(end)) return kube::decode_base64(value.as_string()).value_or("(broken)");
    return {};
  }
};

}  // namespace

TEST_CASE("a pod gets a certificate of a signer at home, and a new one in time, and it goes with the pod") {
  Certified world;
  world.create();
  REQUIRE(world.reaches([&] { return world.requests().size() == 1; }, 10s));
  const kube::Object request = world.requests().front();
  const kube::json::object& spec = request.spec();
  CHECK(kube::string_at(spec, {"podUID"}) == world.local("web")->uid());
  CHECK(kube::string_at(spec, {"nodeName"}) == "milan");
  CHECK(kube::string_at(spec, {"nodeUID"}) == world.find(resources::nodes, {"", "milan"})->uid());
  CHECK(kube::string_at(spec, {"serviceAccountUID"}) ==
        world.find(resources::service_accounts, {shop, "robot"})->uid());
  world.issue("a comment\n" + pem("YQ=="));
  world.run_at_milan("web");
  CHECK(core::mounts_certificates(*world.at_milan(kinds::shadow_pods, "web")));
  REQUIRE(world.reaches([&] { return world.file(".chain") == pem("YQ=="); }, 10s));
  const std::string key = world.file(".key");
  CHECK(core::PrivateKey::parse(key).has_value());
  CHECK(world.file(".bundle") == key + pem("YQ=="));
  world.pass(30min);
  CHECK(world.made() == 1);
  // Another process knows by the Secret what there is.
  world.stop();
  world.start();
  world.pass(10min);
  CHECK(world.made() == 1);
  REQUIRE(world.reaches([&] { return world.made() == 2; }, 40min));
  CHECK(world.file(".chain") == pem("YQ=="));
  world.issue(pem("Yg=="));
  CHECK(world.reaches([&] { return world.file(".chain") == pem("Yg=="); }, 1min));
  CHECK(world.file(".key") != key);
  CHECK(world.events("NoCertificateOfHome").empty());

  (void)world.server.remove(resources::pods, {shop, "web"}, {}, "user");
  world.pass(10s);
  (void)world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "milan");
  REQUIRE(world.reaches([&] { return !world.local("web").has_value(); }, 2min));
  CHECK(world.reaches([&] { return !world.at_milan(resources::secrets, secret_name).has_value(); }, 2min));
}

TEST_CASE("long keys are made one after the other, and each comes to its pod") {
  controllers::PodKeyMaker maker(core::secure_random);
  std::map<std::string, std::string> made;
  while (made.size() < 2) {
    for (const std::string whom : {"one", "other"})
      if (auto key = made.contains(whom) ? std::nullopt : maker.make(whom, "RSA3072")) {
        REQUIRE(key->has_value());
        made[whom] = (*key)->pem;
      }
    std::this_thread::sleep_for(1ms);
  }
  CHECK(made["one"] != made["other"]);
  CHECK(maker.make("one", "ED25519")->has_value());
  CHECK_FALSE(maker.make("one", "DSA")->has_value());
}

TEST_CASE("a liqod that dies while a request is under way makes one other key, and no more") {
  Certified world;
  world.create("ECDSAP256");
  REQUIRE(world.reaches([&] { return world.made() == 1; }, 10s));
  world.stop();
  world.start();
  REQUIRE(world.reaches([&] { return world.made() == 2; }, 1min));
  world.issue(pem("Yw=="));
  REQUIRE(world.reaches([&] { return world.file(".chain") == pem("Yw=="); }, 1min));
  world.pass(20min);
  CHECK(world.made() == 2);
}

TEST_CASE("a pod waits in the provider for a signer that does not answer, and tells of it") {
  Certified world;
  world.create();
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 20s));
  CHECK_FALSE(world.at_milan(resources::secrets, secret_name).has_value());
  REQUIRE(world.reaches([&] { return !world.events("NoCertificateOfHome").empty(); }, 3min));
  CHECK(
      world.events("NoCertificateOfHome").front() ==
      "the certificate of signer \"example.com/x\" for this pod has been asked for in cluster rome, and the signer has "
      "not answered for a minute");
  world.pass(1h);
  CHECK(world.made() == 1);
  CHECK(world.times_reported("NoCertificateOfHome") == 1);
  // Kubernetes removes requests after a while.
  for (const kube::Object& request : world.requests())
    (void)world.server.remove(kinds::pod_certificate_requests, request.key(), {}, "cleaner");
  REQUIRE(world.reaches([&] { return world.made() == 2; }, 2min));
  world.issue(pem("ZA=="));
  CHECK(world.reaches([&] { return world.file(".chain") == pem("ZA=="); }, 2min));
}

TEST_CASE("what a signer refuses is told in its words, and not asked for again") {
  Certified world;
  world.create();
  REQUIRE(world.reaches([&] { return world.requests().size() == 1; }, 10s));
  world.refuse_requests("Denied", "UnsupportedKeyType");
  REQUIRE(world.reaches([&] { return !world.events("NoCertificateOfHome").empty(); }, 1min));
  CHECK(world.events("NoCertificateOfHome").front() ==
        "the certificate of signer \"example.com/x\" for this pod was refused: UnsupportedKeyType: not this one");
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 1min));
  world.pass(2h);
  CHECK(world.made() == 1);
  CHECK(world.times_reported("NoCertificateOfHome") == 1);
}

TEST_CASE("a pod waits for the right to ask for its certificate, told once it lasts, and goes on when it comes") {
  Certified world;
  bool is_refused = true;
  std::size_t asked = 0;
  world.refuses = [&](const kube::HttpRequest& request) -> std::string {
    if (request.resource != "podcertificaterequests" || !is_refused) return {};
    ++asked;
    return "no right to list them";
  };
  world.create();
  world.pass(10s);
  CHECK(world.events("NoCertificateOfHome").empty());
  CHECK_FALSE(world.at_milan(kinds::shadow_pods, "web").has_value());
  REQUIRE(world.reaches([&] { return !world.events("NoCertificateOfHome").empty(); }, 1min));
  CHECK(world.events("NoCertificateOfHome").front() ==
        "liqod may not request certificates in namespace shop: upgrade the installation with its chart, or set "
        "offloading.podCertificates to provider");
  const std::size_t before = asked;
  world.pass(10min);
  CHECK(asked <= before + 11);
  CHECK(world.times_reported("NoCertificateOfHome") == 1);
  is_refused = false;
  CHECK(world.reaches([&] { return world.made() == 1; }, 2min));
}

TEST_CASE("where home takes no requests, the provider's signers are asked, and the pod tells of it") {
  Offloading world;
  kube::Object pod = kube::Object::make(resources::pods, {shop, "web"});
  const json::object source{{"podCertificate", json::object{{"signerName", "example.com/x"}, {"keyType", "ED25519"}}}};
  pod.mutable_spec() = json::object{
      {"nodeName", "milan"},
      {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}},
      {"volumes",
       json::array{json::object{{"name", "tls"}, {"projected", json::object{{"sources", json::array{source}}}}}}}};
  world.apply(resources::pods, pod);
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 1min));
  CHECK_FALSE(core::mounts_certificates(*world.at_milan(kinds::shadow_pods, "web")));
  CHECK(world.reaches([&] { return world.events("NoCertificateOfHome").size() == 1; }, 10s));
  CHECK(world.events("NoCertificateOfHome").front() ==
        "the pod gets no certificate of a signer of cluster rome, which takes no requests for those of pods "
        "(certificates.k8s.io/v1)");
}

}  // namespace liqo::testing
