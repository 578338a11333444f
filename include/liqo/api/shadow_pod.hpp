// Typed reading of a ShadowPod, the provider's durable order to run one pod of a consumer.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::api {

/// A view; lives as long as the object.
class ShadowPod {
 public:
  explicit ShadowPod(const kube::Object& object) : object_(&object) {}
  const kube::Object& object() const { return *object_; }
  const kube::json::object& pod_spec() const { return kube::object_at(object_->spec(), {"pod"}); }
  /// "Unknown" until the provider has recorded another one.
  std::string_view phase() const;
  /// True once the phase is Succeeded or Failed: the pod is never started again.
  bool is_finished() const;
  /// The consumer as the label names it.
  std::string_view origin() const;
  /// The virtual node it came through.
  std::string_view node_name() const;
  /// UID of the consumer's pod, "" for objects of the Go version.
  std::string_view local_pod_uid() const;

 private:
  const kube::Object* object_;
};

/// The phase of a Pod; "" before it has one.
inline std::string_view phase_of(const kube::Object& pod) { return kube::string_at(pod.status(), {"phase"}); }

/// Whether a phase of a Pod or ShadowPod is final.
inline bool is_final_phase(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }

}  // namespace liqo::api
