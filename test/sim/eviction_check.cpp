#include "eviction_check.hpp"

#include <algorithm>

#include "core/offloading/disruption_budget.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::testing::ChangeType;
using kube::testing::FakeChange;
namespace resources = kube::resources;

namespace {

/// For so long a number that was written may be from before a pod was bound: it is of the state that liqod saw, and may
/// have been on its way.
constexpr kube::Duration max_age_of_number = 90s;

bool is_budget(const FakeChange& change) { return change.kind->plural == api::kinds::disruption_budgets.plural; }
bool is_pod(const FakeChange& change) { return kube::testing::is_core(*change.kind, "pods"); }

bool is_selected(const json::object& pod) { return kube::string_at(pod, {"metadata", "labels", "app"}) == "shop"; }

/// Whether the pod is ready, and nothing has begun to end it.
bool runs(const json::object& pod) { return is_ready(pod) && !is_deleting(pod) && !is_final(phase_of(pod)); }

std::string_view node_of(const json::object& pod) { return kube::string_at(pod, {"spec", "nodeName"}); }

const json::object& disrupted(const json::object& budget) {
  return kube::object_at(budget, {"status", "disruptedPods"});
}

/// Whether the change begins to end a pod, or removes it at once.
bool ends(const FakeChange& change) {
  if (!change.before || is_deleting(*change.before)) return false;
  return change.type == ChangeType::deleted || is_deleting(*change.after);
}

}  // namespace

EvictionCheck::EvictionCheck(Cluster& home, const std::vector<std::unique_ptr<Cluster>>& providers,
                             kube::ObjectKey budget)
    : home_(home), providers_(providers), budget_(std::move(budget)) {
  home_.server.store().on_change([this](const FakeChange& change) { see_home(change); });
  for (const auto& provider : providers_)
    provider->server.store().on_change(
        [this, &there = *provider](const FakeChange& change) { see_provider(there, change); });
}

std::vector<Violation> EvictionCheck::violations() const {
  std::vector<Violation> found;
  found.reserve(violations_.size());
  for (const auto& [invariant, what] : violations_) found.push_back({invariant, what});
  return found;
}

std::string EvictionCheck::summary() const {
  return std::to_string(lent_) + " evictions were lent, " + std::to_string(there_) +
         " made at providers under a copy (" + std::to_string(excused_) + " excused), " + std::to_string(unheld_) +
         " without one, " + std::to_string(at_home_) + " at home" + (is_exact_ ? "; all pods were counted" : "");
}

void EvictionCheck::violate(const std::string& invariant, std::string what) {
  violations_.emplace(invariant, time_text(home_.server.store().clock().now()) + " " + std::move(what));
}

Cluster* EvictionCheck::provider_at(std::string_view virtual_node) const {
  const std::string id = provider_of(virtual_node);
  for (const auto& provider : providers_)
    if (provider->id == id) return provider.get();
  return nullptr;
}

bool EvictionCheck::is_lent(const json::object& budget, std::string_view name) const {
  const auto until = kube::parse_time(kube::string_at(disrupted(budget), {name}));
  return until && *until > home_.server.store().clock().wall() + core::lent_at_least;
}

std::vector<EvictionCheck::Seen> EvictionCheck::look(Cluster& provider) const {
  std::vector<Seen> pods;
  const Tree budget = home_.server.get(api::kinds::disruption_budgets, budget_);
  if (!budget) return pods;
  for (const Tree& local : home_.server.list(resources::pods, budget_.ns)) {
    if (provider_at(node_of(*local)) != &provider || !is_selected(*local)) continue;
    if (is_deleting(*local) || is_final(phase_of(*local))) continue;
    Seen seen{.name = std::string(name_of(*local)), .uid = std::string(uid_of(*local))};
    const Tree real = provider.server.get(resources::pods, {twin_namespace(home_.id), seen.name});
    seen.lent = is_lent(*budget, seen.name);
    seen.counts = is_ready(*local) && !disrupted(*budget).contains(seen.name);
    seen.runs = real && local_uid_of(*real) == seen.uid && runs(*real);
    pods.push_back(std::move(seen));
  }
  return pods;
}

std::vector<std::string> EvictionCheck::missing(const std::vector<Seen>& pods) const {
  std::vector<std::string> names;
  for (const Seen& pod : pods) {
    const auto how = evicted_.find(pod.uid);
    if (pod.counts && !pod.runs && how != evicted_.end() && how->second == Evicted::held) names.push_back(pod.uid);
  }
  return names;
}

std::size_t EvictionCheck::spare(const std::vector<Seen>& pods) {
  return static_cast<std::size_t>(std::ranges::count_if(pods, [](const Seen& pod) { return pod.lent && pod.runs; }));
}

std::size_t EvictionCheck::uncounted(Cluster& provider, const std::vector<Seen>& pods) {
  std::size_t found = 0, used = 0;
  for (const Tree& real : provider.server.list(resources::pods, twin_namespace(home_.id))) {
    if (!runs(*real) || !is_selected(*real)) continue;
    const auto pod = std::ranges::find(pods, local_uid_of(*real), &Seen::uid);
    found += pod == pods.end() || bound_at_[pod->uid] > copy_written_at_[provider.id] - max_age_of_number;
  }
  for (const Seen& pod : pods) {
    const auto how = evicted_.find(pod.uid);
    used += pod.counts && !pod.runs && how != evicted_.end() && how->second == Evicted::excused;
  }
  return found - std::min(found, used);
}

void EvictionCheck::excuse(Cluster& provider) {
  const std::vector<Seen> pods = look(provider);
  std::vector<std::string> names = missing(pods);
  for (const std::size_t most = spare(pods); names.size() > most; names.pop_back()) {
    evicted_[names.back()] = Evicted::excused;
    ++excused_;
    is_exact_ = false;
  }
}

void EvictionCheck::check(Cluster& provider, std::string_view when) {
  const std::vector<Seen> pods = look(provider);
  const std::size_t lacking = missing(pods).size(), most = spare(pods);
  if (lacking <= most) return;
  std::string what;
  for (const Seen& pod : pods)
    what += " " + pod.name + (pod.counts ? " counts" : pod.lent ? " lent" : " out") + (pod.runs ? "," : " ended,");
  violate("home counts no pod that a provider has evicted", provider.id + " after " + std::string(when) + ": " +
                                                                std::to_string(lacking) + " evicted, " +
                                                                std::to_string(most) + " lent:" + what);
}

void EvictionCheck::check_all(std::string_view when) {
  const Tree budget = home_.server.get(api::kinds::disruption_budgets, budget_);
  if (!is_exact_ || !budget) return;
  std::int64_t available = 0;
  for (const Tree& local : home_.server.list(resources::pods, budget_.ns)) {
    if (!is_selected(*local) || is_deleting(*local) || is_final(phase_of(*local))) continue;
    Cluster* provider = provider_at(node_of(*local));
    const Tree real =
        provider ? provider->server.get(resources::pods, {twin_namespace(home_.id), std::string(name_of(*local))})
                 : local;
    available += real && runs(*real) && (!provider || local_uid_of(*real) == uid_of(*local));
  }
  const std::int64_t least = kube::int_at(*budget, {"spec", "minAvailable"});
  if (available < least)
    violate("no more is disrupted than the budget allows", std::to_string(available) + " pods are available, not " +
                                                               std::to_string(least) + ", after " + std::string(when));
}

// ---- At home -----------------------------------------------------------------------------------------------------

void EvictionCheck::see_home(const FakeChange& change) {
  if (is_budget(change) && change.key == budget_) see_budget(change);
  if (is_pod(change) && change.key.ns == budget_.ns) see_local(change);
}

void EvictionCheck::see_budget(const FakeChange& change) {
  const std::string when = "a write of the budget by " + change.actor;
  if (change.type != ChangeType::modified) {
    // What was evicted before it was there is no matter of this budget. The first one is made before any pod runs.
    if (change.type == ChangeType::deleted || !evicted_.empty()) is_exact_ = false;
    for (auto& [uid, how] : evicted_) how = Evicted::excused;
    if (change.type == ChangeType::added) made_at_ = change.at;
    return;
  }
  if (kube::object_at(*change.before, {"spec"}) != kube::object_at(*change.after, {"spec"})) is_exact_ = false;
  for (const auto& [name, at] : disrupted(*change.after))
    lent_ += is_lent(*change.after, name) && !is_lent(*change.before, name);
  for (const auto& [name, at] : disrupted(*change.before)) {
    // A lent pod that is evicted at home: the provider may evict another one until it knows.
    if (!is_lent(*change.before, name) || !disrupted(*change.after).contains(name) || is_lent(*change.after, name))
      continue;
    const Tree local = home_.server.get(resources::pods, {budget_.ns, std::string(name)});
    if (Cluster* provider = local ? provider_at(node_of(*local)) : nullptr) excuse(*provider);
  }
  for (const auto& provider : providers_) check(*provider, when);
}

void EvictionCheck::see_local(const FakeChange& change) {
  const json::object& pod = *change.after;
  if (!node_of(pod).empty()) bound_at_.emplace(std::string(uid_of(pod)), change.at);
  const Tree budget = home_.server.get(api::kinds::disruption_budgets, budget_);
  Cluster* provider = provider_at(node_of(pod));
  if (ends(change) && budget && is_selected(pod)) {
    const bool is_evicted = disrupted(*budget).contains(change.key.name) && !is_lent(*budget, change.key.name);
    if (is_evicted) {
      ++at_home_;
      check_all("an eviction of " + change.key.name + " at home");
    } else if (is_ready(*change.before)) {
      is_exact_ = false;
    }
    if (provider && is_lent(*budget, change.key.name)) excuse(*provider);
  }
  if (provider) check(*provider, "a change of " + change.key.name + " at home by " + change.actor);
}

// ---- At a provider -----------------------------------------------------------------------------------------------

void EvictionCheck::see_provider(Cluster& provider, const FakeChange& change) {
  if (change.key.ns != twin_namespace(home_.id)) return;
  if (is_budget(change) && change.type != ChangeType::deleted && change.actor == "liqod-" + home_.id) {
    const bool is_same =
        change.before && kube::object_at(*change.before, {"spec"}) == kube::object_at(*change.after, {"spec"});
    if (!is_same) copy_written_at_[provider.id] = change.at;
  }
  if (is_budget(change) && change.type == ChangeType::deleted) {
    // Without it nothing bounds evictions there, and what it has allowed may be on its way when home looks.
    for (const std::string& uid : missing(look(provider))) evicted_[uid] = Evicted::excused;
    is_exact_ = false;
  }
  if (!is_pod(change)) return;
  if (change.type != ChangeType::deleted && runs(*change.after))
    evicted_.erase(std::string(local_uid_of(*change.after)));
  else if (ends(change) && change.actor == evictor && runs(*change.before))
    see_eviction(provider, change);
  check(provider, "a change of " + change.key.name + " there by " + change.actor);
}

void EvictionCheck::see_eviction(Cluster& provider, const FakeChange& change) {
  const std::string uid(local_uid_of(*change.after));
  const auto copies = provider.server.list(api::kinds::disruption_budgets, change.key.ns);
  // A copy of an earlier budget of this name is as good as none.
  if (copies.empty() || !is_selected(*change.after) || copy_written_at_[provider.id] < made_at_) {
    evicted_[uid] = Evicted::excused;
    is_exact_ = false;
    ++unheld_;
    // It may have been lent, and have made up for another one.
    excuse(provider);
    return;
  }
  ++there_;
  evicted_[uid] = Evicted::held;
  const std::vector<Seen> pods = look(provider);
  if (missing(pods).size() > spare(pods) && uncounted(provider, pods) > 0) {
    evicted_[uid] = Evicted::excused;
    is_exact_ = false;
    ++excused_;
    return;
  }
  check_all("an eviction of " + change.key.name + " in " + provider.id);
}

}  // namespace liqo::sim
