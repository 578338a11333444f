#include "quota/shadow_pod_versions.hpp"

#include <algorithm>
#include <utility>

#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::quota {

namespace asio = boost::asio;

asio::awaitable<kube::Result<std::uint64_t>> newest_shadow_pod(kube::Api& replica_api, std::string label_selector) {
  std::uint64_t newest = 0;
  const auto listed =
      co_await kube::list_all(replica_api, {api::kinds::shadow_pods, ""},
                              {.selection = {.label_selector = std::move(label_selector)}, .metadata_only = true},
                              [&newest](const kube::Object& shadow) {
                                newest = std::max(newest, shadow.version_number());
                                return true;
                              });
  if (!listed) co_return std::unexpected(listed.error());
  co_return newest;
}

asio::awaitable<kube::Result<std::uint64_t>> server_version(kube::Api& replica_api) {
  const auto page = co_await replica_api.list(api::kinds::shadow_pods, "", {.limit = 1, .metadata_only = true});
  if (!page) co_return std::unexpected(page.error());
  co_return kube::version_number(page->resource_version);
}

}  // namespace liqo::quota
