#include "controllers/ensure_binding.hpp"

#include "controllers/guarded_write.hpp"
#include "liqo/core/bindings.hpp"

namespace liqo::controllers {

namespace json = kube::json;

asio::awaitable<kube::Result<void>> ensure_binding(kube::Api& api, kube::Informer& informer, kube::Object wanted) {
  const kube::Resource& resource = informer.scope().resource;
  const kube::ObjectKey key = wanted.key();
  std::optional<kube::Object> live = informer.find(key);
  if (!live) {
    auto created = co_await api.create(resource, wanted);
    if (created) {
      informer.observe(std::move(*created));
      co_return kube::Result<void>();
    }
    if (!created.error().is_already_exists()) co_return kube::fail(std::move(created.error()), "binding a role");
    // Not in the cache: it came just now, or it lacks the label that the cache selects.
    auto found = co_await api.get(resource, key);
    if (!found) co_return kube::fail(std::move(found.error()), "binding a role");
    live = std::move(*found);
  }
  if (!core::has_same_role(*live, wanted)) {
    auto removed = co_await api.remove(resource, key, {.uid = std::string(live->uid())});
    if (!removed && !removed.error().is_not_found())
      co_return kube::fail(std::move(removed.error()), "removing a binding of another role");
    informer.observe_gone(key, live->uid());
    auto created = co_await api.create(resource, wanted);
    if (!created) co_return kube::fail(std::move(created.error()), "binding a role");
    informer.observe(std::move(*created));
    co_return kube::Result<void>();
  }
  bool labelled = true;
  for (const auto& [label, value] : wanted.labels())
    labelled = labelled && value.is_string() && live->label(label) == std::string_view(value.get_string());
  if (labelled && core::has_same_subjects(*live, wanted)) co_return kube::Result<void>();
  json::object metadata;
  metadata["labels"] = wanted.labels();
  json::object changes;
  changes["metadata"] = std::move(metadata);
  changes["subjects"] = kube::array_at(wanted.tree(), {"subjects"});
  auto patched = co_await api.patch(resource, key, {kube::PatchType::merge, guarded_patch(*live, std::move(changes))});
  if (!patched) co_return kube::fail(std::move(patched.error()), "repairing a binding");
  informer.observe(std::move(*patched));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
