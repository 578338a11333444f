#include "quota/stored_pods.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iterator>
#include <map>
#include <utility>

#include "core/common/peer_names.hpp"
#include "core/offloading/resize.hpp"
#include "kube/async/finally.hpp"
#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

/// The longest wait of a decision for the cache of ShadowPods to reach the record's floor.
constexpr kube::Duration max_catch_up = 3s;
constexpr kube::Duration look_interval = 100ms;
/// The pause between two rounds of reads that look for the Pods of vanished ShadowPods.
constexpr kube::Duration confirm_interval = 50ms;
/// The pause after the Pods could not be read.
constexpr kube::BackoffPolicy refresh_backoff{200ms, 5s};
/// A read of one Pod costs the API server about as much as this many Pods in a list.
constexpr std::size_t listed_per_read = 16;
/// Pods counted in one turn of the event loop, so that a changed LimitRange does not hold up admissions.
constexpr std::size_t max_counted_in_a_turn = 50;

/// The UID of the ShadowPod for which a Pod was made.
std::string owner_uid(const kube::Object& pod) {
  const auto owner = pod.controller();
  return owner && owner->kind == api::kinds::shadow_pods.kind ? owner->uid : std::string();
}

constexpr std::string_view by_runtime_class = "runtime-class";
const std::string managed_pods = kube::label_is(api::labels::managed_by, api::labels::managed_by_shadow_pod);

}  // namespace

StoredPods::StoredPods(const LedgerContext& context, kube::Api& replica_api, core::Counting counting,
                       std::function<void()> changed)
    : clock_(context.clock),
      random_(context.random),
      replica_api_(replica_api),
      counting_(counting),
      changed_(std::move(changed)),
      shadows_(context.home.acquire({.resource = api::kinds::shadow_pods})),
      pods_(context.home.acquire({.resource = kube::resources::pods, .selection = {.label_selector = managed_pods}})),
      namespaces_(context.home.acquire({.resource = kube::resources::namespaces})),
      surroundings_(context.home),
      progress_(context.executor),
      more_to_read_(context.executor),
      more_waiting_(context.executor) {
  shadows_->add_index(std::string(by_runtime_class), [](const kube::Object& shadow, std::vector<std::string>& out) {
    if (const auto name = kube::string_at(api::ShadowPod(shadow).pod_spec(), {"runtimeClassName"}); !name.empty())
      out.emplace_back(name);
  });
  const auto stored = [this](const kube::ObjectKey& key) { recount(key); };
  surroundings_.subscribe([this](const std::string& ns) { recount_namespace(ns); },
                          [this](const std::string& name) { recount_runtime_class(name); });
  shadows_.follow(stored, [this] { progress_.set(); });
  pods_.follow(stored);
  namespaces_.follow([this](const kube::Change& ns) {
    const auto consumer = [](const kube::Object& of) { return of.label(api::labels::remote_cluster_id); };
    if (ns.changes(consumer)) recount_later(pods_->store().keys_in(ns.key.name));
  });
}

bool StoredPods::has_synced() const {
  return refreshed_at_ != 0 && surroundings_.has_synced() && (was_counted_ || waiting_.empty());
}

bool StoredPods::is_complete() {
  if (shadows_->lists() == refreshed_at_) return true;
  more_to_read_.set();
  return false;
}

asio::awaitable<void> StoredPods::progress(kube::Deadline deadline) {
  progress_.reset();
  co_await progress_.wait_until(clock_, deadline);
}

asio::awaitable<bool> StoredPods::catch_up(std::function<std::uint64_t()> floor) {
  const kube::Deadline deadline = clock_.deadline_in(max_catch_up);
  // A list without changes does not wake progress(), but may be what the caller waits for.
  const auto is_there = [&] { return version() >= floor() && is_complete(); };
  while (!is_there() && clock_.now() < deadline.at)
    co_await progress({std::min(deadline.at, clock_.now() + look_interval)});
  co_return is_there();
}

kube::Result<core::PodNeeds> StoredPods::needs_of(const kube::Object& shadow_pod) const {
  const kube::json::object& spec = api::ShadowPod(shadow_pod).pod_spec();
  auto needs = core::read_pod_needs(spec);
  if (needs && counting_ == core::Counting::exact) core::settle(*needs, surroundings_.of(shadow_pod.ns(), spec));
  return needs;
}

StoredAmount StoredPods::amount_of(const std::string& origin) const {
  const auto found = amounts_.find(origin);
  return found == amounts_.end() ? StoredAmount() : found->second;
}

void StoredPods::weigh(const kube::ObjectKey& key, const kube::Object* shadow) {
  if (const auto had = weights_.find(key); had != weights_.end()) {
    const auto amount = amounts_.find(had->second.origin);
    amount->second.bytes -= had->second.bytes;
    if (--amount->second.objects == 0) amounts_.erase(amount);
    weights_.erase(had);
  }
  if (!shadow) return;
  Weight weight{.origin = std::string(shadow->label(api::labels::reflection_origin)), .bytes = shadow->text().size()};
  StoredAmount& amount = amounts_[weight.origin];
  ++amount.objects;
  amount.bytes += weight.bytes;
  weights_.emplace(key, std::move(weight));
}

void StoredPods::recount(const kube::ObjectKey& key) {
  std::optional<core::HeldShadow> held_shadow;
  std::optional<core::HeldPod> held_pod;
  const auto shadow = shadows_->find(key);
  weigh(key, shadow ? &*shadow : nullptr);
  if (shadow) {
    const api::ShadowPod view(*shadow);
    held_shadow = core::HeldShadow{.uid = std::string(shadow->uid()),
                                   .user = std::string(shadow->label(api::labels::creator_user)),
                                   .demand = {},
                                   .finished = view.is_finished(),
                                   .version = shadow->version_number(),
                                   .generation = shadow->generation()};
    // A ShadowPod whose amounts cannot be parsed was not admitted by this version. Its Pod counts as soon as it exists.
    if (const auto needs = needs_of(*shadow)) held_shadow->demand = core::pod_demand(*needs, counting_);
    if (seen_) seen_(key, *held_shadow);
  }
  if (const auto pod = pods_->find(key); pod && is_in_twin(*pod)) {
    held_pod = core::HeldPod{.uid = std::string(pod->uid()),
                             .shadow_uid = owner_uid(*pod),
                             .user = std::string(pod->label(api::labels::creator_user)),
                             .demand = {},
                             .finished = api::is_final_phase(api::phase_of(*pod)),
                             .generation = core::applied_generation(*pod)};
    if (auto needs = core::read_pod_needs(pod->spec())) {
      if (counting_ == core::Counting::exact) core::apply_defaults(*needs);
      core::raise_to_allocated(*needs, *pod);
      held_pod->demand = core::pod_demand(*needs, counting_);
    }
  }
  if (account_.set(key, std::move(held_shadow), std::move(held_pod))) {
    unconfirmed_.insert(key);
    more_to_read_.set();
  }
  progress_.set();
  changed_();
}

bool StoredPods::is_in_twin(const kube::Object& pod) const {
  // Pods whose namespace is not known yet count.
  const auto ns = namespaces_->find({{}, std::string(pod.ns())});
  if (!ns) return true;
  const std::string_view consumer = ns->label(api::labels::remote_cluster_id);
  return !consumer.empty() && !core::is_user_of_another(pod.label(api::labels::creator_user), consumer);
}

void StoredPods::recount_later(std::vector<kube::ObjectKey> keys) {
  // Counted pods keep their amounts until their turn, as they do while a watch lags behind, so admissions go on.
  was_counted_ = has_synced();
  waiting_.insert(std::make_move_iterator(keys.begin()), std::make_move_iterator(keys.end()));
  more_waiting_.set();
}

asio::awaitable<void> StoredPods::recount_waiting() {
  while (true) {
    while (!waiting_.empty()) {
      for (std::size_t counted = 0; counted < max_counted_in_a_turn && !waiting_.empty(); ++counted)
        recount(waiting_.extract(waiting_.begin()).value());
      co_await asio::post(asio::use_awaitable);
    }
    co_await more_waiting_.wait_and_reset();
  }
}

void StoredPods::recount_namespace(const std::string& ns) { recount_later(shadows_->store().keys_in(ns)); }

void StoredPods::recount_runtime_class(const std::string& name) {
  recount_later(shadows_->store().keys(by_runtime_class, name));
}

asio::awaitable<void> StoredPods::run() {
  kube::async::TaskGroup both(co_await asio::this_coro::executor);
  both.spawn(recount_waiting());
  both.spawn(confirm());
  co_await kube::async::finally(both.join(), both.stop());
}

asio::awaitable<void> StoredPods::confirm() {
  co_await shadows_->wait_synced();
  // refresh() compares the cache with the server, which needs a complete cache.
  co_await pods_->wait_synced();
  more_to_read_.set();
  int failures = 0;
  while (true) {
    co_await more_to_read_.wait_and_reset();
    if (!co_await refresh_pods()) {
      co_await clock_.sleep(refresh_backoff.pause(++failures, random_));
      more_to_read_.set();
      continue;
    }
    failures = 0;
    std::map<std::string, std::vector<kube::ObjectKey>> by_ns;
    for (const kube::ObjectKey& key : std::exchange(unconfirmed_, {})) by_ns[key.ns].push_back(key);
    bool complete = true;
    for (const auto& [ns, keys] : by_ns) {
      const bool is_crowd = keys.size() > 1 && keys.size() * listed_per_read > pods_->store().size();
      const bool read = is_crowd ? co_await confirm_together(keys) : co_await confirm_each(keys);
      if (!read) unconfirmed_.insert(keys.begin(), keys.end());
      complete = complete && read;
    }
    changed_();
    // After a new list of ShadowPods admissions wait for refresh_pods(), so there is no pause before it.
    if (shadows_->lists() == refreshed_at_) co_await clock_.sleep(complete ? confirm_interval : 1s);
    if (!unconfirmed_.empty()) more_to_read_.set();
  }
}

asio::awaitable<bool> StoredPods::refresh_pods() {
  const std::uint64_t lists = shadows_->lists();
  if (lists == refreshed_at_) co_return true;
  if (auto refreshed = co_await pods_->refresh(); !refreshed) co_return false;
  refreshed_at_ = lists;
  progress_.set();
  co_return true;
}

asio::awaitable<bool> StoredPods::confirm_each(std::vector<kube::ObjectKey> keys) {
  for (const kube::ObjectKey& key : keys) {
    if (shadows_->lists() != refreshed_at_) co_return false;
    auto live = co_await replica_api_.get(kube::resources::pods, key);
    if (!live && !live.error().is_not_found()) co_return false;
    confirmed(key, live ? std::optional(std::move(*live)) : std::nullopt);
  }
  co_return true;
}

asio::awaitable<bool> StoredPods::confirm_together(std::vector<kube::ObjectKey> keys) {
  std::set<kube::ObjectKey> missing(keys.begin(), keys.end());
  const auto listed = co_await kube::list_all(replica_api_, {kube::resources::pods, keys.front().ns},
                                              {.selection = {.label_selector = managed_pods}}, [&](kube::Object pod) {
                                                if (const kube::ObjectKey key = pod.key(); missing.erase(key) > 0)
                                                  confirmed(key, std::move(pod));
                                                return true;
                                              });
  if (!listed) co_return false;
  for (const kube::ObjectKey& key : missing) confirmed(key, std::nullopt);
  co_return true;
}

void StoredPods::confirmed(const kube::ObjectKey& key, std::optional<kube::Object> pod) {
  if (pod && pod->label(api::labels::managed_by) == api::labels::managed_by_shadow_pod) pods_->observe(std::move(*pod));
  // A Pod that has the name now either does not belong to the vanished ShadowPod, or has come into the cache and counts
  // from there.
  account_.confirm_gone(key);
}

}  // namespace liqo::quota
