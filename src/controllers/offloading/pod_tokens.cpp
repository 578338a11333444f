#include "controllers/offloading/pod_tokens.hpp"

#include <algorithm>
#include <utility>

#include "core/common/names.hpp"
#include "core/offloading/pod_status.hpp"
#include "kube/base/near_time.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/find_live.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace action = core::token_action;
namespace reasons = api::reasons;

/// The pause before a name that an object of another owner has is read again: no watch shows that object.
constexpr kube::Duration foreign_pause = 20s;

/// The metrics series of the tokens of one namespace.
ReflectionSeries series_of(const Context& context, const core::ForgingContext& forging,
                           std::string_view local_namespace) {
  return {.metrics = context.metrics,
          .ns = local_namespace,
          .kind = kube::resources::service_accounts.kind,
          .forging = forging};
}

std::string unrenewed_message(const core::ClusterPair& clusters) {
  return "a token that this pod has in cluster " + clusters.remote +
         " is not renewed and expires, because the settings of cluster " + clusters.local +
         " (apiServer in the chart, VkOptionsTemplate) give such pods none any more: create the pod again, or change "
         "the settings back";
}

}  // namespace

PodTokens::PodTokens(const core::ForgingContext& forging, kube::InformerSet& caches, kube::Api& provider,
                     HomeTokens& home, Context context, Reader reader)
    : forging_(forging),
      caches_(caches),
      provider_(provider),
      context_(context),
      home_(home),
      reader_(std::move(reader)) {}

void PodTokens::join(const std::string& local, std::shared_ptr<TwinWatch> twin) {
  twins_.insert_or_assign(local, Twin{.watch = std::move(twin)});
}

void PodTokens::watch(const std::string& local) {
  Twin* twin = find_twin(local);
  if (!twin || twin->secrets) return;
  twin->secrets = caches_.acquire({.resource = kube::resources::secrets,
                                   .ns = twin->watch->remote,
                                   .selection = {.label_selector = std::string(TwinWatches::token_selector())}});
  twin->secrets.subscribe([this, local](const kube::ObjectKey& key) { reader_.changed(local, key); },
                          [this, local] { reader_.synced(local); });
  if (twin->secrets->has_synced()) reader_.synced(local);
}

bool PodTokens::has_synced(const std::string& local) const {
  const kube::Informer* cache = cache_of(local);
  return !cache || cache->has_synced();
}

std::vector<kube::ObjectKey> PodTokens::secrets(const std::string& local) const {
  const kube::Informer* cache = cache_of(local);
  return cache ? cache->store().keys() : std::vector<kube::ObjectKey>();
}

bool PodTokens::holds_any(const std::string& local) const {
  const kube::Informer* cache = cache_of(local);
  return cache && cache->store().size() > 0;
}

std::optional<kube::Object> PodTokens::find(const std::string& local, const kube::ObjectKey& secret) const {
  const kube::Informer* cache = cache_of(local);
  return cache ? cache->find(secret) : std::nullopt;
}

kube::Informer* PodTokens::cache_of(const std::string& local) const {
  const auto twin = twins_.find(local);
  return twin != twins_.end() && twin->second.secrets ? &*twin->second.secrets : nullptr;
}

PodTokens::Twin* PodTokens::find_twin(const std::string& local) {
  const auto twin = twins_.find(local);
  return twin == twins_.end() ? nullptr : &twin->second;
}

asio::awaitable<kube::Result<kube::Object>> PodTokens::write(kube::Object wanted, std::optional<kube::Object> known) {
  // Neither write touches an object that has taken the name since the decision.
  if (!known)
    co_return co_await provider_.create(kube::resources::secrets, wanted, {.field_manager = api::reflection_manager});
  wanted.mutable_metadata()["uid"] = known->uid();
  wanted.mutable_metadata()["resourceVersion"] = known->resource_version();
  co_return co_await provider_.apply(kube::resources::secrets, wanted, api::reflection_manager);
}

void PodTokens::report_refusal(const kube::Object& local, const kube::Failure& refusal) {
  if (!refusal.is_permanent()) return;
  context_.events.warning(local, kube::resources::pods, reasons::failed_tokens,
                          "cluster " + forging_.clusters.remote +
                              " refuses the Secret with the service-account tokens of this pod: " +
                              kube::one_line(core::refusal_words(refusal), core::max_refusal));
}

asio::awaitable<PodTokens::NextLook> PodTokens::ensure(kube::ObjectKey key, const kube::Object* pod,
                                                       std::string remote_namespace, core::TokenKeys mounted) {
  auto ensured = co_await bring(key, pod, std::move(remote_namespace), std::move(mounted));
  if (!ensured)
    if (Twin* twin = find_twin(key.ns)) twin->counters.add_failed(series_of(context_, forging_, key.ns));
  co_return ensured;
}

asio::awaitable<kube::Result<PodTokens::Snapshot>> PodTokens::look_at(kube::ObjectKey key, const kube::Object* pod,
                                                                      std::string remote_namespace,
                                                                      core::TokenKeys mounted) {
  Snapshot seen{
      .key = key, .secret_key = {std::move(remote_namespace), core::token_secret_name(key.name)}, .local = pod};
  seen.secret = find(key.ns, seen.secret_key);
  if (pod) seen.issued = memory_of(key, pod->uid()).tokens;
  const auto make_plan = [&] {
    const kube::Object* secret = seen.secret ? &*seen.secret : nullptr;
    // The tokens were requested by another process.
    if (pod && secret && seen.issued.empty() && core::is_token_secret(*secret, forging_.clusters) &&
        secret->annotation(api::annotations::token_pod_uid) == pod->uid())
      seen.issued = core::read_token_secret(*secret);
    const core::ObservedTokens observed{.local_pod = pod, .secret = secret, .issued = seen.issued, .mounted = mounted};
    seen.is_unrenewed = pod && core::has_unrenewed_token(observed, forging_, context_.clock.wall());
    return core::plan_tokens(observed, forging_, context_.clock.wall());
  };
  seen.plan = make_plan();
  // The cache has only Secrets with the label. Only a live read shows another owner's Secret of this name.
  if (seen.secret || std::holds_alternative<action::Nothing>(seen.plan)) co_return seen;
  KUBE_CO_TRY(live, co_await kube::find_live(provider_, kube::resources::secrets, seen.secret_key),
              "looking for the token Secret");
  if (live) {
    seen.secret = std::move(*live);
    seen.plan = make_plan();
  }
  co_return seen;
}

asio::awaitable<kube::Result<core::IssuedTokens>> PodTokens::request(const kube::Object& local,
                                                                     std::vector<core::TokenRequest> requests) {
  core::IssuedTokens issued;
  for (const core::TokenRequest& request : requests) {
    KUBE_CO_TRY(token, co_await home_.request(local, request, forging_.clusters));
    issued[request.key] = std::move(token);
  }
  co_return issued;
}

asio::awaitable<PodTokens::NextLook> PodTokens::bring(kube::ObjectKey key, const kube::Object* pod,
                                                      std::string remote_namespace, core::TokenKeys mounted) {
  if (!has_synced(key.ns)) co_return std::optional<kube::Duration>();
  KUBE_CO_TRY(seen, co_await look_at(key, pod, std::move(remote_namespace), std::move(mounted)));
  if (seen.is_unrenewed && !std::exchange(memory_of(key, pod->uid()).told_unrenewed, true))
    context_.events.warning(*pod, kube::resources::pods, reasons::failed_tokens, unrenewed_message(forging_.clusters));
  co_return co_await std::visit([&](const auto& part) { return act(seen, part); }, seen.plan);
}

asio::awaitable<PodTokens::NextLook> PodTokens::act(Snapshot& seen, const action::Nothing&) {
  if (seen.local) memory_of(seen.key, seen.local->uid()).tokens = std::move(seen.issued);
  co_return std::optional<kube::Duration>();
}

asio::awaitable<PodTokens::NextLook> PodTokens::act(Snapshot& seen, const action::RefuseForeign&) {
  if (seen.local)
    context_.events.warning(*seen.local, kube::resources::pods, reasons::failed_tokens,
                            "Secret " + seen.secret_key.text() + " of cluster " + forging_.clusters.remote +
                                " is not ours: the pod gets no service-account tokens");
  co_return std::optional<kube::Duration>(foreign_pause);
}

asio::awaitable<PodTokens::NextLook> PodTokens::act(Snapshot& seen, const action::Remove& plan) {
  KUBE_CO_TRYV(co_await remove(seen, plan.uid));
  co_return co_await act(seen, action::Nothing());
}

asio::awaitable<PodTokens::NextLook> PodTokens::act(Snapshot& seen, const action::Write& plan) {
  const kube::Object& local = *seen.local;
  KUBE_CO_TRY(requested, co_await request(local, plan.to_request));
  for (auto& [key, token] : requested) seen.issued[key] = std::move(token);
  if (!plan.replaced.empty()) {
    KUBE_CO_TRYV(co_await remove(seen, plan.replaced));
    seen.secret.reset();
  }
  const std::string& remote_namespace = seen.secret_key.ns;
  auto written =
      co_await write(core::forge_token_secret(local, remote_namespace, seen.issued, forging_), std::move(seen.secret));
  if (!written) {
    report_refusal(local, written.error());
    co_return kube::fail(std::move(written.error()), "reflecting the service-account tokens");
  }
  if (Twin* twin = find_twin(seen.key.ns); twin && twin->secrets && twin->watch->remote == remote_namespace) {
    twin->counters.add_reflected(series_of(context_, forging_, seen.key.ns));
    twin->watch->token_nodes.insert(forging_.node_name);
    twin->secrets->observe(std::move(*written));
  }
  co_return co_await act(
      seen, action::Keep{.until = core::next_renewal(local, seen.issued, forging_, context_.clock.wall())});
}

asio::awaitable<PodTokens::NextLook> PodTokens::act(Snapshot& seen, const action::Keep& plan) {
  memory_of(seen.key, seen.local->uid()).tokens = std::move(seen.issued);
  // A pod without a token also has no time for it.
  const kube::Duration left = kube::near_time(plan.until) - context_.clock.wall();
  const kube::Duration jitter = context_.random.between(0s, 30s);
  co_return std::optional<kube::Duration>(std::max<kube::Duration>(left, 1s) + jitter);
}

asio::awaitable<kube::Result<void>> PodTokens::remove(const Snapshot& seen, std::string uid) {
  auto removed = co_await kube::remove_object(provider_, kube::resources::secrets, seen.secret_key,
                                              {.options = {.uid = uid}, .phase = "deleting the token Secret"});
  if (!removed) {
    if (seen.local) report_refusal(*seen.local, removed.error());
    co_return std::unexpected(std::move(removed.error()));
  }
  if (Twin* twin = find_twin(seen.key.ns); twin && twin->secrets) twin->secrets->observe_gone(seen.secret_key, uid);
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
