// Volumes that live as long as their pod, and have a claim.
#include "core/offloading/ephemeral_volumes.hpp"

#include "../objects.hpp"

namespace liqo::core {

using namespace testing;

TEST_CASE("ephemeral volumes of Liqo's class name the claim that was made for them, and others keep their template") {
  const auto sent = [](std::string_view volumes) {
    json::object spec{{"volumes", parse_value(volumes)}};
    const auto named = name_ephemeral_claims(spec, local_pod(), "liqo", [](std::string_view name) {
      if (name == "web-late") return std::optional<kube::Object>();
      const bool is_ours = name != "web-theirs", follows = name == "web-default" || !is_ours;
      kube::Object claim = parse(R"({"metadata": {"name": "claim", "namespace": "shop", "ownerReferences": [{
        "apiVersion": "v1", "kind": "Pod", "name": "web", "controller": true, "uid": ")" +
                                 std::string(is_ours ? "u1" : "u0") + R"("}]}})");
      claim.mutable_spec()["storageClassName"] = follows ? "liqo" : "fast";
      return std::optional<kube::Object>(std::move(claim));
    });
    if (!named) return named.error().text();
    return json::serialize(spec["volumes"]);
  };
  const auto volume = [](std::string_view name, std::string_view claim) {
    return R"({"name":")" + std::string(name) + R"(","ephemeral":{"volumeClaimTemplate":{"spec":)" +
           std::string(claim) + "}}}";
  };
  CHECK(sent("[" + volume("data", R"({"storageClassName":"liqo"})") + "]") ==
        R"([{"name":"data","persistentVolumeClaim":{"claimName":"web-data"}}])");
  CHECK(sent("[" + volume("default", "{}") + "]") ==
        R"([{"name":"default","persistentVolumeClaim":{"claimName":"web-default"}}])");
  const std::string others = "[" + volume("data", R"({"storageClassName":"fast"})") + "," + volume("other", "{}") +
                             "," + volume("default", R"({"storageClassName":"fast"})") +
                             R"(,{"name":"scratch","emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}},null])";
  CHECK(sent(others) == others);
  CHECK(sent("[]") == "[]");
  CHECK(sent("[" + volume("late", "{}") + "]") == "PersistentVolumeClaim web-late of the pod is not there yet");
  CHECK(sent("[" + volume("late", R"({"storageClassName":"fast"})") + "]").contains("volumeClaimTemplate"));
  CHECK(sent("[" + volume("late", R"({"storageClassName":"liqo"})") + "]").contains(R"("claimName":"web-late")"));
  const std::string foreign =
      "PersistentVolumeClaim web-theirs was not made for the pod, and has the name of the claim of its ephemeral "
      "volume: rename the pod, or the volume";
  CHECK(sent("[" + volume("theirs", "{}") + "]") == foreign);
  CHECK(sent("[" + volume("theirs", R"({"storageClassName":"liqo"})") + "]") == foreign);
  CHECK(sent("[" + volume("theirs", R"({"storageClassName":"fast"})") + "]").contains("volumeClaimTemplate"));
}

TEST_CASE("a pod uses claims that it names, and those that were made for it") {
  const kube::Object pod =
      local_pod("{}", R"({"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "named"}},
    {"name": "data", "ephemeral": {"volumeClaimTemplate": {}}}, {"name": "other", "emptyDir": {}}, null]})");
  CHECK(uses_claim(pod, "named"));
  CHECK(uses_claim(pod, "web-data"));
  CHECK_FALSE(uses_claim(pod, "web-a"));
  CHECK_FALSE(uses_claim(pod, "web-other"));
  CHECK_FALSE(uses_claim(pod, "data"));
}

}  // namespace liqo::core
