#include "controllers/offloading/home_tokens.hpp"

#include <utility>

#include "core/offloading/token_audiences.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {

asio::awaitable<kube::Result<void>> HomeTokens::learn_audiences(const kube::Object& pod,
                                                                const core::ClusterPair& clusters) {
  const kube::TimePoint now = context_.clock.now();
  if (is_learning_ || (learnt_at_ && now - *learnt_at_ < known_for)) co_return kube::Result<void>();
  const std::string ns(pod.ns());
  if (const auto failed = failed_.find(ns); failed != failed_.end() && now - failed->second.at < failed_pause) {
    // What was learnt before holds until there is an answer.
    if (learnt_at_) co_return kube::Result<void>();
    co_return std::unexpected(kube::Failure(failed->second.failure));
  }
  struct Learning {
    bool& is_on;
    explicit Learning(bool& on) : is_on(on) { is_on = true; }
    ~Learning() { is_on = false; }
  } learning(is_learning_);
  const core::TokenRequest without_audience{.key = {}, .audience = {}, .lifetime = std::chrono::minutes(10)};
  auto answer = co_await ask(pod, without_audience, clusters);
  core::Audiences found = answer ? core::read_audiences(*answer) : core::Audiences();
  if (found.empty()) {
    kube::Failure failure = answer ? kube::Failure(kube::Errc::parse, "the API server does not tell its audiences")
                                   : std::move(answer.error());
    failed_.insert_or_assign(ns, Failed{.failure = kube::Failure(failure), .at = context_.clock.now()});
    if (learnt_at_) co_return kube::Result<void>();
    co_return std::unexpected(std::move(failure).in("learning the audiences of the API server"));
  }
  audiences_ = std::move(found);
  learnt_at_ = context_.clock.now();
  failed_.clear();
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<core::IssuedToken>> HomeTokens::request(const kube::Object& pod,
                                                                     const core::TokenRequest& request,
                                                                     const core::ClusterPair& clusters) {
  KUBE_CO_TRY(answer, co_await ask(pod, request, clusters), "requesting a service-account token");
  co_return core::read_token_answer(answer);
}

asio::awaitable<kube::Result<kube::Object>> HomeTokens::ask(const kube::Object& pod, const core::TokenRequest& request,
                                                            const core::ClusterPair& clusters) {
  auto answer = co_await context_.home.api().post(kube::resources::service_accounts,
                                                  {std::string(pod.ns()), core::service_account_of(pod)}, "token",
                                                  core::forge_token_request(pod, request));
  if (!answer) {
    report(pod, answer.error(), clusters);
    co_return std::unexpected(std::move(answer.error()));
  }
  forbidden_since_.erase(std::string(pod.ns()));
  if (!answer->is_object()) co_return kube::fail(kube::Errc::parse, "a token answer that is no object");
  co_return kube::Object(std::move(answer->get_object()));
}

void HomeTokens::report(const kube::Object& pod, const kube::Failure& failure, const core::ClusterPair& clusters) {
  if (failure.is_forbidden()) {
    const kube::TimePoint now = context_.clock.now();
    const auto since = forbidden_since_.try_emplace(std::string(pod.ns()), now).first->second;
    if (now - since < rights_patience) return;
  }
  const std::string words = core::token_refusal(pod, failure, clusters);
  if (!words.empty()) context_.events.warning(pod, kube::resources::pods, api::reasons::failed_tokens, words);
}

}  // namespace liqo::controllers
