#include "kube/client/list_all.hpp"

#include <algorithm>
#include <vector>

namespace kube {

asio::awaitable<Result<wire::ListPage>> list_page(Api& api, Collection collection, ListOptions& options) {
  for (;;) {
    const std::size_t max_bytes = options.limit == 0 ? max_list_bytes : max_page_bytes;
    auto page = co_await api.list(collection.resource, collection.ns, options, max_bytes);
    if (page || page.error().code() != Errc::too_large || options.limit <= smallest_list_page) co_return page;
    options.limit = std::max(options.limit / 4, smallest_list_page);
    // What comes from the server's cache may come whole, whatever the limit.
    options.resource_version.clear();
  }
}

asio::awaitable<Result<std::string>> list_all(Api& api, Collection collection, ListOptions options,
                                              std::function<bool(Object)> take) {
  if (options.limit == 0) options.limit = list_page_size;
  std::string version;
  while (true) {
    auto page = co_await list_page(api, collection, options);
    if (!page) co_return std::unexpected(std::move(page.error()));
    if (version.empty()) version = page->resource_version;
    std::vector<json::array*> readable{&page->items};
    if (options.metadata_only) readable.push_back(&page->too_deep);
    for (json::array* items : readable)
      for (json::value& item : *items)
        if (auto object = Object::from(std::move(item)); object && !take(std::move(*object))) co_return version;
    if (page->continue_token.empty()) co_return version;
    options.continue_token = std::move(page->continue_token);
  }
}

}  // namespace kube
