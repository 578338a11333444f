#include "controllers/peering/own_user.hpp"

#include "kube/client/self_review.hpp"

namespace liqo::controllers {

asio::awaitable<kube::Result<std::string>> OwnUser::name() {
  if (!name_.empty()) co_return name_;
  auto answer = co_await kube::own_username(home_);
  if (!answer) co_return kube::fail(std::move(answer.error()), "asking the cluster who we are");
  name_ = std::move(*answer);
  if (name_.empty()) co_return kube::fail(kube::Errc::protocol, "the cluster does not say who we are");
  co_return name_;
}

}  // namespace liqo::controllers
