#include "liqo/reflector/reflector.hpp"

#include "liqo/api/labels.hpp"

namespace liqo::reflector {
namespace {

using namespace std::chrono_literals;
namespace action = reflection::reflection_action;

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return out;
}

kube::InformerScope scope(const kube::Resource& resource, std::string ns) {
  return {.resource = resource, .ns = std::move(ns)};
}

}  // namespace

Reflector::Reflector(const asio::any_io_executor& executor, const reflection::ReflectedKind& kind,
                     reflection::SelectionPolicy policy, core::ForgingContext forging, ReflectorContext context)
    : kind_(kind),
      policy_(policy),
      forging_(std::move(forging)),
      context_(context),
      controller_(executor, context.clock, context.random, context.metrics,
                  {.name = lower_case(kind.name) + "-reflection"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {}

void Reflector::start_namespace(const std::string& local, const std::string& remote) {
  if (const auto known = namespaces_.find(local); known != namespaces_.end()) {
    if (known->second.remote == remote) return;
    namespaces_.erase(known);
  }
  Namespace& started = namespaces_[local];
  started.remote = remote;
  started.counters = {context_.metrics, local, kind_.name, forging_};
  started.home = context_.home.acquire(scope(kind_.resource, local));
  started.provider = context_.provider.acquire(scope(kind_.resource, remote));
  const auto synced = [this, local] { enqueue_all(local); };
  started.home.subscribe([this, local](const kube::ObjectKey& key) { enqueue(local, key.name); }, synced);
  started.provider.subscribe(
      [this, local](const kube::ObjectKey& key) { enqueue(local, kind_.local_name(key.name, forging_)); }, synced);
  enqueue_all(local);
}

void Reflector::stop_namespace(const std::string& local) { namespaces_.erase(local); }

void Reflector::set_filters(core::ReflectionFilters filters) {
  core::ReflectionFilters now{.labels = forging_.patch.labels_not_reflected,
                              .annotations = forging_.patch.annotations_not_reflected};
  if (now == filters) return;
  forging_.patch.labels_not_reflected = std::move(filters.labels);
  forging_.patch.annotations_not_reflected = std::move(filters.annotations);
  for (const auto& [local, ns] : namespaces_) enqueue_all(local);
}

void Reflector::enqueue(const std::string& local_namespace, std::string name) {
  if (name.empty()) return;  // an object at the provider that cannot be a copy
  controller_.enqueue({local_namespace, {local_namespace, std::move(name)}});
}

void Reflector::enqueue_all(const std::string& local_namespace) {
  const Namespace& ns = namespaces_.at(local_namespace);
  for (const auto& key : ns.home->store().keys()) enqueue(local_namespace, key.name);
  for (const auto& key : ns.provider->store().keys()) enqueue(local_namespace, kind_.local_name(key.name, forging_));
}

asio::awaitable<kube::Outcome> Reflector::reconcile(kube::WorkKey key) {
  const std::string local_namespace = key.object.ns;
  kube::Outcome outcome = co_await reflect(std::move(key));
  if (const auto ns = namespaces_.find(local_namespace); ns != namespaces_.end() && outcome.failure())
    ns->second.counters.failed.add();
  co_return outcome;
}

asio::awaitable<kube::Outcome> Reflector::reflect(kube::WorkKey key) {
  const auto found = namespaces_.find(key.object.ns);
  if (found == namespaces_.end()) co_return kube::Outcome::done();
  const Namespace& ns = found->second;
  if (!ns.home->has_synced() || !ns.provider->has_synced()) co_return kube::Outcome::done();

  const auto local = ns.home->find(key.object);
  const kube::ObjectKey remote_key{ns.remote, kind_.remote_name(key.object.name, forging_)};
  const auto remote = ns.provider->find(remote_key);
  auto plan = reflection::plan_reflection(kind_, policy_, local ? &*local : nullptr, remote ? &*remote : nullptr,
                                          ns.remote, forging_);
  kube::Api& provider = context_.provider.api();

  if (const auto* refuse = std::get_if<action::Refuse>(&plan)) {
    if (local) context_.events.warning(*local, kind_.resource, api::reasons::failed_reflection, refuse->message);
    co_return kube::Outcome::done();
  }
  if (const auto* remove = std::get_if<action::Remove>(&plan)) {
    auto removed = co_await provider.remove(kind_.resource, remote_key, {.uid = remove->uid});
    if (!removed && !removed.error().is_not_found())
      co_return kube::Outcome::retry(std::move(removed.error()).in("removing a reflected object"));
    if (local && !remove->message.empty())
      context_.events.normal(*local, kind_.resource, api::reasons::reflection_disabled, remove->message);
    co_return kube::Outcome::done();
  }
  if (const auto* apply = std::get_if<action::Apply>(&plan)) {
    const kube::WriteOptions options{.field_manager = api::reflection_manager};
    auto applied = co_await provider.patch(kind_.resource, remote_key, kube::PatchType::apply, apply->desired.text(),
                                           options, apply->force);
    // Without force: somebody else has taken the name. The cache will show whom.
    if (!applied && applied.error().is_conflict()) co_return kube::Outcome::again_after(1s);
    if (!applied) {
      kube::Failure failure = std::move(applied.error()).in("reflecting to " + remote_key.ns);
      if (local && failure.is_permanent())
        context_.events.warning(*local, kind_.resource, api::reasons::failed_reflection, failure.text());
      co_return kube::Outcome::retry(std::move(failure));
    }
    // The namespace may have been withdrawn while the answer was under way.
    if (const auto now = namespaces_.find(key.object.ns);
        now != namespaces_.end() && now->second.remote == remote_key.ns) {
      now->second.counters.reflected.add();
      now->second.provider->observe(std::move(*applied));
    }
  }
  co_return kube::Outcome::done();
}

}  // namespace liqo::reflector
