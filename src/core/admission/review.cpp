#include "core/admission/review.hpp"

#include "kube/base/printable.hpp"

namespace liqo::core::admission {

std::string known_as(const Request& request, std::string_view kind) {
  std::string_view name = request.name;
  if (name.empty()) name = kube::string_at(request.object.tree(), {"metadata", "generateName"});
  return name.empty() ? "the object" : std::string(kind) + " " + kube::in_quotes(name);
}

}  // namespace liqo::core::admission
