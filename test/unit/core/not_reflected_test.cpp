// What a pod lacks at the provider.
#include <doctest/doctest.h>

#include "liqo/core/not_reflected.hpp"

namespace {

using liqo::core::not_reflected;

kube::Object pod(const char* spec) {
  auto parsed = kube::Object::parse(std::string(R"({"metadata":{"name":"p"},"spec":)") + spec + "}");
  REQUIRE(parsed);
  return *parsed;
}

TEST_CASE("Secrets and claims are found wherever a pod names them, each once") {
  CHECK(not_reflected(pod(R"({"containers":[{"name":"a"}]})")).empty());
  CHECK(not_reflected(pod(R"({
    "volumes": [{"name":"a","secret":{"secretName":"tls"}},
                {"name":"b","persistentVolumeClaim":{"claimName":"data"}},
                {"name":"c","projected":{"sources":[{"secret":{"name":"more"}},{"serviceAccountToken":{"path":"t"}}]}},
                {"name":"d","configMap":{"name":"settings"}}],
    "initContainers": [{"name":"i","envFrom":[{"secretRef":{"name":"db"}}]}],
    "containers": [{"name":"a","env":[{"name":"P","valueFrom":{"secretKeyRef":{"name":"db","key":"p"}}}]}],
    "imagePullSecrets": [{"name":"registry"}]})")) == "Secret tls, PersistentVolumeClaim data, Secret more, Secret db");
}

TEST_CASE("what is optional does not hold a pod up") {
  CHECK(not_reflected(pod(R"({
    "volumes": [{"name":"a","secret":{"secretName":"tls","optional":true}}],
    "containers": [{"name":"a","envFrom":[{"secretRef":{"name":"db","optional":true}}],
      "env":[{"name":"P","valueFrom":{"secretKeyRef":{"name":"db","key":"p","optional":true}}}]}]})"))
            .empty());
}

TEST_CASE("many are counted, and nonsense is nothing") {
  std::string volumes;
  for (int i = 0; i < 10; ++i)
    volumes += std::string(i ? "," : "") + R"({"name":"v","secret":{"secretName":"s)" + std::to_string(i) + "\"}}";
  const std::string told = not_reflected(pod((R"({"volumes":[)" + volumes + "]}").c_str()));
  CHECK(told.ends_with("Secret s7 and 2 more"));
  CHECK(not_reflected(pod(R"({"volumes":[7,{"secret":[]}],"containers":{"a":1}})")).empty());
}

}  // namespace
