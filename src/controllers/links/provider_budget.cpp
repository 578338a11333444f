#include "controllers/links/provider_budget.hpp"

#include <algorithm>

#include "controllers/links/provider_orders.hpp"
#include "telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using std::chrono_literals::operator""s;

/// A provider that was unreachable may have renewed everything for 64 slices.
constexpr TokenBucket::Rate corrections_rate{.per_second = 0.2, .burst = 150};
/// How much longer the metrics show a provider that is gone.
constexpr kube::Duration prune_pause = 15s;

}  // namespace

TokenBucket::TokenBucket(kube::async::Clock& clock, Rate rate) : clock_(clock), rate_(rate), next_(clock.now()) {}

kube::Duration TokenBucket::reserve(double tokens) {
  const kube::TimePoint now = clock_.now();
  next_ = std::max(next_, now) + time_of(tokens);
  return std::max(next_ - now - time_of(rate_.burst), kube::Duration::zero());
}

bool TokenBucket::try_take(double tokens) {
  if (lacks(tokens) > 0s) return false;
  reserve(tokens);
  return true;
}

kube::Duration TokenBucket::lacks(double tokens) const {
  const kube::TimePoint now = clock_.now();
  const kube::Duration used = std::max(next_, now) + time_of(std::min(tokens, rate_.burst)) - now;
  return std::max(used - time_of(rate_.burst), kube::Duration::zero());
}

WriteBudget::WriteBudget(kube::async::Clock& clock, TokenBucket::Rate writes, Delayed delayed)
    : clock_(clock),
      number_(clock, writes),
      bytes_(clock, {.per_second = double(bytes_per_second), .burst = double(max_bytes)}),
      delayed_(delayed) {}

kube::Duration WriteBudget::lacks(Write write) const {
  const double bytes = weight(write);
  return std::max(number_.lacks(double(write.writes)), bytes > 0 ? bytes_.lacks(bytes) : kube::Duration::zero());
}

void WriteBudget::note_delay(Write write) {
  delayed_.writes.add();
  if (const double bytes = weight(write); bytes > 0 && bytes_.lacks(bytes) > 0s) delayed_.bytes.add(bytes);
}

kube::Duration WriteBudget::take_now(Write write) {
  if (const kube::Duration wait = lacks(write); wait > 0s) {
    note_delay(write);
    return wait;
  }
  number_.reserve(double(write.writes));
  if (const double bytes = weight(write); bytes > 0) bytes_.reserve(bytes);
  return kube::Duration::zero();
}

kube::Duration WriteBudget::reserve(Write write) {
  if (lacks(write) > 0s) note_delay(write);
  const double bytes = weight(write);
  const kube::Duration for_bytes = bytes > 0 ? bytes_.reserve(bytes) : kube::Duration::zero();
  return std::max(number_.reserve(double(write.writes)), for_bytes);
}

asio::awaitable<void> WriteBudget::take(Write write) {
  const kube::Duration wait = reserve(write);
  if (wait <= 0s) co_return;
  // The tokens of a write that is given up would be missing for all behind it.
  struct Unused {
    ~Unused() {
      if (bytes > 0) of.give_back(bytes);
    }
    TokenBucket& of;
    double bytes;
  } unused{bytes_, weight(write)};
  co_await clock_.sleep(wait);
  unused.bytes = 0;
}

std::size_t stored_bytes(const kube::Informer& cache, const kube::ObjectKey& key, std::size_t patch) {
  return std::max(cache.store().bytes(key), patch);
}

kube::Duration ProviderBudget::correct_now(std::size_t bytes) {
  if (const kube::Duration wait = corrections.lacks(); wait > 0s) return wait;
  if (const kube::Duration wait = home_writes.take_now({.bytes = bytes}); wait > 0s) return wait;
  corrections.reserve();
  return kube::Duration::zero();
}

std::shared_ptr<ProviderBudget> ProviderBudgets::of(const std::string& cluster) {
  std::shared_ptr<ProviderBudget>& budget = known_[cluster];
  if (budget) return budget;
  const Settings& settings = context_.settings;
  const kube::StoreUse::Limits limits{.bytes = std::size_t(settings.links.provider_cache_mib) << 20,
                                      .objects = std::size_t(settings.links.provider_cache_objects)};
  const kube::Labels labels{{"cluster_id", cluster}};
  budget = std::make_shared<ProviderBudget>(
      ProviderBudget{.stores = std::make_shared<kube::StoreUse>(limits, context_.metrics, cluster),
                     .home_writes = WriteBudget(context_.clock,
                                                {.per_second = double(settings.links.provider_writes_per_second),
                                                 .burst = double(settings.links.provider_write_burst)},
                                                {.writes = context_.metrics.counter(families::writes_delayed, labels),
                                                 .bytes = context_.metrics.counter(families::bytes_delayed, labels)}),
                     .best_effort = TokenBucket(context_.clock, ProviderBudget::best_effort_rate),
                     .corrections = TokenBucket(context_.clock, corrections_rate),
                     .orders = std::make_shared<ProviderOrders>(context_.executor)});
  return budget;
}

void ProviderBudgets::prune() {
  std::erase_if(known_, [](const auto& entry) {
    const ProviderBudget& budget = *entry.second;
    return entry.second.use_count() == 1 && budget.home_writes.is_full() && budget.corrections.is_full();
  });
}

asio::awaitable<void> ProviderBudgets::run() {
  for (;;) {
    co_await context_.clock.sleep(prune_pause);
    prune();
    context_.accounts.prune();
  }
}

std::string describe_overflow(const kube::StoreBudget& stores, const std::string& cluster) {
  if (!stores.is_exceeded()) return {};
  return "cluster " + cluster + " shows more than is held of one provider (" +
         std::to_string(stores.limits().bytes >> 20) + " MiB, " + std::to_string(stores.limits().objects) +
         " objects), last by " + stores.exceeded_by() +
         ": remove there what does not belong to offloaded pods, or raise --provider-cache-mib and "
         "--provider-cache-objects; it is tried again in " +
         std::to_string(overflow_pause.count()) + " minutes";
}

}  // namespace liqo::controllers
