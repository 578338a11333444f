#include "controllers/ensure_owned.hpp"

#include "liqo/core/owner.hpp"

namespace liqo::controllers {

asio::awaitable<kube::Result<bool>> ensure_owned(kube::Api& api, kube::Informer& informer, OwnedObject object) {
  const kube::Resource& resource = informer.scope().resource;
  const auto live = informer.find(object.wanted.key());
  if (!live) {
    auto created = co_await api.create(resource, object.wanted);
    if (!created) co_return kube::fail(std::move(created.error()), "making " + object.name);
    informer.observe(std::move(*created));
    co_return true;
  }
  if (!core::is_controlled_by(*live, object.owner)) co_return false;
  if (live->is_deleting()) co_return true;
  kube::Object next = *live;
  object.mend(next);
  if (next.tree() == live->tree()) co_return true;
  auto replaced = co_await api.replace(resource, next);
  if (!replaced) co_return kube::fail(std::move(replaced.error()), "repairing " + object.name);
  informer.observe(std::move(*replaced));
  co_return true;
}

}  // namespace liqo::controllers
