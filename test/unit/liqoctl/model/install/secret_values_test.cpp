// Which values are credentials, and how much of them is shown.
#include "model/install/secret_values.hpp"

#include <doctest/doctest.h>

using namespace liqoctl;
namespace json = kube::json;

TEST_CASE("credentials are shown as set, and names of Secrets as they are") {
  const json::object values = json::parse(R"({"image": {"repository": "r"}, "imagePullSecrets": [{"name": "registry"}],
      "apiServer": {"ca": "LS0tLS1CRUdJTiBDRVJU", "trustedCA": false}, "metrics": {"certificateSecret": "tls"},
      "podAnnotations": {"vault-token": "s3cr3t", "note": "-----BEGIN CERTIFICATE-----", "empty-token": ""},
      "registryCredentials": {"user": "tim", "pin": 1234},
      "extraArgs": ["--log-level=debug", "--push-token=abc", "--api-password", "xyz", "--workers=3",
          "--trust=LS0tLS1CRUdJTiBD"],
      "tolerations": [{"key": "dedicated", "operator": "Exists"}]})")
                                  .as_object();
  CHECK(json::value(model::without_secrets(values)) ==
        json::parse(R"-({"image": {"repository": "r"}, "imagePullSecrets": [{"name": "registry"}],
      "apiServer": {"ca": "(set, not shown)", "trustedCA": false}, "metrics": {"certificateSecret": "tls"},
      "podAnnotations": {"vault-token": "(set, not shown)", "note": "(set, not shown)", "empty-token": ""},
      "registryCredentials": {"user": "(set, not shown)", "pin": "(set, not shown)"},
      "extraArgs": ["--log-level=debug", "--push-token=(set, not shown)", "--api-password", "(set, not shown)",
          "--workers=3", "--trust=(set, not shown)"],
      "tolerations": [{"key": "dedicated", "operator": "Exists"}]})-"));
}

TEST_CASE("names of credentials are known however their words are joined") {
  for (const char* name : {"api-key", "API_KEY", "access_key", "private_key", "secretKey", "client-secret",
                           "passphrase", "db-password.v2", "example.com/api-key", "--token", "ca", "--ca-override"}) {
    CAPTURE(name);
    CHECK(model::names_secret(name));
  }
  for (const char* name : {"secretKeyRef", "certificateSecret", "imagePullSecrets", "key", "cache", "name"}) {
    CAPTURE(name);
    CHECK_FALSE(model::names_secret(name));
  }
  const json::object values =
      json::parse(R"({"extraEnv": [{"name": "API_KEY", "value": "x"}, {"name": "LEVEL", "value": "y"}]})").as_object();
  CHECK(json::value(model::without_secrets(values)) ==
        json::parse(
            R"-({"extraEnv": [{"name": "API_KEY", "value": "(set, not shown)"}, {"name": "LEVEL", "value": "y"}]})-"));
}

TEST_CASE("what was shown in place of a credential is found among values") {
  const auto found = [](std::string_view text) { return model::find_not_shown(json::parse(text).as_object()); };
  CHECK(found(R"-({"apiServer": {"ca": "(set, not shown)"}})-") == "apiServer.ca");
  CHECK(found(R"-({"extraArgs": ["a", "--token=(set, not shown)"]})-") == "extraArgs");
  CHECK(found(R"({"apiServer": {"ca": "abc"}, "list": [{"a": 1}]})").empty());
}
