#include "controllers/offloading/pod.hpp"

#include <utility>

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// Pauses between tries to read the local pods again.
constexpr kube::BackoffPolicy refresh_backoff{200ms, 10s};

}  // namespace

PodController::PodController(core::ForgingContext forging, Provider provider, ProviderBudget& budget, Context context)
    : node_(std::move(forging), provider, budget, context,
            [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      daemon_sets_(context),
      missing_tokens_(context),
      home_tokens_(context),
      token_secrets_(context, provider.api),
      tokens_(node_.forging, provider.caches, provider.api, home_tokens_, context,
              {.changed = [this](const std::string& local,
                                 const kube::ObjectKey& secret) { twins_.enqueue_token_pod(local, secret); },
               .synced = [this](const std::string& local) { twins_.enqueue_twin(local); }}),
      warnings_(node_.forging, provider.api, context,
                {.find = [this](const kube::ObjectKey& key) { return waiting_pair(key); },
                 .changed = [this](const kube::ObjectKey& key) { node_.enqueue(key); }}),
      twins_(node_, tokens_),
      trust_(node_, twins_),
      certificates_(node_, tokens_),
      statuses_(node_),
      refused_(node_),
      room_(node_),
      awaited_(node_, twins_, statuses_),
      orders_(node_, twins_, statuses_, {.room = room_, .refused = refused_, .awaited = awaited_}),
      ends_(node_, twins_, statuses_, {.tokens = tokens_, .warnings = warnings_}),
      unmapped_(node_, twins_, statuses_, ends_),
      services_{.node = node_,
                .twins = twins_,
                .daemon_sets = daemon_sets_,
                .missing_tokens = missing_tokens_,
                .home_tokens = home_tokens_,
                .token_secrets = token_secrets_,
                .tokens = tokens_,
                .trust = trust_,
                .certificates = certificates_,
                .warnings = warnings_,
                .statuses = statuses_,
                .room = room_,
                .refused = refused_,
                .orders = orders_,
                .ends = ends_,
                .unmapped = unmapped_},
      reader_(provider.twins.join(reader())) {
  node_.forging.home_audiences = &home_tokens_.audiences();
  node_.local_pods.subscribe([this](const kube::ObjectKey& key) { node_.enqueue(key); },
                             [this] { twins_.enqueue_all(); });
  twins_.enqueue_all();
}

PodController::~PodController() { node_.provider.twins.leave(reader_); }

TwinReader PodController::reader() {
  return {
      .shadow_changed =
          [this](const TwinWatch& watch, const kube::Change& change) {
            // A ShadowPod that is gone may have left room.
            if (!change.now && twins_.find(watch.local)) refused_.ask_again();
            twins_.enqueue_changed(watch, change);
          },
      .pod_changed =
          [this](const TwinWatch& watch, const kube::Change& change) {
            ends_.see_remote({watch.local, change.key.name}, change);
            twins_.enqueue_changed(watch, change);
          },
      .synced =
          [this](const TwinWatch& watch) {
            const PodTwin* twin = twins_.find(watch);
            if (!twin) return;
            twins_.enqueue_twin(watch.local);
            if (twin->withdrawn) node_.enqueue({watch.local, {}});
          },
      .is_needed = [this](const TwinWatch& watch) { return twins_.is_needed(watch); },
  };
}

asio::awaitable<void> PodController::run() {
  node_.begun = node_.context.clock.now();
  awaited_.clear();
  if (node_.provider.owners) node_.provider.owners->forget();
  node_.memory.forget_sights();
  // A previous leader may have ended pods that a watch that lags behind still shows. They must not be made again.
  co_await node_.local_pods->wait_synced();
  for (int failures = 1; !co_await node_.local_pods->refresh(); ++failures)
    co_await node_.context.clock.sleep(refresh_backoff.pause(failures, node_.context.random));
  twins_.wake_anew();
  co_await node_.controller.run();
}

void PodController::set_addresses(core::PeerAddresses addresses) {
  if (statuses_.set_addresses(std::move(addresses))) twins_.enqueue_all();
}

void PodController::set_withdrawal(std::string withdrawal) {
  if (unmapped_.set_withdrawal(std::move(withdrawal))) twins_.enqueue_all();
}

std::optional<PodWarnings::Pair> PodController::waiting_pair(const kube::ObjectKey& key) {
  const PodTwin* twin = twins_.find(key.ns);
  auto local = node_.local_pods->find(key);
  if (!twin || twin->withdrawn || !local || local->is_deleting()) return std::nullopt;
  auto remote = twin->find(&TwinWatch::pods, {twin->remote, key.name});
  if (!remote) return std::nullopt;
  return PodWarnings::Pair{.local = std::move(*local), .remote = std::move(*remote)};
}

asio::awaitable<Outcome> PodController::reconcile(kube::WorkKey work) {
  kube::ObjectKey key = std::move(work.object);
  // Nothing is decided before all caches are complete; their completion enqueues every key.
  if (!node_.local_pods->has_synced() || !twins_.is_mapping_known()) co_return Outcome::done();
  if (key.name.empty()) {
    twins_.leave_withdrawn(key.ns);
    KUBE_CO_TRYV(co_await trust_.sweep(key.ns));
    co_return co_await twins_.look_for_tokens(key.ns);
  }
  if (twins_.mapping().withdrawn(key.ns))
    if (auto local = node_.local_pods->find(key)) {
      KUBE_CO_TRYV(co_await twins_.look_behind(std::move(*local)));
    }
  const PodTwin* twin = twins_.find(key.ns);
  const bool is_here = node_.local_pods->store().contains(key);
  if (!twin) refused_.left(key);
  if (!is_here) {
    trust_.leave(key);
    certificates_.forget(key);
  }
  // A twin without pods rests. Once its caches are woken and complete, they enqueue the pod.
  if (twin && is_here) node_.provider.twins.wake(*twin->watch);
  if (twin && !twin->has_synced()) {
    // A pod that is gone meanwhile waits for nothing, and may have no further event.
    if (!is_here) awaited_.stop(key, core::OpenOrders::End::withdrawn);
    co_return Outcome::done();
  }
  if (!twin || !is_here) {
    room_.remove(key);
    refused_.set_resize_waits(key, false);
  }
  co_return co_await reconcile_pod(std::move(key));
}

asio::awaitable<Outcome> PodController::reconcile_pod(kube::ObjectKey key) {
  Outcome outcome = Outcome::done();
  if (const PodTwin* twin = twins_.find(key.ns)) {
    MappedPod pod(services_, key, twin->remote);
    outcome = co_await pod.reconcile();
  } else if (auto local = node_.local_pods->find(key)) {
    outcome = co_await unmapped_.reconcile(key, std::move(*local));
  } else {
    ends_.forget(key);
  }
  auto seen = co_await awaited_.see(key);
  if (!seen && !outcome.failure()) outcome = Outcome::retry(std::move(seen.error()));
  const PodTwin* twin = twins_.find(key.ns);
  if (outcome.failure()) twins_.count_failed(key.ns);
  if (const kube::ObjectKey remote{twin ? twin->remote : "", key.name}; twin && twin->withdrawn &&
                                                                        !twin->contains(&TwinWatch::shadows, remote) &&
                                                                        !twin->contains(&TwinWatch::pods, remote))
    twins_.leave_withdrawn(key.ns);
  co_return outcome;
}

}  // namespace liqo::controllers
