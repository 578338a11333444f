#include "controllers/links/twin_watches.hpp"

#include <algorithm>

#include "controllers/common/keep_fields.hpp"
#include "core/common/late_requests.hpp"
#include "core/offloading/service_account_token.hpp"
#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

/// Only the fields of a provider's pod that show its state are needed here.
void prune_remote_pod(kube::json::object& tree) {
  keep_fields_of(tree, "spec", {"nodeName", "restartPolicy", "priorityClassName", "schedulingGates"});
}

/// All virtual nodes of a provider call this when they begin, one after the other. Within this time no other process
/// can have led.
constexpr kube::Duration tokens_hold_for = 5s;
/// The bound is above the number of a provider's virtual nodes: the names that it shows must not fill the memory of
/// this process.
constexpr std::size_t max_token_nodes = 256;

/// How many twins are read for the first time concurrently, and for how long a twin with a slow provider counts as one
/// of them.
constexpr std::size_t max_reading = 32;
constexpr kube::Duration reading_counts_for = 5s;
/// How long a twin is still watched after it has become empty. A twin that is empty when it is first read rests at
/// once.
constexpr kube::Duration unused_time = 2min;
constexpr kube::Duration between_looks = 1s;
constexpr kube::Duration first_pause = 50ms;  ///< while nothing may be read yet

/// Notifies those that wait, even when the reading is cancelled.
struct EndOfReading {
  TwinWatch& watch;
  ~EndOfReading() { std::exchange(watch.tokens_read, nullptr)->set(); }
};

}  // namespace

std::string_view TwinWatches::token_selector() { return api::labels::service_account_name; }

std::shared_ptr<TwinWatch> TwinWatches::watch(const std::string& local, const std::string& remote) {
  const std::pair key{local, remote};
  const auto known = watches_.find(key);
  std::shared_ptr<TwinWatch> watch = known == watches_.end() ? nullptr : known->second.lock();
  if (!watch) {
    auto made = std::make_unique<TwinWatch>();
    made->local = local;
    made->remote = remote;
    made->is_resting = true;
    watch = std::shared_ptr<TwinWatch>(made.release(), [this, key](TwinWatch* gone) {
      watches_.erase(key);
      std::default_delete<TwinWatch>()(gone);
    });
    watches_[key] = watch;
  }
  wake_anew(*watch);
  return watch;
}

void TwinWatches::wake_anew(TwinWatch& watch) {
  watch.late_at = clock_.now() + core::late_after;
  wake(watch);
}

void TwinWatches::wake(TwinWatch& watch) {
  watch.unused_since.reset();
  if (!std::exchange(watch.is_resting, false)) return;
  watch.is_waiting = true;
  waiting_.push_back(watches_.at({watch.local, watch.remote}));
  begin_waiting();
  if (woken_) woken_(watch.local);
}

bool TwinWatches::is_used(const std::string& local, const std::string& remote) const {
  const auto known = watches_.find({local, remote});
  const auto watch = known == watches_.end() ? nullptr : known->second.lock();
  return !watch || !watch->is_resting;
}

void TwinWatches::begin_waiting() {
  if (!has_begun_ && !may_begin_()) return;
  has_begun_ = true;
  std::erase_if(reading_, [&](const auto& begun) {
    const auto watch = begun.second.lock();
    return !watch || watch->is_resting || watch->has_synced() || begun.first + reading_counts_for <= clock_.now();
  });
  while (!waiting_.empty() && reading_.size() < max_reading) {
    const auto watch = waiting_.front().lock();
    waiting_.pop_front();
    if (!watch || !std::exchange(watch->is_waiting, false)) continue;
    reading_.emplace_back(clock_.now(), watch);
    begin(*watch);
  }
}

void TwinWatches::begin(TwinWatch& watch) {
  TwinWatch* const twin = &watch;
  watch.shadows = caches_.acquire({.resource = api::kinds::shadow_pods, .ns = watch.remote, .in_pages = true});
  watch.pods = caches_.acquire(
      {.resource = kube::resources::pods, .ns = watch.remote, .in_pages = true, .prune = prune_remote_pod});
  const auto synced = [this, twin] {
    if (!twin->has_synced()) return;
    for (const TwinReader& reader : readers_) reader.synced(*twin);
    if (is_unused(*twin)) rest(*twin);
    begin_waiting();
  };
  watch.shadows.subscribe(
      [this, twin](const kube::Change& change) {
        for (const TwinReader& reader : readers_) reader.shadow_changed(*twin, change);
      },
      synced);
  watch.pods.subscribe(
      [this, twin](const kube::Change& change) {
        for (const TwinReader& reader : readers_) reader.pod_changed(*twin, change);
      },
      synced);
  // Another namespace may have had the same twin.
  synced();
}

bool TwinWatches::is_unused(const TwinWatch& watch) const {
  return watch.has_synced() && watch.shadows->store().size() == 0 && watch.pods->store().size() == 0 &&
         std::ranges::none_of(readers_, [&](const TwinReader& reader) { return reader.is_needed(watch); });
}

void TwinWatches::rest(TwinWatch& watch) {
  watch.shadows.release();
  watch.pods.release();
  watch.unused_since.reset();
  watch.is_resting = true;
}

void TwinWatches::look_over() {
  const kube::TimePoint now = clock_.now();
  for (const auto& [names, known] : watches_) {
    const auto watch = known.lock();
    if (!watch) continue;
    if (watch->late_at && *watch->late_at <= now) {
      watch->late_at.reset();
      wake(*watch);
    } else if (!is_unused(*watch)) {
      watch->unused_since.reset();
    } else if (!watch->unused_since) {
      watch->unused_since = now;
    } else if (*watch->unused_since + unused_time <= now) {
      rest(*watch);
    }
  }
}

asio::awaitable<void> TwinWatches::run() {
  kube::TimePoint looked_over{};
  for (begin_waiting(); !has_begun_; begin_waiting()) co_await clock_.sleep(first_pause);
  while (true) {
    co_await clock_.sleep(between_looks);
    begin_waiting();
    if (clock_.now() - looked_over < unused_time / 8) continue;
    looked_over = clock_.now();
    look_over();
  }
}

asio::awaitable<kube::Result<void>> TwinWatches::find_tokens(std::shared_ptr<TwinWatch> watch, kube::Api& api,
                                                             core::ClusterPair clusters) {
  const auto is_known = [&] {
    return watch->tokens_read_at && clock_.now() - *watch->tokens_read_at < tokens_hold_for;
  };
  while (!is_known() && watch->tokens_read) co_await std::shared_ptr(watch->tokens_read)->wait();
  if (is_known()) co_return kube::Result<void>();
  watch->tokens_read = std::make_shared<kube::async::Event>(executor_);
  const EndOfReading end{*watch};
  KUBE_CO_TRYV(co_await kube::list_all(
      api, {kube::resources::secrets, watch->remote},
      {.selection = {.label_selector = std::string(token_selector())}, .resource_version = "0", .metadata_only = true},
      [&](const kube::Object& secret) {
        const std::string_view node = secret.label(api::labels::node_name);
        if (!core::is_token_secret(secret, clusters) || watch->has_tokens_of(node)) return true;
        watch->all_have_tokens = watch->token_nodes.size() >= max_token_nodes;
        if (!watch->all_have_tokens) watch->token_nodes.emplace(node);
        return !watch->all_have_tokens;
      }));
  watch->tokens_read_at = clock_.now();
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
