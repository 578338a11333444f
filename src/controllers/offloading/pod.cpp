#include "controllers/offloading/pod.hpp"

#include "controllers/common/scopes.hpp"
#include "core/common/digest.hpp"
#include "core/offloading/node_debugger.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace reasons = api::reasons;

/// A namespace that is offloaded as it is made has its twin moments later than its first pods: nobody is told that it
/// has none before this time is over.
constexpr kube::Duration twin_patience = 5s;
/// Pauses between tries to read the local pods again.
constexpr kube::BackoffPolicy refresh_backoff{200ms, 10s};

/// In seconds: from a pod whose image is on the machine to one with a large image.
const std::vector<double> start_time_bounds{1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800};

/// Digest of a status and the patch of it.
std::string difference_digest(const kube::Object& pod, const kube::json::object& patch) {
  return core::digest_hex(kube::json::serialize(patch) + kube::json::serialize(pod.status()));
}

}  // namespace

PodController::PodController(core::ForgingContext forging, Provider provider, ProviderBudget& budget, Context context)
    : forging_(std::move(forging)),
      provider_(provider),
      budget_(budget),
      context_(context),
      begun_(context.clock.now()),
      orders_(budget.orders, context.clock, [this] { wake_waiting(); }),
      local_pods_(context.home.acquire(scope_of_pods_on(forging_.node_name))),
      virtual_nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      slices_(context.home.acquire({.resource = api::kinds::resource_slices})),
      nodes_(context.home.acquire(scope_of_virtual_nodes())),
      controller_(context,
                  {.name = "pod",
                   .limits = {.workers = context.settings.offloading.pod_workers,
                              .workers_per_group = context.settings.offloading.pod_workers}},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      tokens_(forging_, provider.caches, provider.api, context,
              {.changed = [this](const std::string& local,
                                 const kube::ObjectKey& secret) { enqueue_token_pod(local, secret); },
               .synced = [this](const std::string& local) { enqueue_twin(local); }}),
      warnings_(forging_, provider.api, context,
                {.find = [this](const kube::ObjectKey& key) { return waiting_pair(key); },
                 .changed = [this](const kube::ObjectKey& key) { enqueue(key); }}),
      log_(kube::Log("pod").with("cluster", forging_.clusters.remote).with("node", forging_.node_name)) {
  reader_ = provider_.twins.join({
      .shadow_changed =
          [this](const TwinWatch& watch, const kube::Change& change) {
            // A ShadowPod that is gone may have left room.
            if (!change.now && twins_.contains(watch.local)) ask_again();
            enqueue_changed(watch, change);
          },
      .pod_changed =
          [this](const TwinWatch& watch, const kube::Change& change) {
            see_remote({watch.local, change.key.name}, change);
            enqueue_changed(watch, change);
          },
      .synced =
          [this](const TwinWatch& watch) {
            const Twin* twin = find_twin(watch.local);
            if (!twin || twin->watch.get() != &watch) return;
            enqueue_twin(watch.local);
            if (twin->withdrawn) enqueue({watch.local, {}});
          },
      .is_needed = [this](const TwinWatch& watch) { return is_needed(watch); },
  });
  local_pods_.subscribe([this](const kube::ObjectKey& key) { enqueue(key); }, [this] { enqueue_all(); });
  // The label names the slice of a VirtualNode, whatever the VirtualNode itself is called.
  virtual_nodes_.follow([this](const kube::Change& node) {
    if (node.key.name != forging_.node_name) return;
    if (node.now)
      slice_names_.insert_or_assign(node.key.ns, node.now->label(api::labels::resource_slice_name));
    else
      slice_names_.erase(node.key.ns);
  });
  virtual_nodes_.subscribe([this](const kube::ObjectKey& key) {
    if (key.name == forging_.node_name) ask_again();
  });
  slices_.subscribe([this](const kube::ObjectKey& slice) {
    const auto named = slice_names_.find(slice.ns);
    if (named != slice_names_.end() && named->second == slice.name) ask_again();
  });
  nodes_.subscribe([this](const kube::ObjectKey& node) {
    if (node.name == forging_.node_name) see_node();
  });
  see_node();
  if (!context.settings.storage.storage_class.empty()) claims_ = context.home.acquire({.resource = api::kinds::claims});
  start_times_ = context.metrics.histogram(
      families::pod_start, {{"cluster_id", forging_.clusters.remote}, {"node_name", forging_.node_name}},
      start_time_bounds);
  enqueue_all();
}

PodController::~PodController() { provider_.twins.leave(reader_); }

asio::awaitable<void> PodController::run() {
  begun_ = context_.clock.now();
  waiting_.clear();
  not_taken_.clear();
  orders_.clear();
  for (auto& [key, memory] : memory_) memory.plan.seen = false;
  // A leader before this process may have ended pods that a late watch still shows. They must not be made again.
  co_await local_pods_->wait_synced();
  for (int failures = 1; !co_await local_pods_->refresh(); ++failures)
    co_await context_.clock.sleep(refresh_backoff.pause(failures, context_.random));
  for (const auto& [local, twin] : twins_) {
    provider_.twins.wake_anew(*twin.watch);
    enqueue({local, {}});
  }
  co_await controller_.run();
}

void PodController::enqueue_all() {
  for (const kube::ObjectKey& key : local_pods_->store().keys()) enqueue(key);
  for (const auto& [local, twin] : twins_) enqueue_twin(local);
}

void PodController::enqueue(const kube::ObjectKey& local_key) { controller_.enqueue({forging_.node_name, local_key}); }

void PodController::set_addresses(core::PeerAddresses addresses) {
  if (addresses_ == addresses) return;
  addresses_ = std::move(addresses);
  told_address_left_out_ = false;
  enqueue_all();
}

void PodController::set_withdrawal(std::string withdrawal) {
  if (withdrawal_ == withdrawal) return;
  withdrawal_ = std::move(withdrawal);
  enqueue_all();
}

void PodController::tell_address_left_out(const kube::Object& local, const std::string& address) {
  if (std::exchange(told_address_left_out_, true)) return;
  const std::string message = "cluster " + forging_.clusters.remote + " reports address " + address +
                              " of this pod, which is left out: " + addresses_->words() +
                              ". If it is right, declare its range, too (" +
                              std::string(api::annotations::remote_pod_cidrs) + " of the ForeignCluster).";
  log_.warn("an address is left out", {{"pod", local.key()}, {"address", address}});
  context_.events.warning(local, kube::resources::pods, reasons::address_left_out, message);
}

void PodController::forget(const kube::ObjectKey& key) {
  memory_.erase(key);
  tokens_.forget(key);
  warnings_.forget(key);
}

std::optional<PodWarnings::Pair> PodController::waiting_pair(const kube::ObjectKey& key) {
  const Twin* twin = find_twin(key.ns);
  auto local = local_pods_->find(key);
  if (!twin || twin->withdrawn || !local || local->is_deleting()) return std::nullopt;
  auto remote = twin->find(&TwinWatch::pods, {twin->remote, key.name});
  if (!remote) return std::nullopt;
  return PodWarnings::Pair{.local = std::move(*local), .remote = std::move(*remote)};
}

asio::awaitable<Outcome> PodController::reconcile(kube::WorkKey key) {
  // Nothing is decided before all caches are complete; their completion brings every key back here.
  if (!local_pods_->has_synced() || !mapping_known_) co_return Outcome::done();
  if (key.object.name.empty()) {
    leave_withdrawn(key.object.ns);
    co_return co_await look_for_tokens(key.object.ns);
  }
  if (mapping_.withdrawn(key.object.ns))
    if (auto local = local_pods_->find(key.object)) {
      auto looked = co_await look_behind(std::move(*local));
      if (!looked) co_return Outcome::retry(std::move(looked.error()));
    }
  Twin* twin = find_twin(key.object.ns);
  if (!twin) wake(refused_.left(key.object));
  // A twin without pods rests. Once woken and complete, its caches bring the pod back here.
  if (twin && local_pods_->store().contains(key.object)) provider_.twins.wake(*twin->watch);
  if (twin && !twin->has_synced()) {
    // What has gone meanwhile waits for nobody, and may not be heard of again.
    if (!local_pods_->store().contains(key.object)) stop_waiting(key.object, core::OpenOrders::End::withdrawn);
    co_return Outcome::done();
  }
  if (!twin || !local_pods_->store().contains(key.object)) {
    forget_refusal(key.object);
    note_resize(key.object, false);
  }

  std::optional<Outcome> outcome;
  if (twin) {
    outcome = co_await reconcile_mapped(key.object, twin->remote);
  } else if (auto local = local_pods_->find(key.object)) {
    outcome = co_await reconcile_unmapped(key.object, std::move(*local));
  } else {
    forget(key.object);
    outcome = Outcome::done();
  }
  auto seen = co_await see_waiting(key.object);
  if (!seen && !outcome->failure()) outcome = Outcome::retry(std::move(seen.error()));
  twin = find_twin(key.object.ns);
  if (twin && outcome->failure()) twin->counters.add_failed(series_of(key.object.ns));
  if (const kube::ObjectKey remote{twin ? twin->remote : "", key.object.name};
      twin && twin->withdrawn && !twin->contains(&TwinWatch::shadows, remote) &&
      !twin->contains(&TwinWatch::pods, remote))
    leave_withdrawn(key.object.ns);
  co_return std::move(*outcome);
}

asio::awaitable<Outcome> PodController::reconcile_unmapped(kube::ObjectKey key, kube::Object local) {
  const std::string message =
      withdrawal_.empty() ? "Namespace " + key.ns + " has no twin in cluster " + forging_.clusters.remote +
                                ": offload the namespace, or keep the pod off nodes labelled liqo.io/type=virtual-node "
                                "(liqoctl exclude daemonsets does that for a DaemonSet)"
                          : withdrawal_;
  const auto plan = core::plan_unmapped_pod(local, message, mapping_.is_troubled(key.ns));
  if (plan == core::UnmappedPodPlan::nothing) co_return Outcome::done();
  if (plan == core::UnmappedPodPlan::refuse_node_debugger) co_return co_await end_node_debugger(std::move(local));
  if (plan == core::UnmappedPodPlan::back_off && withdrawal_.empty()) {
    Memory& memory = memory_of(key, local.uid());
    const kube::TimePoint now = context_.clock.now();
    const kube::Duration waited = now - memory.without_twin_since.value_or(now);
    if (!memory.without_twin_since) memory.without_twin_since = now;
    if (waited < twin_patience) co_return Outcome::again_after(twin_patience - waited);
  }
  if (plan == core::UnmappedPodPlan::remove_local) {
    auto removed = co_await remove_local(local);
    if (!removed) co_return Outcome::retry(std::move(removed.error()));
    co_return Outcome::done();
  }
  const bool aborts = plan == core::UnmappedPodPlan::abort;
  auto wanted = core::forge_rejection(local,
                                      {.phase = aborts ? "Failed" : "Pending",
                                       .reason = aborts ? reasons::offloading_aborted : reasons::offloading_back_off,
                                       .message = message},
                                      context_.clock.wall());
  auto written = co_await write_status(local, std::move(wanted));
  if (!written) co_return Outcome::retry(std::move(written.error()));
  context_.events.warning(local, kube::resources::pods, reasons::reflection_disabled, message);
  co_return Outcome::done();
}

asio::awaitable<Outcome> PodController::end_node_debugger(kube::Object local) {
  auto wanted = core::forge_node_debugger_refusal(local, forging_.clusters.remote, context_.clock.wall());
  const std::string message(kube::string_at(wanted.status, {"message"}));
  auto written = co_await write_status(local, std::move(wanted));
  if (!written) co_return Outcome::retry(std::move(written.error()));
  context_.events.warning(local, kube::resources::pods, reasons::offloading_refused, message);
  co_return Outcome::done();
}

void PodController::note_start(const kube::Object& shown) {
  const auto known = memory_.find(shown.key());
  if (known == memory_.end() || known->second.uid != shown.uid()) return;
  if (!known->second.bound || kube::string_at(shown.status(), {"phase"}) != "Running") return;
  const kube::WallTime bound = *std::exchange(known->second.bound, std::nullopt);
  start_times_.observe(std::max(0.0, std::chrono::duration<double>(context_.clock.wall() - bound).count()));
}

asio::awaitable<kube::Result<void>> PodController::write_status(const kube::Object& local, core::WantedStatus wanted) {
  auto body = plan_status(local, wanted);
  if (!body) co_return kube::Result<void>();
  co_await budget_.home_writes.take({.bytes = stored_bytes(*local_pods_, local.key(), body->size())});
  co_return co_await send_status(local, wanted, std::move(*body));
}

std::optional<std::string> PodController::plan_status(const kube::Object& local, const core::WantedStatus& wanted) {
  auto patch = core::status_patch(local, wanted);
  if (!patch) return std::nullopt;
  if (const auto known = memory_.find(local.key()); known != memory_.end() && known->second.uid == local.uid() &&
                                                    !known->second.not_taken.empty() &&
                                                    known->second.not_taken == difference_digest(local, *patch))
    return std::nullopt;
  // The patch is a difference to what the cache showed: a request that was long under way must not undo a later one.
  (*patch)["metadata"].as_object()["resourceVersion"] = local.resource_version();
  return kube::json::serialize(*patch);
}

kube::Duration PodController::take_turn(const kube::Object& local, std::size_t bytes) {
  Memory& memory = memory_of(local.key(), local.uid());
  const kube::TimePoint now = context_.clock.now();
  if (!memory.status_turn || bytes > memory.status_bytes) {
    memory.status_turn = now + budget_.home_writes.reserve({.bytes = bytes});
    memory.status_bytes = bytes;
  }
  if (now < *memory.status_turn) return *memory.status_turn - now;
  memory.status_turn.reset();
  return kube::Duration::zero();
}

asio::awaitable<kube::Result<void>> PodController::send_status(const kube::Object& local,
                                                               const core::WantedStatus& wanted, std::string body) {
  auto patched = co_await context_.home.api().patch(
      kube::resources::pods, local.key(), {kube::PatchType::strategic_merge, body}, {.subresource = "status"});
  if (patched) {
    note_start(*patched);
    for (const std::string& name : core::started_containers(local.status(), *patched))
      if (budget_.asides.try_take())
        context_.events.routine(*patched, kube::resources::pods, "Started",
                                "container " + name + " started in cluster " + forging_.clusters.remote);
    const auto left = core::status_patch(*patched, wanted);
    if (const auto known = memory_.find(local.key()); known != memory_.end() && known->second.uid == patched->uid())
      known->second.not_taken = left ? difference_digest(*patched, *left) : std::string();
    local_pods_->observe(std::move(*patched));
    co_return kube::Result<void>();
  }
  if (patched.error().is_not_found()) co_return kube::Result<void>();
  co_return kube::fail(std::move(patched.error()), "writing the pod's status");
}

}  // namespace liqo::controllers
