// The certificates that signers of home make for a pod elsewhere.
#include "core/offloading/pod_certificates.hpp"

#include "../objects.hpp"
#include "core/common/names.hpp"
#include "core/offloading/service_account_token.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "kube/base/base64.hpp"

namespace liqo::core {
namespace {

using namespace testing;

const bool served = true, served_not = false;

ForgingContext certified(const bool* is_served = &served) {
  ForgingContext ctx = context();
  ctx.pod_certificates = PodCertificates::home;
  ctx.requests_certificates = is_served;
  return ctx;
}

constexpr std::string_view volumes =
    R"({"serviceAccountName": "robot", "volumes": [{"name": "v", "projected": {"sources": [
    {"serviceAccountToken": {"path": "token"}},
    {"podCertificate": {"signerName": "example.com/x", "keyType": "ED25519", "credentialBundlePath": "all.pem",
                        "maxExpirationSeconds": 3600, "userAnnotations": {"example.com/a": "b"}, "user": 6}},
    {"podCertificate": {"signerName": "example.com/y", "keyType": "ECDSAP256", "keyPath": "key.pem",
                        "certificateChainPath": "chain.pem"}}]}}]})";

kube::Object certified_pod(std::string_view metadata = "{}") { return local_pod("{}", volumes, metadata); }

const json::array& sources_of(const kube::Object& shadow) {
  return kube::array_at(kube::array_at(shadow.spec(), {"pod", "volumes"}).at(0), {"projected", "sources"});
}

PodCertificateSet issued_for(const kube::Object& pod) {
  PodCertificateSet issued;
  for (const CertificateSource& source : certificate_sources(pod))
    issued[source.key] = {.key = "KEY\n", .chain = "CHAIN\n", .renew_at = at(), .expires = at(std::chrono::hours(1))};
  return issued;
}

kube::Object request_with(std::string_view status) {
  return parse(R"({"kind": "PodCertificateRequest", "metadata": {"name": "x"}, "status": )" + std::string(status) +
               "}");
}

}  // namespace

TEST_CASE("certificates are read from one Secret, at the same paths") {
  const kube::Object pod = certified_pod();
  const auto forged = forge_shadow_pod(pod, "shop-rome", certified());
  REQUIRE(forged);
  CHECK(forged->foreign_fields.empty());
  CHECK(mounts_certificates(forged->shadow));
  const CertificateSources sources = certificate_sources(pod);
  REQUIRE(sources.size() == 2);
  CHECK(sources[0].in_one_file);
  CHECK(sources[0].max_seconds == 3600);
  CHECK_FALSE(sources[1].in_one_file);
  CHECK(sources[0].key != sources[1].key);
  // The pod gets no token.
  const json::array& sent = sources_of(forged->shadow);
  REQUIRE(sent.size() == 2);
  for (const json::value& source : sent) CHECK(kube::string_at(source, {"secret", "name"}) == "web-certificates");
  const json::array& first = kube::array_at(sent[0], {"secret", "items"});
  REQUIRE(first.size() == 1);
  CHECK(kube::string_at(first[0], {"key"}) == sources[0].key + ".bundle");
  CHECK(kube::string_at(first[0], {"path"}) == "all.pem");
  CHECK(kube::int_at(first[0], {"user"}) == 6);
  const json::array& second = kube::array_at(sent[1], {"secret", "items"});
  REQUIRE(second.size() == 2);
  CHECK(kube::string_at(second[0], {"key"}) == sources[1].key + ".key");
  CHECK(kube::string_at(second[1], {"key"}) == sources[1].key + ".chain");
}

TEST_CASE("a pod keeps the signers of its provider if it asks for that, or home makes no certificates") {
  struct Case {
    std::string_view metadata;
    ForgingContext ctx;
  };
  ForgingContext switched_off = certified();
  switched_off.pod_certificates = PodCertificates::provider;
  for (const Case& c : {Case{R"({"annotations": {"liqo.io/downward-api": "provider"}})", certified()},
                        Case{R"({"annotations": {"liqo.io/api-server-support": "remote"}})", certified()},
                        Case{R"({"annotations": {"liqo.io/api-server-support": "disabled"}})", certified()},
                        Case{"{}", certified(&served_not)}, Case{"{}", certified(nullptr)}, Case{"{}", switched_off}}) {
    CAPTURE(c.metadata);
    const auto forged = forge_shadow_pod(certified_pod(c.metadata), "shop-rome", c.ctx);
    REQUIRE(forged);
    CHECK_FALSE(mounts_certificates(forged->shadow));
    CHECK(forged->foreign_fields.size() == 2);
  }
}

TEST_CASE("where pods get no tokens for the API server of home, they get no certificates for it either") {
  kube::Object pod = local_pod();
  const json::object source{
      {"podCertificate", json::object{{"signerName", "kubernetes.io/kube-apiserver-client-pod"}}}};
  pod.mutable_spec()["volumes"] =
      json::array{json::object{{"name", "v"}, {"projected", json::object{{"sources", json::array{source}}}}}};
  ForgingContext ctx = certified();
  CHECK_FALSE(wants_certificates(pod, ctx));
  ctx.api_server_mode = ApiServerMode::needed;
  CHECK(wants_certificates(pod, ctx));
  CHECK(wants_certificates(certified_pod(), certified()));
}

TEST_CASE("a pod that mounts more certificates than are brought is refused") {
  json::array sources;
  for (std::size_t i = 0; i <= max_certificates; ++i)
    sources.push_back(json::object{{"podCertificate", json::object{{"signerName", "example.com/x"}}}});
  kube::Object pod = local_pod();
  pod.mutable_spec()["volumes"] =
      json::array{json::object{{"name", "v"}, {"projected", json::object{{"sources", std::move(sources)}}}}};
  CHECK(excess_of_certificates(pod, certified()) ==
        "it mounts 17 certificates, and at most 16 of one pod are brought: mount fewer");
  CHECK_FALSE(forge_shadow_pod(pod, "shop-rome", certified()).has_value());
  CHECK(forge_shadow_pod(pod, "shop-rome", context()).has_value());
}

TEST_CASE("the request is that of a kubelet, in the name of the pod at home") {
  const kube::Object pod = certified_pod();
  const CertificateSources sources = certificate_sources(pod);
  const kube::Object request = forge_certificate_request(pod, sources.at(0), {"sa-uid", "node-uid"}, "der");
  CHECK(request.ns() == "shop");
  CHECK(request.name().starts_with("liqo-"));
  CHECK(request.name() != forge_certificate_request(pod, sources.at(0), {"sa-uid", "node-uid"}, "other").name());
  CHECK(request.spec() == parse_value(R"({"signerName": "example.com/x", "podName": "web", "podUID": "u1",
    "serviceAccountName": "robot", "serviceAccountUID": "sa-uid", "nodeName": "milan", "nodeUID": "node-uid",
    "maxExpirationSeconds": 3600, "stubPKCS10Request": "ZGVy", "unverifiedUserAnnotations": {"example.com/a": "b"}})")
                              .get_object());
  const json::array& owners = kube::array_at(request.tree(), {"metadata", "ownerReferences"});
  REQUIRE(owners.size() == 1);
  CHECK(kube::string_at(owners[0], {"uid"}) == "u1");
  CHECK_FALSE(forge_certificate_request(pod, sources.at(1), {"a", "b"}, "der").spec().contains("maxExpirationSeconds"));
}

TEST_CASE("an answer is a certificate, a refusal, or not there yet") {
  const auto waits = read_certificate_answer(request_with("{}"));
  CHECK_FALSE(waits.issued.has_value());
  CHECK(waits.refusal.empty());
  const auto denied = read_certificate_answer(request_with(
      R"({"conditions": [{"type": "Denied", "status": "True", "reason": "UnsupportedKeyType", "message": "use\nED25519"}]})"));
  CHECK(denied.refusal == "UnsupportedKeyType: use ED25519");
  const auto failed = read_certificate_answer(
      request_with(R"({"conditions": [{"type": "Failed", "status": "True", "reason": "No", "message": "luck"}]})"));
  CHECK(failed.refusal == "No: luck");
  const auto answered = [](const std::string& chain) {
    return read_certificate_answer(request_with(
        R"({"conditions": [{"type": "Issued", "status": "True"}], "beginRefreshAt": "2026-11-21T10:30:00Z",
            "notAfter": "2026-11-21T11:00:00Z", "certificateChain": ")" +
        chain + R"("})"));
  };
  const std::string begin = "-----BEGIN CERTIFICATE-----\n", end = "\n-----END CERTIFICATE-----\n";
  const auto issued = answered("a comment\\n-----BEGIN CERTIFICATE-----\\nYg==\\n-----END CERTIFICATE-----\\n");
  REQUIRE(issued.issued.has_value());
  CHECK(issued.issued->chain == begin + "Yg==" + end);
  CHECK(issued.issued->renew_at == at(std::chrono::minutes(30)));
  CHECK(issued.issued->expires == at(std::chrono::hours(1)));
  CHECK(answered("").refusal == "the answer has no certificate, or no time");
  CHECK(answered("-----BEGIN CERTIFICATE-----\\n" + std::string(max_chain_bytes, 'A') + "\\n-----END CERTIFICATE-----")
            .refusal == "the certificate has more than 24 KiB");
}

TEST_CASE("the Secret says after a restart what there is") {
  const kube::Object pod = certified_pod();
  const CertificateSources sources = certificate_sources(pod);
  const PodCertificateSet issued = issued_for(pod);
  kube::Object secret = forge_certificate_secret(pod, "shop-rome", issued, certified());
  CHECK(secret.key() == kube::ObjectKey{"shop-rome", "web-certificates"});
  CHECK(is_certificate_secret(secret, certified().clusters));
  CHECK(is_token_secret(secret, certified().clusters));
  const json::object& data = kube::object_at(secret.tree(), {"data"});
  CHECK(data.size() == 5);
  CHECK(kube::string_at(data, {sources[0].key + ".bundle"}) == kube::encode_base64("KEY\nCHAIN\n"));
  const PodCertificateSet read = read_certificate_secret(secret, sources);
  REQUIRE(read.size() == 2);
  CHECK(read.at(sources[1].key).key == "KEY\n");
  CHECK(read.at(sources[1].key).renew_at == at());
  CHECK_FALSE(lacks_certificates(secret, forge_certificate_secret(pod, "shop-rome", read, certified())));

  kube::Object damaged = secret;
  kube::ensure_object(damaged.tree(), "data").erase(sources[0].key + ".key");
  CHECK(lacks_certificates(damaged, secret));
  CHECK(read_certificate_secret(damaged, sources).size() == 1);
  secret.set_annotation("offloading.liqo.io/certificate-times", "no JSON");
  CHECK(read_certificate_secret(secret, sources).empty());
}

TEST_CASE("the name of the Secret leads to its pod") {
  CHECK(pod_certificates_name("web") == "web-certificates");
  CHECK(certificate_secret_pod("web-certificates", "") == "web");
  CHECK(certificate_secret_pod("web-token", "web") == "");
  CHECK(token_secret_pod("web-certificates", "web") == "");
  const std::string pod(253, 'p'), name = pod_certificates_name(pod);
  CHECK(name.size() == 253);
  CHECK(is_dns_subdomain(name));
  CHECK(certificate_secret_pod(name, pod) == pod);
}

}  // namespace liqo::core
