#include "sample_review.hpp"

#include "kube/k8s/object.hpp"
#include "liqo/api/labels.hpp"
#include "sample_pod.hpp"

namespace bench {

namespace json = kube::json;

std::string sample_review() {
  const kube::Object pod = *kube::Object::parse(sample_pod(1));
  auto shadow =
      kube::Object::make({"offloading.liqo.io", "v1beta1", "shadowpods", "ShadowPod"}, {"shop-rome", "web-1"});
  shadow.set_label(liqo::api::labels::reflection_origin, "rome");
  shadow.set_label(liqo::api::labels::creator_user, sample_user);
  shadow.mutable_metadata()["uid"] = "6f6b1c9e-8a70-4f0c-9a5e-000000000001";
  shadow.mutable_metadata()["managedFields"] = kube::array_at(pod.tree(), {"metadata", "managedFields"});
  json::object spec = pod.spec();
  spec.erase("nodeName");
  spec.erase("priority");
  spec.erase("preemptionPolicy");
  spec["volumes"] = json::array{json::object{{"name", "scratch"}, {"emptyDir", json::object{}}}};
  shadow.mutable_spec()["pod"] = std::move(spec);
  const json::value review = {
      {"kind", "AdmissionReview"},
      {"apiVersion", "admission.k8s.io/v1"},
      {"request",
       {{"uid", "a3ba7b6e-9b69-4d4c-8b3b-000000000001"},
        {"kind", {{"group", "offloading.liqo.io"}, {"version", "v1beta1"}, {"kind", "ShadowPod"}}},
        {"resource", {{"group", "offloading.liqo.io"}, {"version", "v1beta1"}, {"resource", "shadowpods"}}},
        {"name", "web-1"},
        {"namespace", "shop-rome"},
        {"operation", "CREATE"},
        {"userInfo", {{"username", sample_user}, {"groups", {"rome", "system:authenticated"}}}},
        {"object", shadow.tree()},
        {"oldObject", nullptr},
        {"dryRun", false},
        {"options", {{"kind", "CreateOptions"}, {"apiVersion", "meta.k8s.io/v1"}}}}}};
  return json::serialize(review);
}

}  // namespace bench
