#include "controllers/links/twin_owners.hpp"

#include <expected>
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

std::unexpected<kube::Failure> unsteady(const std::string& twin) {
  return kube::fail(kube::Errc::timeout, "the twin namespace " + twin + " changes while it is read");
}

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

TwinOwners::Shared TwinOwners::entry(const std::string& name) {
  Shared& found = twins_[name];
  if (!found) found = std::make_shared<Twin>();
  return found;
}

asio::awaitable<kube::Result<Owner>> TwinOwners::of(std::string twin) {
  for (int tries = 0; tries < max_tries; ++tries) {
    const Shared known = entry(twin);
    if (is_known(*known)) co_return known->owner;
    if (known->none_until && environment_.clock.now() < *known->none_until) co_return Owner();
    std::optional<kube::Result<Owner>> result;
    if (const auto reading = known->reading) {
      co_await reading->done.wait();
      result = reading->result;
    } else {
      result = co_await read_now(known, twin);
    }
    if (result) co_return std::move(*result);
  }
  co_return unsteady(twin);
}

asio::awaitable<kube::Result<Owner>> TwinOwners::read(std::string twin) {
  for (int tries = 0; tries < max_tries; ++tries) {
    const Shared known = entry(twin);
    if (known->none_until && environment_.clock.now() < *known->none_until) co_return Owner();
    std::optional<kube::Result<Owner>> result;
    if (const auto reading = known->reading) {
      co_await reading->done.wait();
      // The first read that is found under way may be from before the caller saw its object; a later one is not.
      if (tries > 0) result = reading->result;
    } else {
      result = co_await read_now(known, twin);
    }
    if (result) co_return std::move(*result);
  }
  co_return unsteady(twin);
}

asio::awaitable<std::optional<kube::Result<Owner>>> TwinOwners::read_now(Shared twin, std::string name) {
  struct End {
    Twin& twin;
    Reading& reading;
    ~End() {
      twin.reading.reset();
      reading.done.set();
    }
  };
  const auto reading = std::make_shared<Reading>(environment_.executor);
  twin->reading = reading;
  const End end{*twin, *reading};
  auto live = co_await kube::find_live(provider_, kube::resources::namespaces, {"", name});
  const auto found = twins_.find(name);
  if (found != twins_.end() && found->second == twin) reading->result = take(*twin, name, std::move(live));
  co_return reading->result;
}

kube::Result<Owner> TwinOwners::take(Twin& twin, const std::string& name,
                                     kube::Result<std::optional<kube::Object>> live) {
  twin.owner.reset();
  twin.none_until.reset();
  if (!live && !live.error().is_permanent())
    return kube::fail(std::move(live.error()), "reading the twin namespace " + name);
  // The Namespace is gone: the write fails, too.
  if (live && !*live) return Owner();
  if (live && (*live)->is_deleting())
    return kube::fail(kube::Errc::missing, "the twin namespace " + name + " is being deleted");
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
    return twin.owner;
  }
  twin.owner.reset();
  const bool is_early = !std::exchange(twin.has_none, true) && refused.empty();
  twin.none_until = environment_.clock.now() + (is_early ? early_pause : no_right_pause);
  if (!is_early) report_none(name, why_none);
  return Owner();
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
