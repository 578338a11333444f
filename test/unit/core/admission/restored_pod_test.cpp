#include "core/admission/restored_pod.hpp"

#include <doctest/doctest.h>

#include "reviews.hpp"

using namespace liqo::core::admission;

namespace {

std::string patch_of(std::string_view metadata) {
  const auto pod = kube::Object::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":)" + std::string(metadata) + "}");
  REQUIRE(pod);
  json::array patch;
  take_off_marks(patch, *pod);
  return json::serialize(patch);
}

}  // namespace

TEST_CASE("what liqod has written on an earlier pod is taken off a new one, and nothing that users may set") {
  CHECK(patch_of(R"({"name":"web","labels":{"app":"web","liqo.io/shadowPod":"true","liqo.io/local-pod":"true"},
    "annotations":{"offloading.liqo.io/remote-pod-uid":"r1","offloading.liqo.io/restart-offset":"5"}})") ==
        R"([{"op":"remove","path":"/metadata/labels/liqo.io~1shadowPod"},)"
        R"({"op":"remove","path":"/metadata/labels/liqo.io~1local-pod"},)"
        R"({"op":"remove","path":"/metadata/annotations/offloading.liqo.io~1remote-pod-uid"},)"
        R"({"op":"remove","path":"/metadata/annotations/offloading.liqo.io~1restart-offset"}])");
  CHECK(patch_of(R"({"name":"web"})") == "[]");
  for (const char* key :
       {"liqo.io/api-server-support", "liqo.io/remote-service-account-name", "liqo.io/remote-runtime-class-name",
        "liqo.io/skip-reflection", "liqo.io/allow-reflection", "liqo.io/anti-affinity-preset",
        "kubectl.kubernetes.io/last-applied-configuration", "kubectl.kubernetes.io/restartedAt"}) {
    CAPTURE(key);
    CHECK(patch_of(R"({"name":"web","annotations":{")" + std::string(key) +
                   R"(":"x"},"labels":{"liqo.io/managed":"true"}})") == "[]");
  }
}

TEST_CASE("labels of a template stay, and so does what a provider writes on the pods of its consumers") {
  constexpr std::string_view owner =
      R"("name":"web","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web",
    "uid":"1","controller":true}])";
  CHECK(patch_of("{" + std::string(owner) + R"(,"labels":{"liqo.io/shadowPod":"true"}})") == "[]");
  CHECK(patch_of("{" + std::string(owner) + R"(,"annotations":{"offloading.liqo.io/restart-offset":"1"}})") != "[]");
  CHECK(patch_of(R"({"name":"web","labels":{"liqo.io/managed-by":"shadowpod","liqo.io/shadowPod":"true"},
    "annotations":{"offloading.liqo.io/applied-spec":"x"}})") == "[]");
}
