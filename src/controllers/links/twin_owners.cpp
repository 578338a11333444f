#include "controllers/links/twin_owners.hpp"

#include <utility>

#include "core/namespaces/twin_owner.hpp"
#include "kube/client/find_live.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using Owner = std::optional<kube::OwnerReference>;

/// The pause after a provider gives no right, does not check owners, or refuses the right one.
constexpr kube::Duration no_right_pause = 1h;
/// The pause after the first such answer: a right that was just given may not be known to every API server yet.
constexpr kube::Duration early_pause = 10s;
/// A UID is read again after this time: a provider may have become one that does not check owners, as by a rollback.
constexpr kube::Duration trusted_for = 10min;
/// How often a caller reads, or waits for others who read: the mapping may change each time.
constexpr int max_tries = 4;

}  // namespace

TwinOwners::TwinOwners(kube::Api& provider, std::string cluster, const kube::Environment& environment)
    : provider_(provider), environment_(environment), log_(kube::Log("provider").with("cluster", std::move(cluster))) {}

void TwinOwners::forget() {
  for (const auto& [name, twin] : twins_) {
    twin->owner.reset();
    twin->none_until.reset();
  }
}

void TwinOwners::set_mapping(const core::NamespaceMapping& mapping) {
  std::set<std::string_view> accepted;
  for (const auto& [local, remote] : mapping.entries()) accepted.insert(remote);
  std::erase_if(twins_, [&](const auto& entry) { return !accepted.contains(entry.first); });
  std::erase_if(told_, [&](const std::string& name) { return !accepted.contains(name); });
}

asio::awaitable<kube::Result<Owner>> TwinOwners::of(std::string twin) {
  for (int tries = 0; tries < max_tries; ++tries) {
    Shared& entry = twins_[twin];
    if (!entry) entry = std::make_shared<Twin>();
    const Shared known = entry;
    if (is_known(*known)) co_return known->owner;
    if (known->none_until && environment_.clock.now() < *known->none_until) co_return Owner();
    if (const auto reading = known->reading) {
      co_await reading->wait();
      continue;
    }
    KUBE_CO_TRY(is_current, co_await read_into(known, twin));
    if (is_current) co_return known->owner;
  }
  co_return kube::fail(kube::Errc::stopped, "the twin namespace " + twin + " changes while it is read");
}

asio::awaitable<kube::Result<Owner>> TwinOwners::read(std::string twin) {
  for (int tries = 0; tries < max_tries; ++tries) {
    Shared& entry = twins_[twin];
    if (!entry) entry = std::make_shared<Twin>();
    const Shared known = entry;
    if (known->none_until && environment_.clock.now() < *known->none_until) co_return Owner();
    // A read that is under way may be from before the caller saw its object.
    if (const auto reading = known->reading) {
      co_await reading->wait();
      continue;
    }
    KUBE_CO_TRY(is_current, co_await read_into(known, twin));
    if (is_current) co_return known->owner;
  }
  co_return kube::fail(kube::Errc::stopped, "the twin namespace " + twin + " is read by others all the time");
}

asio::awaitable<kube::Result<bool>> TwinOwners::read_into(Shared twin, std::string name) {
  struct Reading {
    Twin& twin;
    ~Reading() { std::exchange(twin.reading, nullptr)->set(); }
  };
  twin->reading = std::make_shared<kube::async::Event>(environment_.executor);
  const Reading reading{*twin};
  auto live = co_await kube::find_live(provider_, kube::resources::namespaces, {"", name});
  const auto found = twins_.find(name);
  if (found == twins_.end() || found->second != twin) co_return false;
  if (!live && !live.error().is_permanent())
    co_return kube::fail(std::move(live.error()), "reading the twin namespace " + name);
  take(*twin, name, live);
  co_return true;
}

void TwinOwners::take(Twin& twin, const std::string& name, const kube::Result<std::optional<kube::Object>>& live) {
  twin.owner.reset();
  twin.none_until.reset();
  // The Namespace is gone, or will be: the write fails, or its object goes with it.
  if (live && (!*live || (*live)->is_deleting())) return;
  const std::string refused = std::exchange(twin.refused, {});
  std::string why_none;
  if (!live) {
    why_none = live.error().text();
  } else if (!core::checks_owners(**live)) {
    why_none = "the provider does not check owners";
  } else {
    twin.owner = core::twin_owner(**live);
    const bool is_refused = !twin.owner || twin.owner->name != name || twin.owner->uid == refused;
    if (is_refused) why_none = "the provider refuses its own namespace as an owner";
  }
  if (why_none.empty()) {
    twin.has_none = false;
    twin.trusted_until = environment_.clock.now() + trusted_for;
    told_.erase(name);
    return;
  }
  twin.owner.reset();
  const bool is_early = !std::exchange(twin.has_none, true) && refused.empty();
  twin.none_until = environment_.clock.now() + (is_early ? early_pause : no_right_pause);
  if (!is_early) report_none(name, why_none);
}

void TwinOwners::report_none(const std::string& name, std::string_view why) {
  if (told_.insert(name).second)
    log_.info("what is copied to a twin does not name that namespace as its owner", {{"twin", name}, {"reason", why}});
}

std::optional<kube::OwnerReference> TwinOwners::known(const std::string& twin) const {
  const auto found = twins_.find(twin);
  return found == twins_.end() || !is_known(*found->second) ? std::nullopt : found->second->owner;
}

bool TwinOwners::note_failure(const kube::OwnerReference& owner, const kube::Failure& failure) {
  const core::OwnerDoubt doubt = core::doubt_owner(failure);
  if (doubt == core::OwnerDoubt::none) return false;
  // Others may have read anew since the write was sent.
  if (const auto found = twins_.find(owner.name);
      found != twins_.end() && found->second->owner && found->second->owner->uid == owner.uid) {
    found->second->owner.reset();
    if (doubt == core::OwnerDoubt::refused) found->second->refused = owner.uid;
  }
  return doubt == core::OwnerDoubt::refused;
}

}  // namespace liqo::controllers
