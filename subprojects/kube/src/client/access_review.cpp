#include "kube/client/access_review.hpp"

namespace kube {

asio::awaitable<Result<bool>> has_access(Api& api, json::object spec) {
  Object review;
  review.set_kind(resources::subject_access_reviews);
  review.mutable_spec() = std::move(spec);
  KUBE_CO_TRY(answer, co_await api.post(resources::subject_access_reviews, {}, {}, std::move(review.tree())));
  co_return bool_at(answer, {"status", "allowed"}) && !bool_at(answer, {"status", "denied"});
}

}  // namespace kube
