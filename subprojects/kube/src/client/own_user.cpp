#include "kube/client/own_user.hpp"

#include "kube/client/self_review.hpp"

namespace kube {

asio::awaitable<Result<std::string>> OwnUser::name() {
  if (!name_.empty()) co_return name_;
  KUBE_CO_TRY(answer, co_await own_username(api_), "asking the cluster who we are");
  name_ = std::move(answer);
  if (name_.empty()) co_return fail(Errc::protocol, "the cluster does not say who we are");
  co_return name_;
}

}  // namespace kube
