// Other amounts for containers that run: from the pod at home to its ShadowPod, and from there to the Pod.
#include "core/offloading/resize.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"
#include "core/offloading/provider_pod.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::core {
namespace {

namespace json = kube::json;

constexpr std::string_view two_containers = R"({"containers": [
  {"name": "main", "image": "a:1", "resources": {"requests": {"cpu": "500m", "memory": "64Mi"}, "limits": {"cpu": "1"}}},
  {"name": "side", "image": "b:1"}],
  "initContainers": [{"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}}]})";

json::object spec_with(std::string_view container, std::string_view part, std::string_view name,
                       std::string_view amount) {
  json::object spec = kube::parse_json(two_containers).value().as_object();
  for (const char* list : {"containers", "initContainers"})
    for (json::value& entry : spec[list].as_array())
      if (kube::string_at(entry, {"name"}) == container)
        kube::testing::ensure_path(entry.as_object(), {"resources", part})[name] = amount;
  return spec;
}

kube::Object pod_of(json::object spec) {
  kube::Object made = kube::Object::make(kube::resources::pods, {"shop", "web"});
  made.mutable_spec() = std::move(spec);
  return made;
}

kube::Object shadow_of(json::object spec) {
  kube::Object made = kube::Object::make(api::kinds::shadow_pods, {"shop-rome", "web"});
  made.mutable_metadata()["uid"] = "uid-1";
  made.mutable_metadata()["resourceVersion"] = "7";
  made.mutable_metadata()["generation"] = 3;
  made.mutable_spec()["pod"] = std::move(spec);
  return made;
}

json::object plain() { return kube::parse_json(two_containers).value().as_object(); }

/// The Pod once it notes that it is being resized to what the ShadowPod asks for.
kube::Object after_begin(const kube::Object& shadow, kube::Object pod) {
  const auto plan = plan_pod_resize(shadow, pod);
  REQUIRE((plan && std::holds_alternative<resize_action::Begin>(*plan)));
  const json::object& patch = std::get<resize_action::Begin>(*plan).patch;
  for (const auto& [key, value] : kube::object_at(patch, {"metadata", "annotations"}))
    pod.set_annotation(key, value.as_string());
  return pod;
}

}  // namespace

TEST_CASE("a resize at home changes the amounts of the ShadowPod, and nothing else of it") {
  struct Case {
    const char *container, *part, *name, *amount;
    bool changes;
  };
  for (const Case& c : {Case{"main", "requests", "cpu", "750m", true}, Case{"main", "requests", "cpu", "0.5", false},
                        Case{"main", "limits", "memory", "1Gi", true}, Case{"side", "requests", "memory", "1Mi", true},
                        Case{"proxy", "requests", "cpu", "200m", true}, Case{"main", "requests", "cpu", "junk", false},
                        Case{"main", "requests", "nvidia.com/gpu", "1", false}}) {
    CAPTURE(c.container);
    CAPTURE(c.name);
    CAPTURE(c.amount);
    const json::object wanted = spec_with(c.container, c.part, c.name, c.amount);
    CHECK(asks_otherwise(wanted, plain()) == c.changes);
    const auto patch = plan_shadow_resize(pod_of(wanted), shadow_of(plain()));
    REQUIRE(patch.has_value() == c.changes);
    if (!patch) continue;
    CHECK(kube::string_at(*patch, {"metadata", "uid"}) == "uid-1");
    CHECK(kube::string_at(*patch, {"metadata", "resourceVersion"}) == "7");
    json::object after = plain();
    for (const auto& [list, containers] : kube::object_at(*patch, {"spec", "pod"})) after[list] = containers;
    CHECK(after == wanted);
  }
  // What home leaves open is not taken away, and containers that home does not know stay.
  json::object open = plain();
  open["containers"].as_array()[0].as_object().erase("resources");
  CHECK_FALSE(plan_shadow_resize(pod_of(open), shadow_of(plain())));
}

TEST_CASE("what a pod asks for as a whole travels like that of its containers, where it was there from the start") {
  const auto with = [](const char* cpu) {
    json::object spec = plain();
    spec["resources"] = json::object{{"requests", json::object{{"cpu", cpu}}}};
    return spec;
  };
  const kube::Object shadow = shadow_of(with("1"));
  CHECK_FALSE(asks_otherwise(with("1"), with("1000m")));
  REQUIRE(asks_otherwise(with("2"), with("1")));
  const auto patch = plan_shadow_resize(pod_of(with("2")), shadow);
  REQUIRE(patch);
  CHECK(kube::object_at(*patch, {"spec", "pod"}) ==
        json::object{{"resources", json::object{{"requests", json::object{{"cpu", "2"}}}}}});
  CHECK_FALSE(has_sent(pod_of(with("2")), shadow));
  CHECK(resources_digest(with("1")) != resources_digest(with("2")));
  const kube::Object pod = forge_provider_pod(shadow);
  CHECK_FALSE(plan_pod_resize(shadow, pod));
  const kube::Object grown = shadow_of(with("3"));
  const auto plan = plan_pod_resize(grown, after_begin(grown, pod));
  REQUIRE((plan && std::holds_alternative<resize_action::Apply>(*plan)));
  CHECK(kube::object_at(std::get<resize_action::Apply>(*plan).patch, {"spec"}) ==
        json::object{{"resources", json::object{{"requests", json::object{{"cpu", "3"}}}}}});
  // A ShadowPod of a version that did not carry it.
  CHECK_FALSE(asks_otherwise(with("2"), plain()));
  CHECK_FALSE(plan_shadow_resize(pod_of(with("2")), shadow_of(plain())));
}

TEST_CASE("the Pod gets what its ShadowPod has got since, whatever the provider has made of it before") {
  kube::Object pod = forge_provider_pod(shadow_of(plain()));
  CHECK_FALSE(plan_pod_resize(shadow_of(plain()), pod));
  // The provider's admission gives more memory: that is left alone, also by a resize of cpu.
  pod.mutable_spec()["containers"]
      .as_array()[0]
      .as_object()["resources"]
      .as_object()["requests"]
      .as_object()["memory"] = "128Mi";
  CHECK_FALSE(plan_pod_resize(shadow_of(plain()), pod));
  const kube::Object grown = shadow_of(spec_with("side", "requests", "cpu", "2"));
  const kube::Object begun = after_begin(grown, pod);
  const auto plan = plan_pod_resize(grown, begun);
  REQUIRE((plan && std::holds_alternative<resize_action::Apply>(*plan)));
  const auto& apply = std::get<resize_action::Apply>(*plan);
  const json::object& container = kube::array_at(apply.patch, {"spec", "containers"}).back().get_object();
  CHECK(json::serialize(container) == R"({"name":"side","resources":{"requests":{"cpu":"2"}}})");
  CHECK(kube::string_at(apply.done, {"metadata", "annotations", api::annotations::applied_resources}) ==
        applied_note(grown));
  // Between the two steps it is looked at whatever the ShadowPod says, also if that is what it was before.
  const auto back_again = plan_pod_resize(shadow_of(plain()), begun);
  REQUIRE(back_again);
  CHECK(std::holds_alternative<resize_action::Begin>(*back_again));
  CHECK(applied_generation(begun) == 0);
  // If something else of the ShadowPod has changed, only that is noted.
  kube::Object other_image = shadow_of(plain());
  other_image.mutable_metadata()["generation"] = 4;
  const auto seen = plan_pod_resize(other_image, pod);
  REQUIRE((seen && std::holds_alternative<resize_action::Note>(*seen)));
  CHECK(kube::string_at(std::get<resize_action::Note>(*seen).patch,
                        {"metadata", "annotations", api::annotations::applied_resources}) == applied_note(other_image));
  CHECK(applied_generation(pod) == 3);

  // It has them: only the note is missing.
  pod.mutable_spec() = kube::object_at(grown.spec(), {"pod"});
  const auto noted = plan_pod_resize(grown, pod);
  REQUIRE((noted && std::holds_alternative<resize_action::Note>(*noted)));

  // A Pod of an earlier version does not say what it was made with.
  pod.mutable_metadata()["annotations"].as_object().erase(api::annotations::applied_resources);
  CHECK_FALSE(plan_pod_resize(grown, pod));
  CHECK_FALSE(takes_resize(pod));
  CHECK_FALSE(applied_generation(pod));
}

TEST_CASE("a refusal is noted for the amounts that it was about") {
  kube::Object pod = forge_provider_pod(shadow_of(plain()));
  const kube::Object grown = shadow_of(spec_with("main", "requests", "cpu", "900m"));
  CHECK(resize_left_out(pod).empty());
  const auto note = resize_refusal_patch(grown, pod, "no node has so much");
  REQUIRE(note);
  for (const auto& [key, value] : kube::object_at(*note, {"metadata", "annotations"}))
    pod.set_annotation(key, value.as_string());
  CHECK(resize_left_out(pod) == "no node has so much");
  CHECK_FALSE(resize_refusal_patch(grown, pod, "no node has so much"));
  CHECK(resize_refusal_patch(grown, pod, "other words"));
  // Asked for less again, it goes.
  const kube::Object less = shadow_of(spec_with("main", "requests", "cpu", "600m"));
  const auto back = plan_pod_resize(less, after_begin(less, pod));
  REQUIRE((back && std::holds_alternative<resize_action::Apply>(*back)));
  const json::value* note_after = kube::find(std::get<resize_action::Apply>(*back).done,
                                             {"metadata", "annotations", api::annotations::resize_refused});
  REQUIRE(note_after);
  CHECK(note_after->is_null());
  pod.set_annotation(api::annotations::resize_refused, "no-space");
  CHECK(resize_left_out(pod).empty());
}

}  // namespace liqo::core
