// The service-account tokens that the pods of a virtual node have at their provider.
#include <algorithm>

#include "controllers/offloading/pod.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/names.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace action = core::token_action;
namespace reasons = api::reasons;

/// How long until a name that somebody else's object has is read again: no watch shows that object.
constexpr kube::Duration foreign_pause = 20s;

}  // namespace

void PodController::watch_tokens(const std::string& local, Twin& twin) {
  twin.tokens = provider_.caches.acquire({.resource = kube::resources::secrets,
                                          .ns = twin.remote,
                                          .selection = {.label_selector = std::string(TwinWatches::token_selector())}});
  twin.tokens.subscribe([this, local](const kube::ObjectKey& key) { enqueue_token_pod(local, key); },
                        [this, local] { enqueue_twin(local); });
  if (twin.tokens->has_synced()) enqueue_twin(local);
}

asio::awaitable<kube::Outcome> PodController::look_for_tokens(std::string local) {
  const Twin* twin = find_twin(local);
  if (!twin || twin->withdrawn || twin->tokens) co_return kube::Outcome::done();
  const std::shared_ptr<TwinWatch> watch = twin->watch;
  auto looked = co_await provider_.twins.find_tokens(watch, provider_.api, forging_.clusters);
  // The right to read the twin goes with the twin.
  if (!looked && !looked.error().is_permanent())
    co_return kube::Outcome::retry(std::move(looked.error()).in("looking for tokens that are left"));
  Twin* twin_after = find_twin(local);
  if (twin_after && twin_after->watch == watch && !twin_after->tokens && watch->has_tokens_of(forging_.node_name))
    watch_tokens(local, *twin_after);
  co_return kube::Outcome::done();
}

asio::awaitable<kube::Result<kube::Object>> PodController::write_token_secret(kube::Object wanted,
                                                                              std::optional<kube::Object> known) {
  // Neither write touches an object that has taken the name since the decision.
  if (!known)
    co_return co_await provider_.api.create(kube::resources::secrets, wanted,
                                            {.field_manager = api::reflection_manager});
  wanted.mutable_metadata()["uid"] = known->uid();
  wanted.mutable_metadata()["resourceVersion"] = known->resource_version();
  co_return co_await provider_.api.apply(kube::resources::secrets, wanted, api::reflection_manager);
}

void PodController::tell_refused_tokens(const kube::Object& local, const kube::Failure& refusal) {
  if (!refusal.is_permanent()) return;
  context_.events.warning(local, kube::resources::pods, reasons::failed_tokens,
                          "cluster " + forging_.clusters.remote +
                              " refuses the Secret with the service-account tokens of this pod: " +
                              kube::one_line(core::refusal_words(refusal), core::max_refusal));
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> PodController::ensure_tokens(kube::ObjectKey key,
                                                                                          const kube::Object* local,
                                                                                          std::string remote_namespace,
                                                                                          bool is_mounted) {
  auto ensured = co_await write_tokens(key, local, std::move(remote_namespace), is_mounted);
  if (!ensured)
    if (Twin* twin = find_twin(key.ns))
      twin->token_counters.add_failed(series_of(key.ns, kube::resources::service_accounts));
  co_return ensured;
}

asio::awaitable<kube::Result<PodController::TokenLook>> PodController::look_at_tokens(kube::ObjectKey key,
                                                                                      const kube::Object* local,
                                                                                      std::string remote_namespace,
                                                                                      bool is_mounted) {
  TokenLook look{
      .key = key, .secret_key = {std::move(remote_namespace), core::token_secret_name(key.name)}, .local = local};
  if (Twin* twin = find_twin(key.ns); twin && twin->tokens) look.secret = twin->tokens->find(look.secret_key);
  if (local) look.issued = memory_of(key, local->uid()).tokens;
  const auto make_plan = [&] {
    const kube::Object* secret = look.secret ? &*look.secret : nullptr;
    // The tokens were requested by another process.
    if (local && secret && look.issued.empty() && core::is_token_secret(*secret, forging_.clusters) &&
        secret->annotation(api::annotations::token_pod_uid) == local->uid())
      look.issued = core::read_token_secret(*secret);
    return core::plan_tokens({.local_pod = local, .secret = secret, .issued = look.issued, .is_mounted = is_mounted},
                             forging_, context_.clock.wall());
  };
  look.plan = make_plan();
  // The cache has only Secrets with the label. Somebody else's Secret of this name is seen only live.
  if (look.secret || std::holds_alternative<action::Nothing>(look.plan)) co_return look;
  auto live = co_await provider_.api.get(kube::resources::secrets, look.secret_key);
  if (!live && !live.error().is_not_found())
    co_return kube::fail(std::move(live.error()), "looking for the token Secret");
  if (live) {
    look.secret = std::move(*live);
    look.plan = make_plan();
  }
  co_return look;
}

asio::awaitable<kube::Result<core::IssuedTokens>> PodController::request_tokens(
    const kube::Object& local, std::vector<core::TokenRequest> requests) {
  const kube::ObjectKey account{std::string(local.ns()), core::service_account_of(local)};
  core::IssuedTokens issued;
  for (const core::TokenRequest& request : requests) {
    auto answer = co_await context_.home.api().post(kube::resources::service_accounts, account, "token",
                                                    core::forge_token_request(local, request));
    if (!answer) {
      const std::string words = core::token_refusal(local, answer.error(), forging_.clusters);
      if (!words.empty()) context_.events.warning(local, kube::resources::pods, reasons::failed_tokens, words);
      co_return kube::fail(std::move(answer.error()), "requesting a service-account token");
    }
    if (!answer->is_object()) co_return kube::fail(kube::Errc::parse, "a token answer that is no object");
    auto token = core::read_token_answer(kube::Object(std::move(answer->get_object())));
    if (!token) co_return std::unexpected(std::move(token.error()));
    issued[request.key] = std::move(*token);
  }
  co_return issued;
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> PodController::write_tokens(kube::ObjectKey key,
                                                                                         const kube::Object* local,
                                                                                         std::string remote_namespace,
                                                                                         bool is_mounted) {
  if (Twin* twin = find_twin(key.ns); twin && !twin->knows_tokens()) co_return std::optional<kube::Duration>();
  auto look = co_await look_at_tokens(key, local, std::move(remote_namespace), is_mounted);
  if (!look) co_return std::unexpected(std::move(look.error()));
  co_return co_await std::visit([&](const auto& part) { return act(*look, part); }, look->plan);
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> PodController::act(TokenLook& look,
                                                                                const action::Nothing&) {
  if (look.local) memory_of(look.key, look.local->uid()).tokens = std::move(look.issued);
  co_return std::optional<kube::Duration>();
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> PodController::act(TokenLook& look,
                                                                                const action::RefuseForeign&) {
  if (look.local)
    context_.events.warning(*look.local, kube::resources::pods, reasons::failed_tokens,
                            "Secret " + look.secret_key.text() + " of cluster " + forging_.clusters.remote +
                                " is not ours: the pod gets no service-account tokens");
  co_return std::optional<kube::Duration>(foreign_pause);
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> PodController::act(TokenLook& look,
                                                                                const action::Remove& plan) {
  if (auto removed = co_await remove_token_secret(look, plan.uid); !removed)
    co_return std::unexpected(std::move(removed.error()));
  co_return co_await act(look, action::Nothing());
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> PodController::act(TokenLook& look,
                                                                                const action::Write& plan) {
  const kube::Object& local = *look.local;
  auto requested = co_await request_tokens(local, plan.to_request);
  if (!requested) co_return std::unexpected(std::move(requested.error()));
  for (auto& [key, token] : *requested) look.issued[key] = std::move(token);
  if (!plan.replaced.empty()) {
    if (auto removed = co_await remove_token_secret(look, plan.replaced); !removed)
      co_return std::unexpected(std::move(removed.error()));
    look.secret.reset();
  }
  const std::string& remote_namespace = look.secret_key.ns;
  auto written = co_await write_token_secret(core::forge_token_secret(local, remote_namespace, look.issued, forging_),
                                             std::move(look.secret));
  if (!written) {
    tell_refused_tokens(local, written.error());
    co_return kube::fail(std::move(written.error()), "reflecting the service-account tokens");
  }
  if (Twin* twin = find_twin(look.key.ns); twin && twin->tokens && twin->remote == remote_namespace) {
    twin->token_counters.add_reflected(series_of(look.key.ns, kube::resources::service_accounts));
    twin->watch->token_nodes.insert(forging_.node_name);
    twin->tokens->observe(std::move(*written));
  }
  co_return co_await act(look, action::Keep{.until = core::next_renewal(local, look.issued)});
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> PodController::act(TokenLook& look,
                                                                                const action::Keep& plan) {
  memory_of(look.key, look.local->uid()).tokens = std::move(look.issued);
  const auto left = std::chrono::duration_cast<kube::Duration>(plan.until - context_.clock.wall());
  const kube::Duration jitter = context_.random.between(0s, 30s);
  co_return std::optional<kube::Duration>(std::max<kube::Duration>(left, 1s) + jitter);
}

asio::awaitable<kube::Result<void>> PodController::remove_token_secret(const TokenLook& look, std::string uid) {
  auto removed = co_await provider_.api.remove(kube::resources::secrets, look.secret_key, {.uid = uid});
  if (!removed && !removed.error().is_not_found()) {
    if (look.local) tell_refused_tokens(*look.local, removed.error());
    co_return kube::fail(std::move(removed.error()), "deleting the token Secret");
  }
  if (Twin* twin = find_twin(look.key.ns); twin && twin->tokens) twin->tokens->observe_gone(look.secret_key, uid);
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
