#include "quota/shadow_pod_versions.hpp"

#include <algorithm>
#include <utility>

#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::quota {

namespace asio = boost::asio;

asio::awaitable<kube::Result<std::uint64_t>> newest_shadow_pod(kube::Api& replica_api, std::string label_selector) {
  std::uint64_t newest = 0;
  KUBE_CO_TRYV(
      co_await kube::list_all(replica_api, {api::kinds::shadow_pods, ""},
                              {.selection = {.label_selector = std::move(label_selector)}, .metadata_only = true},
                              [&newest](const kube::Object& shadow) {
                                newest = std::max(newest, shadow.version_number());
                                return true;
                              }));
  co_return newest;
}

asio::awaitable<kube::Result<std::uint64_t>> server_version(kube::Api& replica_api) {
  KUBE_CO_TRY(page, co_await replica_api.list(api::kinds::shadow_pods, "", {.limit = 1, .metadata_only = true}));
  co_return kube::version_number(page.resource_version);
}

}  // namespace liqo::quota
