#include "core/offloading/home_root_ca.hpp"

#include <string>

#include "core/common/json_values.hpp"
#include "core/common/names.hpp"
#include "kube/k8s/object.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core {
namespace json = kube::json;

void name_home_root_ca(json::object& pod_spec, const ForgingContext& ctx) {
  const std::string copy = remote_root_ca_name(ctx.clusters.local);
  const auto rename = [&](json::object* reference) {
    if (reference && kube::string_at(*reference, {"name"}) == api::root_ca_name) (*reference)["name"] = copy;
  };
  for_each_object(pod_spec, "volumes", [&](json::object& volume) { rename(object_in(volume, "configMap")); });
  for (std::string_view list : {"containers", "initContainers", "ephemeralContainers"})
    for_each_object(pod_spec, list, [&](json::object& container) {
      for_each_object(container, "env", [&](json::object& variable) {
        if (json::object* source = object_in(variable, "valueFrom")) rename(object_in(*source, "configMapKeyRef"));
      });
      for_each_object(container, "envFrom", [&](json::object& source) { rename(object_in(source, "configMapRef")); });
    });
}

}  // namespace liqo::core
