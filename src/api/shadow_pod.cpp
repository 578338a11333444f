#include "liqo/api/shadow_pod.hpp"

#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::api {

std::string_view ShadowPod::phase() const {
  const std::string_view phase = kube::string_at(object_->status(), {"phase"});
  return phase.empty() ? std::string_view("Unknown") : phase;
}

bool ShadowPod::is_finished() const { return is_final_phase(phase()); }
std::string_view ShadowPod::origin() const { return object_->label(labels::reflection_origin); }
std::string_view ShadowPod::node_name() const { return object_->label(labels::node_name); }
std::string_view ShadowPod::local_pod_uid() const { return object_->annotation(annotations::local_pod_uid); }

}  // namespace liqo::api
