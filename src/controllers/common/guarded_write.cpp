#include "controllers/common/guarded_write.hpp"

namespace liqo::controllers {

namespace json = kube::json;

std::string guarded_patch(const kube::Object& live, json::object changes) {
  json::object& metadata = kube::ensure_object(changes, "metadata");
  metadata["uid"] = json::string(live.uid());
  metadata["resourceVersion"] = json::string(live.resource_version());
  return json::serialize(changes);
}

kube::Object latest_of(const kube::Informer& informer, kube::Object known) {
  auto latest = informer.find(known.key());
  return latest && latest->uid() == known.uid() ? std::move(*latest) : std::move(known);
}

}  // namespace liqo::controllers
