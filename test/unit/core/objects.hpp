// Objects for the tests of the core: text to objects, and the pods that most cases start from.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::testing {

namespace json = kube::json;

inline json::value parse_value(std::string_view text) {
  auto parsed = kube::parse_json(text);
  INFO(text);
  REQUIRE(parsed.has_value());
  return std::move(*parsed);
}
inline kube::Object parse(std::string_view text) {
  auto parsed = kube::Object::parse(text);
  INFO(text);
  REQUIRE(parsed.has_value());
  return std::move(*parsed);
}

/// 2026-11-21T10:00:00Z and later.
inline kube::WallTime at(std::chrono::seconds later = std::chrono::seconds(0)) {
  return *kube::parse_time("2026-11-21T10:00:00Z") + later;
}

/// Cluster "local" offloads to cluster "remote" through the node "milan".
inline ForgingContext context() {
  ForgingContext ctx;
  ctx.clusters = {.local = "local-cluster", .remote = "remote-cluster"};
  ctx.node_name = "milan";
  return ctx;
}

/// A pod at home on the node, with UID "u1" and one container "main". `status`, `spec` and `metadata` are JSON objects
/// whose fields are added.
inline kube::Object local_pod(std::string_view status = "{}", std::string_view spec = "{}",
                              std::string_view metadata = "{}") {
  kube::Object pod = parse(R"({"apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "labels": {"app": "web"}},
    "spec": {"nodeName": "milan", "restartPolicy": "Always", "containers": [{"name": "main", "image": "img:v1"}]}})");
  const auto merge = [](json::object& into, std::string_view text) {
    const json::value parsed = parse_value(text);
    for (const auto& [key, value] : parsed.get_object()) into[key] = value;
  };
  merge(pod.mutable_metadata(), metadata);
  merge(pod.mutable_spec(), spec);
  merge(pod.mutable_status(), status);
  return pod;
}

/// A ShadowPod or remote Pod that was made for the pod with this UID ("" = by the Go version, which notes none).
inline kube::Object reflected(std::string_view kind, std::string_view uid, std::string_view local_uid,
                              std::string_view status = "{}", bool deleting = false) {
  kube::Object object =
      parse(R"({"apiVersion": "v1", "kind": "X", "metadata": {"name": "web", "namespace": "shop-r"}})");
  object.tree()["kind"] = kind;
  object.mutable_metadata()["uid"] = uid;
  object.set_label("offloading.liqo.io/origin", "local-cluster");
  object.set_label("offloading.liqo.io/destination", "remote-cluster");
  object.set_label("offloading.liqo.io/nodename", "milan");
  if (!local_uid.empty()) object.set_annotation("offloading.liqo.io/local-pod-uid", local_uid);
  if (deleting) object.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  object.mutable_status() = parse_value(status).get_object();
  return object;
}

}  // namespace liqo::core::testing
