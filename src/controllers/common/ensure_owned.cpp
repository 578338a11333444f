#include "controllers/common/ensure_owned.hpp"

#include "core/common/owner.hpp"

namespace liqo::controllers {

std::optional<kube::Object> due_write(const kube::Informer& informer, const OwnedObject& object) {
  const auto live = informer.find(object.wanted.key());
  if (!live) return object.wanted;
  if (!core::is_controlled_by(*live, object.owner) || live->is_deleting()) return std::nullopt;
  kube::Object next = *live;
  object.mend(next);
  if (next.tree() == live->tree()) return std::nullopt;
  return next;
}

asio::awaitable<kube::Result<bool>> ensure_owned(kube::Api& api, kube::Informer& informer, OwnedObject object) {
  const kube::Resource& resource = informer.scope().resource;
  const auto live = informer.find(object.wanted.key());
  if (live && !core::is_controlled_by(*live, object.owner)) co_return false;
  const auto next = due_write(informer, object);
  if (!next) co_return true;
  KUBE_CO_TRY(written, live ? co_await api.replace(resource, *next) : co_await api.create(resource, *next),
              (live ? "repairing " : "making ") + object.name);
  informer.observe(std::move(written));
  co_return true;
}

}  // namespace liqo::controllers
