#include "controllers/reflection/reflector.hpp"

#include <utility>
#include <vector>

#include "controllers/common/key_of_many.hpp"
#include "controllers/reflection/header.hpp"
#include "controllers/reflection/namespace_look.hpp"
#include "controllers/reflection/reflected_object.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// The pause between two looks whether everything that forging needs is known.
constexpr kube::Duration known_pause = 1s;

}  // namespace

Reflector::Reflector(const core::reflection::ReflectedKind& kind, core::reflection::SelectionPolicy policy,
                     core::ForgingContext forging, ReflectorContext context)
    : context_{context, kind, policy, std::move(forging)},
      controller_(context,
                  {.name = core::reflection::option_name(kind) + "-reflection",
                   .also_ready = context.may_begin,
                   .fill = [this] { start_reading(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {}

Reflector::~Reflector() = default;

Reflector::Shared Reflector::find(const std::string& local) const {
  const auto found = namespaces_.find(local);
  return found == namespaces_.end() ? nullptr : found->second;
}

bool Reflector::has_copies(const std::string& local) const {
  const Shared ns = find(local);
  return ns && !ns->twin().has_constant_copies_alone();
}

bool Reflector::is_quiet(const std::string& local) const {
  const Shared ns = find(local);
  return !ns || ns->is_quiet();
}

void Reflector::end_quiet(const std::string& local) {
  if (const Shared ns = find(local)) ns->end_quiet();
}

FoundCopy Reflector::find_copy(const std::string& local, const std::string& remote_name, std::string_view uid) const {
  const Shared ns = find(local);
  return ns ? ns->twin().identify(remote_name, uid) : FoundCopy();
}

void Reflector::start_namespace(const std::string& local, const std::string& remote) {
  const Shared known = find(local);
  if (known && known->twin().ns() == remote) return;
  if (!context_.watched && !context_.kind.referred_only && !context_.is_off()) watch_home();
  auto started = std::make_shared<ReflectedNamespace>(local, remote, context_, controller_);
  if (known) known->stop();
  namespaces_[local] = started;
  started->queue().add();
  if (context_.has_leading)
    for (const auto& [name, ns] : namespaces_) ns->reconsider_leading(local);
}

void Reflector::watch_home() {
  context_.watched = context_.home.acquire(headers_of(context_.kind.resource));
  context_.watched.subscribe(
      [this](const kube::ObjectKey& key) {
        if (const Shared ns = find(key.ns)) ns->queue().add(key.name);
      },
      [this] {
        for (const auto& [local, ns] : namespaces_) ns->wake(false);
      });
}

void Reflector::stop_namespace(const std::string& local) {
  const Shared ns = find(local);
  if (!ns) return;
  namespaces_.erase(local);
  ns->stop();
  ns->take_back_references();
  if (context_.has_leading)
    for (const auto& [name, other] : namespaces_) other->reconsider_leading(local);
}

void Reflector::set_references(const std::string& local, const std::set<std::string>& names, bool all,
                               const std::set<std::string>& by_pods) {
  if (const Shared ns = find(local)) ns->set_references(names, all, by_pods);
}

void Reflector::gather_anew(const std::string& local) {
  if (const Shared ns = find(local)) ns->gather_anew();
}

void Reflector::set_forging(core::ForgingContext forging) {
  core::ForgingContext& known = context_.forging;
  const bool makes_same = forging.ingress_class == known.ingress_class &&
                          forging.load_balancer_class == known.load_balancer_class &&
                          forging.patch.labels_not_reflected == known.patch.labels_not_reflected &&
                          forging.patch.annotations_not_reflected == known.patch.annotations_not_reflected;
  const bool counts_same = forging.node_name == known.node_name;
  known = std::move(forging);
  if (!counts_same)
    for (const auto& [local, ns] : namespaces_) ns->notes().counters = {};
  if (!makes_same) reconsider();
}

void Reflector::set_policy(core::reflection::KindPolicy policy) {
  // One namespace gets at most half of the workers, so that the others never wait for it alone.
  if (policy.workers > 0) controller_.set_workers(policy.workers, (policy.workers + 1) / 2);
  if (context_.policy == policy.selection) return;
  std::vector<Shared> took_all;
  for (const auto& [local, ns] : namespaces_)
    if (ns->home().referred().takes_all()) took_all.push_back(ns);
  context_.policy = policy.selection;
  for (const Shared& ns : took_all)
    if (!ns->home().referred().takes_all()) ns->keep_copies();
  if (context_.kind.referred_only)
    for (const auto& [local, ns] : namespaces_) ns->queue().add();
  reconsider();
}

void Reflector::reconsider(const std::string& local) {
  if (!local.empty()) {
    if (const Shared ns = find(local)) ns->reconsider(kube::Duration::zero());
    return;
  }
  // Namespaces are spread over a second, so that their objects are not all read at the same time.
  for (const auto& [name, ns] : namespaces_) ns->reconsider(context_.random.between(0s, 1s));
}

asio::awaitable<void> Reflector::run() {
  // References are passed on only while this process leads. They are withdrawn at the end, because later ones may
  // differ.
  struct End {
    Reflector& self;
    ~End() {
      for (const auto& [local, ns] : self.namespaces_) ns->take_back_references();
    }
  } end{*this};
  co_await controller_.run();
}

void Reflector::read_next() {
  while (context_.held <= NamespaceContext::max_read_ahead && !context_.unread.empty()) {
    const Shared next = find(context_.unread.front());
    context_.unread.pop_front();
    if (!next || !std::exchange(next->reading().is_waiting, false) || next->reading().was_read) continue;
    return next->queue().add();
  }
}

void Reflector::start_reading() {
  context_.unread.clear();
  if (context_.owners) context_.owners->forget();
  for (const auto& [local, ns] : namespaces_) ns->start_reading();
}

asio::awaitable<Outcome> Reflector::reconcile(kube::WorkKey key) {
  if (key == key_of_many()) {
    if (!context_.is_known_at_home()) co_return Outcome::again_after(known_pause);
    for (const auto& [local, ns] : namespaces_) ns->wake(true);
    co_return Outcome::done();
  }
  const Shared ns = find(key.object.ns);
  if (!ns) co_return Outcome::done();
  if (!context_.is_known_at_home()) {
    // A namespace is woken by the end of its own list, but not by that of the endpoints that forging looks up.
    if (context_.kind.needs_endpoints) controller_.enqueue_after(key_of_many(), known_pause);
    co_return Outcome::done();
  }
  if (key.object.name == NamespaceQueue::all_objects) {
    ns->consider_all();
    co_return Outcome::done();
  }
  Outcome outcome = Outcome::done();
  if (key.object.name.empty()) {
    NamespaceLook look(ns, context_);
    outcome = co_await look.look();
  } else {
    ReflectedObject object(ns, context_, key.object.name);
    outcome = co_await object.bring_in_line();
  }
  if (outcome.failure()) ns->notes().counters.add_failed(context_.series_of(ns->home().ns()));
  read_next();
  // The key is queued for the end of the reference's grace: an earlier wake-up may have come and gone.
  if (const auto left = ns->home().referred().grace_left(key.object.name); left && ns->is_current())
    controller_.enqueue_after(key, *left);
  co_return outcome;
}

}  // namespace liqo::controllers
