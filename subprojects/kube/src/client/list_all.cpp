#include "kube/client/list_all.hpp"

namespace kube {

asio::awaitable<Result<std::string>> list_all(Api& api, Collection collection, ListOptions options,
                                              std::function<bool(Object)> take) {
  if (options.limit == 0) options.limit = list_page_size;
  std::string version;
  while (true) {
    KUBE_CO_TRY(page, co_await api.list_each(collection.resource, collection.ns, options, [&](wire::ListItem item) {
      if (item.too_deep && !options.metadata_only) return true;
      auto object = Object::from(std::move(item.tree));
      return !object || take(std::move(*object));
    }));
    if (version.empty()) version = page.resource_version;
    if (page.continue_token.empty()) co_return version;
    options.continue_token = std::move(page.continue_token);
  }
}

}  // namespace kube
