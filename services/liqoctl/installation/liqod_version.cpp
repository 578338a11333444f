#include "installation/liqod_version.hpp"

#include "liqo/api/kinds.hpp"

namespace liqoctl {
std::string image_tag(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t colon = image.rfind(':');
  if (colon == std::string_view::npos || image.find('/', colon) != std::string_view::npos) return {};
  return std::string(image.substr(colon + 1));
}

asio::awaitable<Result<std::string>> read_liqod_image(Cluster& cluster) {
  auto found = co_await cluster.list(liqo::api::kinds::deployments, cluster.liqo_namespace());
  if (!found) co_return std::unexpected(std::move(found.error()));
  for (const Object& deployment : *found)
    for (const auto& container : kube::array_at(deployment.spec(), {"template", "spec", "containers"}))
      if (const auto name = kube::string_at(container, {"name"}); name == "liqod" || name == "controller-manager")
        co_return std::string(kube::string_at(container, {"image"}));
  co_return std::string();
}

asio::awaitable<Result<std::string>> read_liqod_version(Cluster& cluster) {
  auto image = co_await read_liqod_image(cluster);
  if (!image) co_return image;
  co_return image_tag(*image);
}

}  // namespace liqoctl
