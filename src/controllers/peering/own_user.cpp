#include "controllers/peering/own_user.hpp"

namespace liqo::controllers {

namespace json = kube::json;

json::object make_review(const kube::Resource& kind) {
  json::object review;
  review["apiVersion"] = kind.api_version();
  review["kind"] = json::string(kind.kind);
  return review;
}

asio::awaitable<kube::Result<std::string>> OwnUser::name() {
  if (!name_.empty()) co_return name_;
  constexpr kube::Resource reviews{"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", false};
  auto answer = co_await home_.post(reviews, {}, {}, make_review(reviews));
  if (!answer) co_return kube::fail(std::move(answer.error()), "asking the cluster who we are");
  name_ = kube::string_at(*answer, {"status", "userInfo", "username"});
  if (name_.empty()) co_return kube::fail(kube::Errc::protocol, "the cluster does not say who we are");
  co_return name_;
}

}  // namespace liqo::controllers
