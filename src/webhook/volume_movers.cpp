#include "webhook/volume_movers.hpp"

#include "kube/client/access_review.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::webhook {

namespace json = kube::json;
namespace {

constexpr std::size_t max_name = 1024, max_group_bytes = 64 << 10;

}  // namespace

bool is_askable(const kube::admission::User& user) {
  std::size_t bytes = 0;
  for (const std::string& group : user.groups) bytes += group.size();
  return user.name.size() <= max_name && bytes <= max_group_bytes;
}

boost::asio::awaitable<kube::Result<bool>> may_move_volumes(kube::Api& api, kube::admission::User user) {
  const kube::Resource& volumes = api::kinds::volumes;
  json::object spec{{"user", json::string(user.name)},
                    {"groups", json::array(user.groups.begin(), user.groups.end())},
                    {"resourceAttributes",
                     json::object{{"version", volumes.version}, {"resource", volumes.plural}, {"verb", "patch"}}}};
  co_return co_await kube::has_access(api, std::move(spec));
}

}  // namespace liqo::webhook
