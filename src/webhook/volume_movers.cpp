#include "webhook/volume_movers.hpp"

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
  kube::Object review;
  review.set_kind(kube::resources::subject_access_reviews);
  review.mutable_spec() =
      json::object{{"user", json::string(user.name)},
                   {"groups", json::array(user.groups.begin(), user.groups.end())},
                   {"resourceAttributes",
                    json::object{{"version", volumes.version}, {"resource", volumes.plural}, {"verb", "patch"}}}};
  KUBE_CO_TRY(answer, co_await api.post(kube::resources::subject_access_reviews, {}, {}, std::move(review.tree())));
  co_return kube::bool_at(answer, {"status", "allowed"}) && !kube::bool_at(answer, {"status", "denied"});
}

}  // namespace liqo::webhook
