#include "usage/kubelet_token_keeper.hpp"

#include "core/usage/kubelet_token.hpp"
#include "liqo/api/names.hpp"

namespace liqo::usage {
namespace {

using namespace std::chrono_literals;

/// The pause after a refusal, which a person has to mend. Within it a token is not doubted again.
constexpr kube::Duration long_pause = 1min;
/// The pause while the API server does not answer.
constexpr kube::Duration short_pause = 5s;
/// How long after a start a refusal may be due to an installation whose rights the API server does not know yet.
constexpr kube::Duration settling_time = 1min;

}  // namespace

KubeletTokenKeeper::KubeletTokenKeeper(const kube::Environment& environment, kube::Api& api, std::string ns)
    : clock_(environment.clock), api_(api), ns_(std::move(ns)), log_("metric-agent"), doubted_(environment.executor) {}

void KubeletTokenKeeper::doubt(std::string_view token) {
  if (token == token_ && clock_.now() - asked_ >= long_pause) doubted_.set();
}

asio::awaitable<void> KubeletTokenKeeper::run() {
  begun_ = clock_.now();
  while (true) {
    const kube::Duration pause = co_await renew();
    doubted_.reset();
    static_cast<void>(co_await doubted_.wait_for(clock_, pause));
  }
}

asio::awaitable<kube::Duration> KubeletTokenKeeper::renew() {
  asked_ = clock_.now();
  const auto answer =
      co_await api_.post(kube::resources::service_accounts, {ns_, std::string(api::metric_agent_account)}, "token",
                         core::forge_kubelet_token_request());
  if (!answer) co_return log_failure(answer.error());
  auto token = core::read_kubelet_token(*answer);
  if (!token) co_return log_failure(token.error());
  token_ = std::move(token->text);
  expires_ = asked_ + token->lifetime;
  if (std::exchange(is_logged_, false)) log_.info("there is a token for kubelets: they are asked for usage");
  co_return token->renew_after();
}

kube::Duration KubeletTokenKeeper::log_failure(const kube::Failure& failure) {
  const bool is_refused = failure.is_permanent();
  if (is_refused || clock_.now() >= expires_) token_.clear();
  if (token_.empty() && !std::exchange(is_logged_, true))
    log_.error("consumers get no usage, because there is no token for kubelets",
               {{"error", core::no_kubelet_token(ns_, failure)}});
  return is_refused && clock_.now() - begun_ >= settling_time ? long_pause : short_pause;
}

}  // namespace liqo::usage
