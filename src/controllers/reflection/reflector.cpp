#include "controllers/reflection/reflector.hpp"

#include <algorithm>

#include "controllers/reflection/header.hpp"
#include "controllers/reflection/reflector_parts.hpp"
#include "core/common/late_requests.hpp"
#include "core/reflection/home_endpoints.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::reflector {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// While namespaces wait for their first reading, comparisons in the others are put off by at most this time.
constexpr kube::Duration max_put_off = 25s;
/// Objects of a kind without a watch at home are listed this often where nothing of the kind is reflected, to find
/// those that an annotation allows.
constexpr kube::Duration idle_after = 60s, idle_before = 74s;
/// The pause between two looks at a copy while it is not known which pods refer to it.
constexpr kube::Duration unknown_pause = 30s;

/// While more than this many bytes of contents are held, no further namespace is read, but none waits longer than this.
constexpr std::size_t max_read_ahead = 1U << 20;
constexpr kube::Duration max_wait = 30s;
/// The pause between two looks whether everything that forging needs is known.
constexpr kube::Duration known_pause = 1s;
/// The shortest time between two reconsiderations of all objects of one namespace.
constexpr kube::Duration reconsider_interval = 5s;
/// The name that stands for all objects of a namespace; no object can have it.
constexpr std::string_view all_objects = "*";
/// The key that asks whether everything is known: one for all namespaces that wait for it.
kube::WorkKey key_of_waiting() { return {}; }

}  // namespace

Reflector::Reflector(const reflection::ReflectedKind& kind, reflection::SelectionPolicy policy,
                     core::ForgingContext forging, ReflectorContext context)
    : kind_(kind),
      policy_(policy),
      forging_(std::move(forging)),
      context_(context),
      controller_(context,
                  {.name = reflection::option_name(kind) + "-reflection",
                   .ready = context.may_begin,
                   .fill = [this] { start_reading(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {}

Reflector::~Reflector() = default;

bool Reflector::has_copies(const std::string& local) const {
  const auto found = namespaces_.find(local);
  return found != namespaces_.end() && !has_constant_copies_alone(*found->second);
}

bool Reflector::has_constant_copies_alone(const Namespace& ns) const {
  return std::ranges::all_of(ns.copies.names(), [&](const std::string& name) {
    return kind_.is_always_reflected && kind_.is_always_reflected(kind_.local_name(name, forging_));
  });
}

bool Reflector::is_constant(const Namespace& ns) const {
  return !ns.late_at && ns.referred.empty() && !takes_all(ns) && has_constant_copies_alone(ns);
}

bool Reflector::is_quiet(const std::string& local) const {
  const auto found = namespaces_.find(local);
  if (found == namespaces_.end()) return true;
  const Namespace& ns = *found->second;
  // A namespace that cannot be read does not keep the reflectors of other kinds busy.
  return !ns.was_read || is_constant(ns);
}

void Reflector::end_quiet(const std::string& local) {
  const auto found = namespaces_.find(local);
  if (found != namespaces_.end() && std::exchange(found->second->is_quiet, false)) enqueue(*found->second, {});
}

FoundCopy Reflector::find_copy(const std::string& local, const std::string& remote_name, std::string_view uid) const {
  const auto found = namespaces_.find(local);
  const Copy* copy = found == namespaces_.end() ? nullptr : found->second->copies.find(remote_name);
  if (!copy || copy->uid != uid) return {};
  if (!copy->settled_for) return {.name = {}, .is_known = false};
  return {.name = copy->is_ours ? kind_.local_name(remote_name, forging_) : std::string()};
}

bool Reflector::is_known_at_home() const {
  if (is_off()) return true;
  if (kind_.needs_endpoints && !forging_.endpoints->is_known()) return false;
  return kind_.referred_only || home_->has_synced();
}

void Reflector::start_namespace(const std::string& local, const std::string& remote) {
  if (const auto known = namespaces_.find(local); known != namespaces_.end() && known->second->remote == remote) return;
  if (!home_ && !kind_.referred_only && !is_off()) {
    home_ = context_.home.acquire(headers_of(kind_.resource));
    home_.subscribe(
        [this](const kube::ObjectKey& key) {
          if (const auto ns = namespaces_.find(key.ns); ns != namespaces_.end()) enqueue(*ns->second, key.name);
        },
        [this] {
          for (const auto& [name, ns] : namespaces_) {
            enqueue(*ns, {});
            if (ns->is_reconsidered) enqueue(*ns, std::string(all_objects));
          }
        });
  }
  auto started = std::make_shared<Namespace>(local, remote, kind_.copies(), context_, held_);
  namespaces_[local] = started;
  enqueue(*started, {});
}

void Reflector::stop_namespace(const std::string& local) {
  const auto found = namespaces_.find(local);
  if (found == namespaces_.end()) return;
  const Shared ns = found->second;
  namespaces_.erase(found);
  forget_references(*ns);
}

void Reflector::forget_references(Namespace& ns) {
  for (const std::string& name : std::exchange(ns.referring, {})) on_references_(ns.local, name, {});
}

void Reflector::set_references(const std::string& local, const std::set<std::string>& names, bool all) {
  const auto found = namespaces_.find(local);
  if (found == namespaces_.end() || !kind_.referred_only) return;
  Namespace& ns = *found->second;
  const bool took_all = takes_all(ns);
  if (std::exchange(ns.all_wanted, all) != all) {
    if (took_all && !takes_all(ns)) keep_for_now(ns);
    enqueue(ns, {});
    reconsider(local);
  }
  for (const std::string& name : names)
    if (const auto [at, added] = ns.referred.try_emplace(name); added || std::exchange(at->second, std::nullopt))
      enqueue(ns, name);
  for (auto& [name, until] : ns.referred) {
    if (until || names.contains(name)) continue;
    until = context_.clock.now() + reference_grace;
    controller_.enqueue_after({ns.local, {ns.local, name}}, reference_grace);
  }
}

void Reflector::set_forging(core::ForgingContext forging) {
  const bool makes_same = forging.ingress_class == forging_.ingress_class &&
                          forging.load_balancer_class == forging_.load_balancer_class &&
                          forging.patch.labels_not_reflected == forging_.patch.labels_not_reflected &&
                          forging.patch.annotations_not_reflected == forging_.patch.annotations_not_reflected;
  const bool counts_same = forging.node_name == forging_.node_name;
  forging_ = std::move(forging);
  if (!counts_same)
    for (const auto& [local, ns] : namespaces_) ns->counters = {};
  if (!makes_same) reconsider();
}

void Reflector::set_policy(reflection::KindPolicy policy) {
  // One namespace gets at most half of the workers, so that the others never wait for it alone.
  if (policy.workers > 0) controller_.set_workers(policy.workers, (policy.workers + 1) / 2);
  if (policy_ == policy.selection) return;
  std::vector<Shared> took_all;
  for (const auto& [local, ns] : namespaces_)
    if (takes_all(*ns)) took_all.push_back(ns);
  policy_ = policy.selection;
  for (const Shared& ns : took_all)
    if (!takes_all(*ns)) keep_for_now(*ns);
  if (kind_.referred_only)
    for (const auto& [local, ns] : namespaces_) enqueue(*ns, {});
  reconsider();
}

asio::awaitable<void> Reflector::run() {
  // References are told only while this process leads. They are taken back at the end, because later ones may differ.
  struct End {
    Reflector& self;
    ~End() {
      for (const auto& [local, ns] : self.namespaces_) self.forget_references(*ns);
    }
  } end{*this};
  co_await controller_.run();
}

std::optional<kube::Duration> Reflector::waits_for_others(Namespace& ns) {
  if (held_ <= max_read_ahead) return std::nullopt;
  const kube::TimePoint now = context_.clock.now();
  if (!ns.read_by) ns.read_by = now + max_wait;
  if (*ns.read_by <= now) return std::nullopt;
  if (!std::exchange(ns.is_waiting, true)) unread_.push_back(ns.local);
  return *ns.read_by - now;
}

bool Reflector::is_put_off(const Namespace& ns) const {
  const bool others_wait = held_ > max_read_ahead || !unread_.empty();
  return others_wait && ns.soon == 0s && context_.clock.now() - ns.compared_at < max_put_off;
}

void Reflector::read_next() {
  while (held_ <= max_read_ahead && !unread_.empty()) {
    const auto next = namespaces_.find(unread_.front());
    unread_.pop_front();
    if (next == namespaces_.end() || !std::exchange(next->second->is_waiting, false) || next->second->was_read)
      continue;
    return enqueue(*next->second, {});
  }
}

void Reflector::start_reading() {
  unread_.clear();
  for (const auto& [local, ns] : namespaces_) {
    ns->was_read = false;
    ns->copies.clear();
    ns->at_home.clear();
    ns->there.clear();
    ns->listed.clear();
    ns->read_by.reset();
    ns->is_waiting = false;
    // The queue has lost its keys, and a reconsideration with them. All objects are forged again in any case.
    ns->is_reconsidered = false;
    enqueue(*ns, {});
  }
}

/// A key without a name stands for the namespace as a whole.
void Reflector::enqueue(const Namespace& ns, std::string name) {
  kube::Duration pause = name.empty() ? kube::Duration::zero() : kube::Duration(kind_.pace.settle);
  pause = std::max(pause, rests_for(ns, name));
  kube::WorkKey key{ns.local, {ns.local, std::move(name)}};
  if (pause > kube::Duration::zero())
    controller_.enqueue_after(std::move(key), pause);
  else
    controller_.enqueue(std::move(key));
}

void Reflector::look_soon(Namespace& ns) {
  ns.soon = first_look;
  controller_.enqueue_after({ns.local, {ns.local, {}}}, first_look);
}

kube::Duration Reflector::rests_for(const Namespace& ns, const std::string& name) const {
  const auto looked_at = ns.looked_at.find(name);
  if (looked_at == ns.looked_at.end()) return kube::Duration::zero();
  return looked_at->second + kind_.pace.interval - context_.clock.now();
}

void Reflector::reconsider(const std::string& local) {
  if (!local.empty()) {
    if (const auto found = namespaces_.find(local); found != namespaces_.end())
      reconsider(*found->second, kube::Duration::zero());
    return;
  }
  // Namespaces are spread over a second, so that their objects are not all read at the same time.
  for (const auto& [name, ns] : namespaces_) reconsider(*ns, context_.random.between(0s, 1s));
}

void Reflector::reconsider(Namespace& ns, kube::Duration spread) {
  ++ns.wishes;
  if (std::exchange(ns.is_reconsidered, true)) return;
  // A namespace that changes all the time is reconsidered once in each interval only.
  const kube::Duration rest = ns.reconsidered_at + reconsider_interval - context_.clock.now();
  controller_.enqueue_after({ns.local, {ns.local, std::string(all_objects)}},
                            std::max({spread, rest, kube::Duration(kind_.pace.settle)}));
}

void Reflector::enqueue_copy(const Namespace& ns, std::string_view remote_name) {
  if (std::string local = kind_.local_name(remote_name, forging_); !local.empty()) enqueue(ns, std::move(local));
}

void Reflector::enqueue_all(const Namespace& ns) {
  if (home_)
    for (const kube::ObjectKey& key : home_->store().keys_in(ns.local)) enqueue(ns, key.name);
  for (const auto& [name, listed] : ns.listed)
    if (listed.allowed || takes_all(ns)) enqueue(ns, name);
  for (const auto& [name, until] : ns.referred) enqueue(ns, name);
  for (const std::string& name : ns.copies.names()) enqueue_copy(ns, name);
}

bool Reflector::is_current(const Namespace& ns) const {
  const auto found = namespaces_.find(ns.local);
  return found != namespaces_.end() && found->second.get() == &ns;
}

ReflectionSeries Reflector::series_of(const Namespace& ns) const {
  return {.metrics = context_.metrics, .ns = ns.local, .kind = kind_.name, .forging = forging_};
}

asio::awaitable<Outcome> Reflector::reconcile(kube::WorkKey key) {
  if (key == key_of_waiting()) {
    if (!is_known_at_home()) co_return Outcome::again_after(known_pause);
    for (const auto& [name, ns] : namespaces_) {
      enqueue(*ns, {});
      enqueue_all(*ns);
      if (ns->is_reconsidered) enqueue(*ns, std::string(all_objects));
    }
    co_return Outcome::done();
  }
  const auto found = namespaces_.find(key.object.ns);
  if (found == namespaces_.end()) co_return Outcome::done();
  if (!is_known_at_home()) {
    // A namespace is woken by the end of its own list, but not by that of the endpoints that forging looks up.
    if (kind_.needs_endpoints) controller_.enqueue_after(key_of_waiting(), known_pause);
    co_return Outcome::done();
  }
  const Shared ns = found->second;
  if (key.object.name == all_objects) {
    ns->is_reconsidered = false;
    ns->reconsidered_at = context_.clock.now();
    ns->copies.doubt_sources();
    enqueue_all(*ns);
    co_return Outcome::done();
  }
  Outcome outcome = key.object.name.empty() ? co_await look_at(ns) : co_await reflect(ns, key.object.name);
  if (outcome.failure()) ns->counters.add_failed(series_of(*ns));
  read_next();
  // The key is queued for the end of the reference's grace: an earlier wake-up may have come and gone.
  if (const auto left = ns->referred.find(key.object.name);
      left != ns->referred.end() && left->second && *left->second > context_.clock.now() && is_current(*ns))
    controller_.enqueue_after(key, *left->second - context_.clock.now());
  co_return outcome;
}

asio::awaitable<Outcome> Reflector::look_at(Shared ns) {
  if (!ns->was_read) {
    if (const auto pause = waits_for_others(*ns)) co_return Outcome::again_after(*pause);
    ns->read_by.reset();
    // The copies are read first: where the provider does not answer, the lists at home are not made again and again.
    for (auto read : {&Reflector::read_copies, &Reflector::read_home}) {
      auto done = co_await (this->*read)(ns);
      // The rights at home go with the offloading, which may have ended while the provider did not answer.
      if (!is_current(*ns)) co_return Outcome::done();
      if (done) continue;
      // Contents that nobody is going to use would make other namespaces wait for room.
      ns->at_home.clear();
      ns->there.clear();
      co_return Outcome::retry(std::move(done.error()));
    }
    ns->was_read = true;
    // That of an earlier process counts from now: nothing was to be seen of it yet.
    ns->late_at = context_.clock.now() + core::late_after;
    ns->compared_at = context_.clock.now();
    if (!ns->copies.empty() && context_.copied) context_.copied(ns->local);
    enqueue_all(*ns);
  } else if (is_put_off(*ns)) {
    co_return Outcome::again_after(ns->compared_at + max_put_off - context_.clock.now());
  } else {
    ns->compared_at = context_.clock.now();
    if (kind_.referred_only)
      if (auto listed = co_await list_home(ns); !listed) co_return Outcome::retry(std::move(listed.error()));
    const bool is_late = ns->late_at && *ns->late_at <= context_.clock.now();
    if (!ns->copies.empty() || is_late)
      if (auto checked = co_await check_copies(ns); !checked) co_return Outcome::retry(std::move(checked.error()));
    if (!ns->was_read) co_return Outcome::again_after(1s);
    if (is_late) ns->late_at.reset();
  }
  if (!is_current(*ns)) co_return Outcome::done();
  if (!ns->copies.empty() || !ns->referred.empty() || takes_all(*ns)) {
    ns->is_quiet = context_.is_quiet && context_.is_quiet(ns->local);
    kube::Duration pause = ns->is_quiet ? context_.random.between(quiet_after, quiet_before)
                                        : context_.random.between(check_after, check_before);
    if (ns->soon > 0s && ns->soon < pause)
      pause = std::exchange(ns->soon, 2 * ns->soon);
    else
      ns->soon = {};
    co_return Outcome::again_after(pause);
  }
  if (ns->late_at) co_return Outcome::again_after(*ns->late_at - context_.clock.now());
  // apply() wakes the namespace again for each copy that it writes.
  if (!kind_.referred_only) co_return Outcome::done();
  ns->is_quiet = context_.is_quiet && context_.is_quiet(ns->local);
  co_return Outcome::again_after(ns->is_quiet ? context_.random.between(quiet_after, quiet_before)
                                              : context_.random.between(idle_after, idle_before));
}

bool Reflector::is_referred(const Namespace& ns, const std::string& name) const {
  const auto found = ns.referred.find(name);
  return found != ns.referred.end() && (!found->second || *found->second > context_.clock.now());
}

bool Reflector::takes_all(const Namespace& ns) const {
  using reflection::SelectionPolicy;
  return kind_.referred_only &&
         (policy_ == SelectionPolicy::all || (policy_ == SelectionPolicy::deny_list && ns.all_wanted));
}

std::optional<std::uint64_t> Reflector::version_at_home(const Namespace& ns, const std::string& name) const {
  if (is_off()) return std::nullopt;
  if (home_) {
    const kube::ObjectKey key{ns.local, name};
    return home_->store().contains(key) ? std::optional(home_->store().version(key)) : std::nullopt;
  }
  const auto listed = ns.listed.find(name);
  const bool is_taken = listed != ns.listed.end() && (listed->second.allowed || takes_all(ns));
  if (!is_taken && !is_referred(ns, name)) return std::nullopt;
  return listed == ns.listed.end() ? 0 : listed->second.version;
}

void Reflector::keep_for_now(Namespace& ns) {
  for (const std::string& name : ns.copies.names())
    if (std::string local = kind_.local_name(name, forging_); !local.empty())
      ns.found[std::move(local)] = context_.clock.now() + reference_grace;
}

std::optional<kube::Duration> Reflector::stays_for(const Namespace& ns, const std::string& name) const {
  if (references_known_ && !references_known_()) return unknown_pause;
  const auto found = ns.found.find(name);
  if (found == ns.found.end() || found->second <= context_.clock.now()) return std::nullopt;
  return found->second - context_.clock.now();
}

void Reflector::tell_references(Namespace& ns, const std::string& name, const kube::Object* reflected) {
  if (!kind_.secrets_of || !on_references_ || !is_current(ns)) return;
  std::vector<std::string> secrets = reflected ? kind_.secrets_of(*reflected) : std::vector<std::string>();
  if (secrets.empty() && ns.referring.erase(name) == 0) return;
  if (!secrets.empty()) ns.referring.insert(name);
  on_references_(ns.local, name, std::move(secrets));
}

void Reflector::tell_left_out(Namespace& ns, const std::string& name, const kube::Object* reflected) {
  if (!kind_.left_out) return;
  std::string words = reflected ? kind_.left_out(*reflected, forging_) : "";
  const auto known = ns.told.find(name);
  if (words.empty()) {
    if (known != ns.told.end()) known->second.lacks = false;
    return;
  }
  const kube::TimePoint now = context_.clock.now();
  const bool was_told = known != ns.told.end() && (known->second.lacks || now - known->second.at < tell_again_after);
  if (!was_told) context_.events.warning(*reflected, kind_.resource, api::reasons::address_left_out, words);
  ns.told[name] = {.at = was_told ? known->second.at : now, .lacks = true};
}

}  // namespace liqo::reflector
