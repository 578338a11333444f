#include "kube/client/self_review.hpp"

namespace kube {
namespace {

constexpr Resource self_subject_reviews{"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview",
                                        false};
constexpr Resource self_subject_access_reviews{"authorization.k8s.io", "v1", "selfsubjectaccessreviews",
                                               "SelfSubjectAccessReview", false};

}  // namespace

asio::awaitable<Result<std::string>> own_username(Api& api) {
  Object review;
  review.set_kind(self_subject_reviews);
  KUBE_CO_TRY(answer, co_await api.post(self_subject_reviews, {}, {}, std::move(review.tree())));
  co_return std::string(string_at(answer, {"status", "userInfo", "username"}));
}

asio::awaitable<Result<bool>> may_do(Api& api, json::object attributes) {
  Object review;
  review.set_kind(self_subject_access_reviews);
  review.mutable_spec()["resourceAttributes"] = std::move(attributes);
  KUBE_CO_TRY(answer, co_await api.post(self_subject_access_reviews, {}, {}, std::move(review.tree())));
  co_return bool_at(answer, {"status", "allowed"});
}

}  // namespace kube
