#include "kube/client/self_review.hpp"

namespace kube {
namespace {

constexpr Resource self_subject_reviews{"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview",
                                        false};
constexpr Resource self_subject_access_reviews{"authorization.k8s.io", "v1", "selfsubjectaccessreviews",
                                               "SelfSubjectAccessReview", false};

}  // namespace

json::object review_of(const Resource& kind) { return {{"apiVersion", kind.api_version()}, {"kind", kind.kind}}; }

asio::awaitable<Result<std::string>> own_username(Api& api) {
  auto answer = co_await api.post(self_subject_reviews, {}, {}, review_of(self_subject_reviews));
  if (!answer) co_return std::unexpected(std::move(answer.error()));
  co_return std::string(string_at(*answer, {"status", "userInfo", "username"}));
}

asio::awaitable<Result<bool>> may_do(Api& api, json::object attributes) {
  json::object review = review_of(self_subject_access_reviews);
  ensure_object(review, "spec")["resourceAttributes"] = std::move(attributes);
  auto answer = co_await api.post(self_subject_access_reviews, {}, {}, std::move(review));
  if (!answer) co_return std::unexpected(std::move(answer.error()));
  co_return bool_at(*answer, {"status", "allowed"});
}

}  // namespace kube
