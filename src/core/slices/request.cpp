#include "core/slices/request.hpp"

#include "core/common/names.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::core {

bool is_built_in_class(std::string_view slice_class) {
  return slice_class == default_class || slice_class == share_class;
}

bool is_counted(std::string_view resource) { return resource == "pods" || resource.contains('/'); }

SliceRequest read_slice_request(const kube::Object& slice) {
  const api::ResourceSlice view(slice);
  SliceRequest request{.slice_class = std::string(view.slice_class()), .resources = {}, .problem = ""};
  if (slice.name().size() > max_slice_name) {
    request.problem = "the name of the ResourceSlice has " + std::to_string(slice.name().size()) +
                      " characters; create it with at most " + std::to_string(max_slice_name);
    return request;
  }
  const kube::json::value* listed = kube::find(slice.spec(), {"resources"});
  if (listed && !listed->is_object() && !listed->is_null()) {
    request.problem = "spec.resources is not a list of resources by name";
    return request;
  }
  const kube::json::object& wanted = view.requested();
  if (wanted.size() > max_slice_resources) {
    request.problem = "spec.resources names " + std::to_string(wanted.size()) + " resources; at most " +
                      std::to_string(max_slice_resources) + " are served";
    return request;
  }
  for (const auto& [name, value] : wanted)
    if (!is_label_key(name)) {
      request.problem = "spec.resources: " + kube::in_quotes(name) + " is not the name of a resource";
      return request;
    }
  auto read = read_resources(wanted);
  if (!read) {
    request.problem = "spec.resources: " + std::string(kube::cut_text(read.error().text(), max_mistake));
    return request;
  }
  for (const auto& [name, quantity] : *read)
    if (is_counted(name) && kube::Quantity(quantity.value()) != quantity) {
      request.problem = "spec.resources: " + name + ": " + quantity.text() + " is not a whole number";
      return request;
    }
  request.resources = std::move(*read);
  return request;
}

}  // namespace liqo::core
