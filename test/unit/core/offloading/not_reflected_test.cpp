// The objects that a pod lacks at the provider.
#include <doctest/doctest.h>

#include "core/offloading/not_reflected.hpp"

namespace {

std::string not_reflected(const kube::Object& pod) {
  return liqo::core::not_reflected(pod, [](std::string_view claim) { return claim == "ours"; });
}

kube::Object pod(const char* spec) {
  auto parsed = kube::Object::parse(std::string(R"({"metadata":{"name":"p"},"spec":)") + spec + "}");
  REQUIRE(parsed);
  return *parsed;
}

TEST_CASE("claims are found, each once; Secrets and ConfigMaps follow the pod") {
  CHECK(not_reflected(pod(R"({"containers":[{"name":"a"}]})")).empty());
  CHECK(not_reflected(pod(R"({
    "volumes": [{"name":"a","secret":{"secretName":"tls"}},
                {"name":"b","persistentVolumeClaim":{"claimName":"data"}},
                {"name":"c","persistentVolumeClaim":{"claimName":"logs"}},
                {"name":"d","persistentVolumeClaim":{"claimName":"data"}},
                {"name":"o","persistentVolumeClaim":{"claimName":"ours"}},
                {"name":"e","configMap":{"name":"settings"}}]})")) ==
        "PersistentVolumeClaim data, PersistentVolumeClaim logs");
}

TEST_CASE("claims of devices and their templates are not copied either") {
  CHECK(not_reflected(pod(R"({"resourceClaims": [{"name":"gpu","resourceClaimName":"one"},
    {"name":"nic","resourceClaimTemplateName":"nics"}, {"name":"again","resourceClaimName":"one"}, {"name":"none"}, 7]})")) ==
        "ResourceClaim one, ResourceClaimTemplate nics");
  CHECK(liqo::core::describe_not_reflected("ResourceClaim one", "milan").ends_with("or have these objects made there"));
  CHECK(liqo::core::describe_not_reflected("PersistentVolumeClaim data", "milan").contains("StorageClass of Liqo"));
}

TEST_CASE("many are counted, and nonsense is nothing") {
  std::string volumes;
  for (int i = 0; i < 10; ++i)
    volumes += std::string(i ? "," : "") + R"({"name":"v","persistentVolumeClaim":{"claimName":"c)" +
               std::to_string(i) + "\"}}";
  const std::string told = not_reflected(pod((R"({"volumes":[)" + volumes + "]}").c_str()));
  CHECK(told.ends_with("PersistentVolumeClaim c7 and 2 more"));
  CHECK(not_reflected(pod(R"({"volumes":[7,{"persistentVolumeClaim":[]}],"containers":{"a":1}})")).empty());
}

}  // namespace
