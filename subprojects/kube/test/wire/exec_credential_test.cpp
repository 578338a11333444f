#include "kube/wire/exec_credential.hpp"

#include <doctest/doctest.h>

namespace {

using namespace kube;
using namespace kube::wire;

const std::string v1 = "client.authentication.k8s.io/v1";

ExecPlugin plugin() {
  ExecPlugin plugin;
  plugin.api_version = v1;
  plugin.command = "aws";
  return plugin;
}

std::string answer(std::string_view status) {
  return R"({"apiVersion":")" + v1 + R"(","kind":"ExecCredential","status":)" + std::string(status) + "}";
}

}  // namespace

TEST_CASE("an exec plugin is told whether somebody can be asked, and of the cluster only if it wants to know") {
  ClusterConfig cluster;
  cluster.server = {.tls = true, .host = "::1", .port = 6443, .path = "/k8s"};
  cluster.ca_pem = "CA";
  ExecPlugin asked = plugin();
  CHECK(exec_info(cluster, asked, true) ==
        R"({"apiVersion":")" + v1 + R"(","kind":"ExecCredential","spec":{"interactive":true}})");
  asked.provide_cluster_info = true;
  CHECK(exec_info(cluster, asked, false) ==
        R"({"apiVersion":")" + v1 + R"(","kind":"ExecCredential","spec":{"interactive":false,"cluster":)" +
            R"({"server":"https://[::1]:6443/k8s","certificate-authority-data":"Q0E="}}})");
  cluster.tls_server_name = "kubernetes";
  cluster.insecure_skip_tls_verify = true;
  cluster.ca_pem.clear();
  asked.cluster_config = json::object{{"audience", "x"}};
  CHECK(exec_info(cluster, asked, false) ==
        R"({"apiVersion":")" + v1 + R"(","kind":"ExecCredential","spec":{"interactive":false,"cluster":)" +
            R"({"server":"https://[::1]:6443/k8s","tls-server-name":"kubernetes","insecure-skip-tls-verify":true,)" +
            R"("config":{"audience":"x"}}}})");
}

TEST_CASE("an exec plugin's answer is a token, a certificate with its key, or both") {
  auto credential = parse_exec_credential(answer(R"({"token":"abc"})"), plugin());
  REQUIRE(credential.has_value());
  CHECK(credential->token == "abc");
  CHECK_FALSE(credential->expires.has_value());
  credential = parse_exec_credential(answer(R"({"clientCertificateData":"CERT","clientKeyData":"KEY","token":"t",)"
                                            R"("expirationTimestamp":"2026-11-21T10:00:00Z"})"),
                                     plugin());
  REQUIRE(credential.has_value());
  CHECK(credential->certificate_pem == "CERT");
  CHECK(credential->key_pem == "KEY");
  CHECK(credential->token == "t");
  REQUIRE(credential->expires.has_value());
  CHECK(format_time(*credential->expires) == "2026-11-21T10:00:00Z");
}

TEST_CASE("an exec plugin's answer that cannot be used is refused without being quoted") {
  const std::pair<std::string, const char*> cases[] = {
      {"", "is not a JSON document"},
      {"[]", "is not a JSON document"},
      {"secret", "is not a JSON document"},
      {R"({"kind":"Status"})", "is not an ExecCredential"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"secret"}})",
       "is not of the version that the kubeconfig names, client.authentication.k8s.io/v1"},
      {answer("null"), "neither a token nor a client certificate"},
      {answer(R"({"token":7})"), "neither a token nor a client certificate"},
      {answer(R"({"token":"secret","clientKeyData":"secret"})"), "a client certificate or a key, but not both"},
      {answer(R"({"token":"secret\r\nx: y"})"), "characters that no token has"},
      {answer(R"({"token":"secret","expirationTimestamp":"soon"})"), "expirationTimestamp is not a time"},
  };
  for (const auto& [text, part] : cases) {
    CAPTURE(text);
    const auto credential = parse_exec_credential(text, plugin());
    REQUIRE_FALSE(credential.has_value());
    CAPTURE(credential.error().text());
    CHECK(credential.error().text().contains(part));
    CHECK_FALSE(credential.error().text().contains("secret"));
  }
}
