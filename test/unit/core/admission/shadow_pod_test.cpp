#include "core/admission/shadow_pod.hpp"

#include <doctest/doctest.h>

#include "reviews.hpp"

using namespace liqo::core::admission;
using liqo::core::PodPolicy;
using liqo::core::read_pod_policy;
using liqo::test::creating;
using liqo::test::updating;

namespace {

std::string shadow(std::string_view labels, std::string_view spec = R"({"containers":[{"name":"a","image":"i"}]})",
                   std::string_view annotations = "{}") {
  return R"({"metadata":{"name":"web","namespace":"shop-rome","uid":"uid-1","labels":)" + std::string(labels) +
         R"(,"annotations":)" + std::string(annotations) + R"(},"spec":{"pod":)" + std::string(spec) + "}}";
}

const std::string rome = R"({"offloading.liqo.io/origin":"rome","liqo.io/creator-user":"milan-1f"})";
const TwinNamespace twin{.remote_cluster = "rome", .policy = {}, .offered_classes = {}};
const std::vector<std::string> of_rome{"rome", "system:authenticated"};

}  // namespace

TEST_CASE("the creator label is the escaped name of who creates") {
  Answer answer = mutate_shadow_pod(creating(shadow(rome), "other:1", of_rome));
  CHECK(answer.patch ==
        json::parse(R"([{"op":"add","path":"/metadata/labels/liqo.io~1creator-user","value":"other-1"}])"));
  CHECK(mutate_shadow_pod(creating(shadow(rome), "milan-1f", of_rome)).patch.empty());
  CHECK_FALSE(mutate_shadow_pod(creating(shadow(rome), "")).allowed);
}

TEST_CASE("an update gets back the label it has dropped, and an old object one from its consumer") {
  const std::string bare = R"({"offloading.liqo.io/origin":"rome"})";
  const auto back = mutate_shadow_pod(updating(shadow(rome), shadow(bare), "admin"));
  CHECK(kube::string_at(back.patch.at(0), {"value"}) == "milan-1f");
  const auto filled = mutate_shadow_pod(updating(shadow(bare), shadow(bare), "milan-1f", of_rome));
  CHECK(kube::string_at(filled.patch.at(0), {"value"}) == "milan-1f");
  CHECK(mutate_shadow_pod(updating(shadow(bare), shadow(bare), "admin")).patch.empty());
  CHECK(mutate_shadow_pod(updating(shadow(rome), shadow(rome), "garbage-collector")).patch.empty());
}

TEST_CASE("a new ShadowPod is refused for its first fault, in words") {
  const struct {
    std::string object;
    std::string_view user, word;
    TwinNamespace in = twin;
  } cases[] = {
      {shadow(rome), "milan-1f", ""},
      {shadow(R"({"liqo.io/creator-user":"milan-1f"})"), "milan-1f", "offloading.liqo.io/origin is missing"},
      {shadow(rome),
       "milan-1f",
       "belongs to the consumer \"turin\"",
       {.remote_cluster = "turin", .policy = {}, .offered_classes = {}}},
      {shadow(rome), "milan-1f", "belongs to no consumer", {}},
      {shadow(rome), "someone", "must be \"someone\""},
      {shadow(R"({"offloading.liqo.io/origin":"rome","liqo.io/creator-user":"-x"})"), "-x",
       "does not fit into a label"},
      {shadow(rome, R"({"containers":[]})"), "milan-1f", "containers is empty"},
      {R"({"metadata":{"name":"web","namespace":"shop-rome","uid":"1","labels":)" + rome + "}}", "milan-1f",
       "containers is empty"},
      {shadow(rome, R"({"containers":[{"name":"a"}],"hostPID":true})"), "milan-1f", "spec.hostPID"},
      {shadow(rome, R"({"containers":[{"name":"a"}],"ephemeralContainers":[{"name":"a"}]})"), "milan-1f",
       "[0].name \"a\" is the name of another container"},
      {shadow(rome, R"({"containers":[{"name":"a"}]})", R"({"kubernetes.io/config.mirror":"x"})"), "milan-1f",
       "kubernetes.io/config.mirror"},
      {shadow(rome, R"({"containers":[{"name":"a"}],"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{
                        "storageClassName":"gold"}}}}]})"),
       "milan-1f", "storageClassName \"gold\""},
      {shadow(rome, R"({"containers":[{"name":"a"}],"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{
                        "storageClassName":"gold"}}}}]})"),
       "milan-1f",
       "",
       {.remote_cluster = "rome", .policy = {}, .offered_classes = {"gold"}}},
      {shadow(rome, R"({"containers":[{"name":"a"}],"hostPID":true})"),
       "milan-1f",
       "",
       {.remote_cluster = "rome", .policy = {.host_namespaces = true}, .offered_classes = {}}},
  };
  for (const auto& each : cases) {
    CAPTURE(each.object);
    const Answer answer = validate_shadow_pod(creating(each.object, std::string(each.user), of_rome), each.in);
    CHECK(answer.allowed == each.word.empty());
    CHECK(answer.message.find(each.word) != std::string::npos);
  }
}

TEST_CASE("a new ShadowPod is known by namespace, name and UID, as an API server fills them in") {
  const struct {
    std::string_view field, value, word;
  } cases[] = {
      {"name", "web.7d4b-x", ""},
      {"namespace", "", "metadata.namespace must be"},
      {"namespace", "shop-turin", "\"shop-rome\"; it is \"shop-turin\""},
      {"name", "", "metadata.name must be"},
      {"name", "a/b", "metadata.name must be"},
      {"name", "Web", "metadata.name must be"},
      {"uid", "", "metadata.uid must have 1 to 64"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.word);
    Request request = creating(shadow(rome), "milan-1f", of_rome);
    request.object.mutable_metadata()[each.field] = each.value;
    const Answer answer = validate_shadow_pod(request, twin);
    CHECK(answer.allowed == each.word.empty());
    CHECK(answer.message.contains(each.word));
    // If the server makes the name, the request comes without it, and the object has it.
    request.name.clear();
    CHECK(validate_shadow_pod(request, twin).allowed == each.word.empty());
  }
  Request request = creating(shadow(rome), "milan-1f", of_rome);
  request.object.mutable_metadata()["name"] = std::string(254, 'a');
  CHECK(validate_shadow_pod(request, twin).message.size() < 300);
  request = creating(shadow(rome), "milan-1f", of_rome);
  request.object.mutable_metadata()["uid"] = std::string(65, 'a');
  CHECK(validate_shadow_pod(request, twin).message.contains("it has 65"));
  request.object.mutable_metadata().erase("uid");
  request.object.mutable_metadata().erase("namespace");
  request.ns.clear();
  CHECK(validate_shadow_pod(request, twin).message.contains("metadata.namespace"));
}

TEST_CASE("a ShadowPod has a size that a pod can have") {
  const auto pod = [](std::size_t bytes, std::string_view image = "i") {
    return shadow(rome, R"({"containers":[{"name":"a","image":")" + std::string(image) + R"(","args":[")" +
                            std::string(bytes, 'x') + R"("]}]})");
  };
  CHECK(validate_shadow_pod(creating(pod(130'000), "milan-1f", of_rome), twin).allowed);
  const Answer answer = validate_shadow_pod(creating(pod(131'072), "milan-1f", of_rome), twin);
  CHECK_FALSE(answer.allowed);
  CHECK(answer.message.find("can have 131072 bytes") != std::string::npos);
  // What is stored can be updated, and does not grow.
  CHECK(validate_shadow_pod(updating(pod(140'000), pod(140'000), "milan-1f", of_rome), twin).allowed);
  CHECK_FALSE(
      validate_shadow_pod(updating(pod(140'000), pod(140'000, "much-longer"), "milan-1f", of_rome), twin).allowed);
}

TEST_CASE("a consumer stores no more ShadowPods than its policy allows") {
  const PodPolicy policy = read_pod_policy(R"({"maxShadowPods": 10, "maxShadowPodBytes": 1000})").value();
  CHECK(refuse_stored({.objects = 9, .bytes = 999}, policy) == "");
  CHECK(refuse_stored({.objects = 10, .bytes = 10}, policy).find("(maxShadowPods in the policy)") != std::string::npos);
  CHECK(refuse_stored({.objects = 1, .bytes = 1000}, policy).find("(maxShadowPodBytes in the policy)") !=
        std::string::npos);
  CHECK(refuse_stored({.objects = 19'999, .bytes = 1 << 20}, PodPolicy()) == "");
  CHECK(refuse_stored({.objects = 20'000, .bytes = 1 << 20}, PodPolicy()) != "");
}

TEST_CASE("that a consumer stores as much as it may is said without figures, too") {
  const PodPolicy policy{.max_shadow_pods = 1234, .max_shadow_pod_bytes = 5678};
  const Request request = creating(shadow(rome), "milan-1f", of_rome);
  CHECK(refuse_growth(request, {.objects = 1233, .bytes = 5677}, policy, false).empty());
  for (const StoredAmount& stored : {StoredAmount{1234, 0}, StoredAmount{0, 5678}})
    CHECK(refuse_growth(request, stored, policy, false) ==
          "this cluster stores as many pods of the consumer as it may have");
}

TEST_CASE("what a consumer stores is bounded when its ShadowPods grow, too") {
  const PodPolicy policy = read_pod_policy(R"({"maxShadowPods": 10, "maxShadowPodBytes": 1000})").value();
  Request request;
  request.operation = Operation::update;
  request.user = {.name = "milan-1f", .groups = {"rome"}};
  request.old_object = kube::Object::from(json::parse(R"({"metadata":{"name":"web"}})")).value();
  request.old_object.set_label("offloading.liqo.io/origin", "rome");
  request.object = request.old_object;
  request.object.set_annotation("note", "more");
  CHECK(refuse_growth(request, {.objects = 50, .bytes = 2000}, policy).find("(maxShadowPodBytes in the policy)") !=
        std::string::npos);
  CHECK(refuse_growth(request, {.objects = 50, .bytes = 999}, policy) == "");
  std::swap(request.object, request.old_object);
  CHECK(refuse_growth(request, {.objects = 50, .bytes = 2000}, policy) == "");
  std::swap(request.object, request.old_object);
  request.user = {.name = "system:serviceaccount:liqo:liqod", .groups = {}};
  CHECK(refuse_growth(request, {.objects = 50, .bytes = 2000}, policy) == "");
  request.operation = Operation::create;
  CHECK(refuse_growth(request, {.objects = 50, .bytes = 0}, policy) != "");
}

TEST_CASE("an update changes what may change and nothing else") {
  const std::string pod = R"({"containers":[{"name":"a","image":"i","env":[]}],"hostPID":true})";
  const std::string other = R"({"offloading.liqo.io/origin":"rome","liqo.io/creator-user":"turin-2e"})";
  const std::string bare = R"({"offloading.liqo.io/origin":"rome"})";
  const std::string plain = R"({"containers":[{"name":"a","image":"i"}]})";
  const std::string said = R"({"offloading.liqo.io/refused":"mine"})";
  const struct {
    std::string before, after;
    std::string user;
    std::string_view word;
  } cases[] = {
      {shadow(rome, pod), shadow(rome, pod), "milan-1f", ""},
      // What was stored before there was a rule stays.
      {shadow(rome, pod), shadow(rome, R"({"containers":[{"name":"a","image":"j"}],"hostPID":true})"), "milan-1f", ""},
      {shadow(rome), shadow(rome, R"({"containers":[{"name":"a","image":"j"}],"activeDeadlineSeconds":5,
                                      "tolerations":[{"key":"k"}]})"),
       "milan-1f", ""},
      {shadow(rome), shadow(rome, R"({"containers":[{"name":"a","image":"i"}],"initContainers":null})"), "milan-1f",
       ""},
      {shadow(rome), shadow(rome), "system:serviceaccount:kube-system:generic-garbage-collector", ""},
      {shadow(bare), shadow(rome), "milan-1f", ""},
      {shadow(bare), shadow(bare), "admin", ""},
      {shadow(bare), shadow(other), "milan-1f", "creator-user cannot be changed"},
      {shadow(rome), shadow(other), "milan-1f", "creator-user cannot be changed"},
      {shadow(rome), shadow(rome), "turin-2e", "belongs to the identity \"milan-1f\""},
      {shadow(rome), shadow(R"({"offloading.liqo.io/origin":"milan","liqo.io/creator-user":"milan-1f"})"), "milan-1f",
       "origin cannot be changed"},
      {shadow(rome), shadow(rome, R"({"containers":[{"name":"a","image":"i","command":["sh"]}]})"), "milan-1f",
       "spec.containers[0].command cannot be changed"},
      {shadow(rome), shadow(rome, R"({"containers":[{"name":"b","image":"i"}]})"), "milan-1f",
       "spec.containers[0].name cannot be changed"},
      {shadow(rome), shadow(rome, R"({"containers":[]})"), "milan-1f", "spec.containers cannot be changed"},
      {shadow(rome, R"({"containers":[{"name":"a"},{"name":"b"}]})"), shadow(rome, R"({"containers":[{"name":"a"}]})"),
       "milan-1f", "spec.containers cannot be changed"},
      {shadow(rome), shadow(rome, R"({"containers":[{"name":"a","image":"i"}],"hostNetwork":true})"), "milan-1f",
       "spec.hostNetwork cannot be changed"},
      {shadow(rome), shadow(rome, R"({"containers":[{"name":"a","image":"i"}],"tolerations":[{"operator":"Exists"}]})"),
       "milan-1f", ""},
      {shadow(rome), shadow(rome, R"({"containers":[{"name":"a","image":"i"}],"tolerations":[{"tomorrow":1}]})"),
       "milan-1f", "spec.tolerations[0].tomorrow"},
      {shadow(rome), shadow(rome, R"({"containers":[{"name":"a","image":"i"}],
                                      "ephemeralContainers":[{"name":"debugger","image":"busybox","tty":true}]})"),
       "milan-1f", ""},
      {shadow(rome), shadow(rome, R"({"containers":[{"name":"a","image":"i"}],
                                      "ephemeralContainers":[{"name":"d","securityContext":{"privileged":true}}]})"),
       "milan-1f", "spec.ephemeralContainers[0].securityContext.privileged"},
      {shadow(rome), shadow(rome, R"({"containers":[{"name":"a","image":"i"}],"ephemeralContainers":[{"name":"a"}]})"),
       "milan-1f", "[0].name \"a\" is the name of another container"},
      {shadow(rome, R"({"containers":[{"name":"a"}],"ephemeralContainers":[{"name":"d","image":"i"}]})"),
       shadow(rome, R"({"containers":[{"name":"a"}],"ephemeralContainers":[{"name":"d","image":"j"}]})"), "milan-1f",
       "ephemeralContainers[0] cannot be changed or removed"},
      {shadow(rome, R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]})"),
       shadow(rome, R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"2"},"limits":{"memory":"1Gi"}}}]})"),
       "milan-1f", ""},
      {shadow(rome, R"({"containers":[{"name":"a"}]})"),
       shadow(rome, R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"2"}}}]})"), "milan-1f", ""},
      {shadow(rome, R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]})"),
       shadow(rome, R"({"containers":[{"name":"a"}]})"), "milan-1f", ""},
      {shadow(rome, R"({"containers":[{"name":"a"}]})"),
       shadow(rome, R"({"containers":[{"name":"a","resources":{"limits":{"nvidia.com/gpu":"1"}}}]})"), "milan-1f",
       "spec.containers[0].resources.limits.nvidia.com/gpu cannot be changed"},
      {shadow(rome, R"({"containers":[{"name":"a"}]})"),
       shadow(rome, R"({"containers":[{"name":"a","resources":{"claims":[{"name":"gpu"}]}}]})"), "milan-1f",
       "spec.containers[0].resources.claims cannot be changed"},
      {shadow(rome, R"({"containers":[{"name":"a"}]})"),
       shadow(rome, R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"2"}}})"), "milan-1f",
       "spec.resources cannot be changed"},
      {shadow(rome, R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"2"}}})"),
       shadow(rome, R"({"containers":[{"name":"a"}]})"), "milan-1f", "spec.resources cannot be changed"},
      {shadow(rome, R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"2"}}})"),
       shadow(rome, R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"3"},"limits":{"memory":"1Gi"}}})"),
       "milan-1f", ""},
      {shadow(rome, R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"2"}}})"),
       shadow(rome, R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"2","hugepages-2Mi":"4Mi"}}})"),
       "milan-1f", "spec.resources.requests.hugepages-2Mi cannot be changed"},
      // What this cluster notes on the ShadowPod is not for the consumer to change, but it may drop it.
      {shadow(rome, plain), shadow(rome, plain, said), "milan-1f", "offloading.liqo.io/refused cannot be changed"},
      {shadow(rome, plain, R"({"offloading.liqo.io/refused":"full"})"), shadow(rome, plain, said), "milan-1f",
       "offloading.liqo.io/refused cannot be changed"},
      {shadow(rome, plain, said), shadow(rome, plain, said), "milan-1f", ""},
      {shadow(rome, plain, said), shadow(rome, plain), "milan-1f", ""},
      {shadow(rome, plain), shadow(rome, plain, said), "liqod", ""},
      // What was let in by another policy stays, and lets nothing else in.
      {shadow(rome, R"({"containers":[{"name":"a"}],"ephemeralContainers":[{"name":"d",
                        "securityContext":{"privileged":true}}]})"),
       shadow(rome, R"({"containers":[{"name":"a"}],"ephemeralContainers":[{"name":"d",
                        "securityContext":{"privileged":true}},{"name":"e"}]})"),
       "milan-1f", ""},
      {shadow(rome, R"({"containers":[{"name":"a"}],"ephemeralContainers":[{"name":"d",
                        "securityContext":{"privileged":true}}]})"),
       shadow(rome, R"({"containers":[{"name":"a"}],"ephemeralContainers":[{"name":"d",
                        "securityContext":{"privileged":true}},{"name":"e","securityContext":{"privileged":true}}]})"),
       "milan-1f", "spec.ephemeralContainers[1].securityContext.privileged"},
      {shadow(rome),
       shadow(R"({"offloading.liqo.io/origin":"rome","liqo.io/creator-user":"milan-1f","istio.io/rev":"x"})"),
       "milan-1f", "label istio.io/rev"},
      {shadow(rome),
       shadow(rome, R"({"containers":[{"name":"a","image":"i"}]})", R"({"kubernetes.io/config.mirror":"x"})"),
       "milan-1f", "kubernetes.io/config.mirror"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.after);
    const bool of_consumer = each.user == "milan-1f" || each.user == "turin-2e";
    const auto groups = of_consumer ? of_rome : std::vector<std::string>{"system:authenticated"};
    const Answer answer = validate_shadow_pod(updating(each.before, each.after, each.user, groups), twin);
    CHECK(answer.allowed == each.word.empty());
    CHECK(answer.message.find(each.word) != std::string::npos);
  }
}

TEST_CASE("other amounts are a resize, whatever is written there") {
  const auto asks = [](const char* before, const char* after, Operation operation = Operation::update) {
    Request request = updating(shadow(rome, std::string(R"({"containers":[{"name":"a","image":"i")") + before + "}]}"),
                               shadow(rome, std::string(R"({"containers":[{"name":"a","image":"j")") + after + "}]}"),
                               "milan-1f", {"rome"});
    request.operation = operation;
    return is_resize(request);
  };
  constexpr const char* one = R"(,"resources":{"requests":{"cpu":"1"}})";
  CHECK_FALSE(asks("", ""));
  CHECK_FALSE(asks(one, one));
  CHECK(asks(one, R"(,"resources":{"requests":{"cpu":"2"}})"));
  CHECK(asks(one, R"(,"resources":{"requests":{"cpu":"much"}})"));
  CHECK(asks(one, ""));
  CHECK(asks("", one));
  CHECK_FALSE(asks("", one, Operation::create));
  CHECK(is_resize(updating(shadow(rome, R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"2"}}})"),
                           shadow(rome, R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"3"}}})"),
                           "milan-1f", {"rome"})));
}

TEST_CASE("an image only changes where a container has one") {
  CHECK(frozen_difference(json::parse(R"({"volumes":[{"name":"v","image":{"reference":"a"}}]})").as_object(),
                          json::parse(R"({"volumes":[{"name":"v","image":{"reference":"b"}}]})").as_object()) ==
        "volumes[0].image.reference");
}
