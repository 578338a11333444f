#include "core/admission/restored_pod.hpp"

#include "core/admission/patch.hpp"
#include "core/common/meta.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core::admission {
namespace {

void take_off(json::array& patch, const json::object& entries, std::string_view part,
              bool (*is_written)(std::string_view)) {
  for (const auto& [key, value] : entries)
    if (is_written(key)) patch.push_back(json::object{{"op", "remove"}, {"path", pointer({"metadata", part, key})}});
}

}  // namespace

void take_off_marks(json::array& patch, const kube::Object& pod) {
  // The twin namespace may itself be offloaded.
  if (pod.label(api::labels::managed_by) == api::labels::managed_by_shadow_pod) return;
  if (!pod.controller()) take_off(patch, pod.labels(), "labels", is_written_label);
  take_off(patch, pod.annotations(), "annotations", is_written_annotation);
}

}  // namespace liqo::core::admission
