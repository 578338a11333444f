#include "core/admission/claims.hpp"

#include <doctest/doctest.h>

#include "core/admission/offered_classes.hpp"
#include "reviews.hpp"

using namespace liqo::core::admission;
using liqo::core::read_pod_policy;
using liqo::test::creating;
using liqo::test::updating;
namespace json = kube::json;

namespace {

const std::string offered[] = {"standard", "fast"};

std::string claim(std::string_view spec, std::string_view annotations = "{}") {
  return R"({"metadata":{"name":"data","namespace":"shop-rome","annotations":)" + std::string(annotations) +
         R"(},"spec":)" + std::string(spec) + "}";
}

std::string refusal(const std::string& object, std::string_view policy = "",
                    std::span<const std::string> classes = offered) {
  const Answer answer =
      check_claim(creating(object, "pool-1f", {"rome"}), "rome", read_pod_policy(policy).value(), classes);
  return answer.allowed ? "" : answer.message;
}

std::string template_of(std::string_view spec, std::string_view annotations = "{}") {
  return R"({"volumes":[{"name":"c","configMap":{}},{"name":"v","ephemeral":{"volumeClaimTemplate":)" +
         claim(spec, annotations) + "}}]}";
}

}  // namespace

TEST_CASE("a claim is of a class on offer and takes nothing that is somebody's") {
  CHECK(refusal(claim(R"({"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},
      "storageClassName":"fast","volumeMode":"Filesystem","dataSource":{"kind":"PersistentVolumeClaim","name":"own"}})")) ==
        "");
  const struct {
    std::string object;
    std::string_view says;
    std::string_view policy;  // what lets it pass; "" = nothing does
  } rows[] = {
      {claim(R"({"storageClassName":"gold"})"), "spec.storageClassName \"gold\"", R"({"storageClasses":["gold"]})"},
      {claim(R"({"storageClassName":"gold"})"), "storageClasses in the policy", R"({"storageClasses":["*"]})"},
      {claim(R"({"storageClassName":""})"), "anybody's", R"({"storageClasses":[""]})"},
      {claim(R"({"storageClassName":"fast","volumeName":"theirs"})"), "spec.volumeName", ""},
      {claim(R"({"storageClassName":"fast","selector":{"matchLabels":{"a":"b"}}})"), "spec.selector", ""},
      {claim(R"({"storageClassName":"fast","selector":{}})"), "spec.selector", ""},
      {claim(R"({"storageClassName":"fast","dataSourceRef":{"kind":"PersistentVolumeClaim","name":"d",
                 "namespace":"shop-paris"}})"),
       "spec.dataSourceRef.namespace", ""},
      {claim(R"({"storageClassName":"fast"})", R"({"volume.beta.kubernetes.io/storage-class":"gold"})"),
       "volume.beta.kubernetes.io/storage-class", ""},
      {claim(R"({"storageClassName":"fast","tomorrow":1})"), "spec.tomorrow", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.object);
    CHECK(refusal(row.object).contains(row.says));
    if (!row.policy.empty()) CHECK(refusal(row.object, row.policy) == "");
  }
  CHECK(refusal(claim(R"({"storageClassName":"fast"})"), "", {}) != "");
  CHECK(refusal(claim(R"({"storageClassName":"fast"})"), R"({"storageClasses":["standard"]})") != "");
  // "*" stands for names: no class at all is any volume without one.
  CHECK(refusal(claim(R"({"storageClassName":""})"), R"({"storageClasses":["*"]})") != "");
}

TEST_CASE("the cluster's default class is on offer with the others") {
  CHECK(refusal(claim("{}")) == "");
  CHECK(refusal(claim(R"({"storageClassName":null})")) == "");
  CHECK(refusal(claim("{}"), "", {}).contains("storageClasses in the policy"));
  CHECK(refusal(claim("{}"), R"({"storageClasses":["fast"]})") != "");
  CHECK(refusal(claim("{}"), R"({"storageClasses":["*"]})") == "");
}

TEST_CASE("others make the claims they like, and what is stored can stay") {
  const std::string bad = claim(R"({"storageClassName":"gold","volumeName":"theirs"})");
  CHECK(check_claim(creating(bad, "admin", {"system:masters"}), "rome", {}, offered).allowed);
  CHECK(check_claim(creating(bad, "pool-2a", {"paris"}), "rome", {}, offered).allowed);
  CHECK_FALSE(check_claim(creating(bad, "rome", {"liqo.io"}), "rome", {}, offered).allowed);
  const auto bound =
      claim(R"({"storageClassName":"gold","volumeName":"pv","resources":{"requests":{"storage":"1Gi"}}})");
  const auto larger =
      claim(R"({"storageClassName":"gold","volumeName":"pv","resources":{"requests":{"storage":"2Gi"}}})");
  CHECK(check_claim(updating(bound, larger, "pool-1f", {"rome"}), "rome", {}, offered).allowed);
  const auto open = claim(R"({"storageClassName":"fast"})");
  const auto taking = claim(R"({"storageClassName":"fast","volumeName":"theirs"})");
  CHECK_FALSE(check_claim(updating(open, taking, "pool-1f", {"rome"}), "rome", {}, offered).allowed);
}

TEST_CASE("templates of claims in pods have the same classes") {
  const auto check = [](const std::string& pod, std::string_view policy = "") {
    const auto spec = json::parse(pod);
    CHECK(has_claim_templates(spec.as_object()));
    return describe(check_claim_templates(spec.as_object(), read_pod_policy(policy).value(), offered));
  };
  CHECK(check(template_of(R"({"storageClassName":"fast"})")) == "");
  CHECK(check(template_of("{}")) == "");
  CHECK(check(template_of(R"({"storageClassName":"gold"})"))
            .contains("spec.volumes[1].ephemeral.volumeClaimTemplate.spec.storageClassName \"gold\""));
  CHECK(check(template_of(R"({"storageClassName":""})")) != "");
  CHECK(check(template_of("{}", R"({"volume.beta.kubernetes.io/storage-class":"gold"})")) != "");
  CHECK_FALSE(has_claim_templates(json::parse(R"({"volumes":[{"emptyDir":{}},1]})").as_object()));
}

TEST_CASE("the classes on offer are those that a slice of the consumer was granted") {
  const auto classes = [](std::string_view slice) { return offered_classes(liqo::test::object_of(slice)).storage; };
  CHECK(
      classes(
          R"({"status":{"storageClasses":[{"storageClassName":"a","default":true},{},7,{"storageClassName":"b"}]}})") ==
      std::vector<std::string>{"a", "b"});
  CHECK(classes(R"({"spec":{"storageClasses":[{"storageClassName":"wish"}]}})").empty());
}
