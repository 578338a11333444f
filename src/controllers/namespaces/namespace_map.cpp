#include "controllers/namespaces/namespace_map.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <set>

#include "controllers/common/ensure_binding.hpp"
#include "controllers/common/guarded_write.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/tenant_index.hpp"
#include "core/policy/pod_policy.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace labels = api::labels;
namespace annotations = api::annotations;
namespace json = kube::json;
namespace kinds = api::kinds;

using namespace std::chrono_literals;

constexpr std::string_view by_map = "twin-of-map", by_consumer = "twin-of-consumer";
/// Bytes of the log line after which no more failures are added to it. The line is for people: the status has the phase
/// of each twin.
constexpr std::size_t max_failure_text = 1000;
/// Kubernetes counts a new ResourceQuota within a second.
constexpr kube::Duration counting_patience = std::chrono::seconds(30);
constexpr std::string_view accepted = "Accepted", back_off = "CreationLoopBackOff";

/// The number of twins that are looked at in one turn of the loop.
constexpr std::size_t max_twins_in_a_turn = 25;

/// The pause between two looks at a map, each of which may write its status: everything that is made or counted for one
/// of a thousand twins enqueues the map.
kube::Duration rest_between_looks(std::size_t twins) { return 2ms * std::int64_t(twins); }

/// Adds a failure to the log line.
void note_failure(std::string& words, std::string_view failure) {
  if (words.size() >= max_failure_text) return;
  if (!words.empty()) words += "; ";
  words += failure;
}

/// Counts one more twin of that name while this object lives.
class OneMore {
 public:
  OneMore(std::map<std::string, std::size_t>& counts, const std::string& name)
      : counts_(counts), count_(counts.try_emplace(name).first) {
    ++count_->second;
  }
  ~OneMore() {
    if (--count_->second == 0) counts_.erase(count_);
  }
  OneMore(const OneMore&) = delete;
  OneMore& operator=(const OneMore&) = delete;

 private:
  std::map<std::string, std::size_t>& counts_;
  std::map<std::string, std::size_t>::iterator count_;
};

}  // namespace

NamespaceMapController::NamespaceMapController(HomeNames& names, Context context)
    : context_(context),
      names_(names),
      maps_(context.home.acquire({.resource = kinds::namespace_maps})),
      namespaces_(context.home.acquire({.resource = kube::resources::namespaces})),
      bindings_(context.home.acquire({.resource = kinds::role_bindings, .selection = core::kept_by_liqo()})),
      bounds_(context_.home.acquire({.resource = kinds::resource_quotas, .selection = core::kept_by_liqo()})),
      grants_(context_.home.acquire({.resource = kinds::quotas})),
      held_({.namespaces = namespaces_, .bounds = bounds_, .grants = grants_},
            {.twin_changed = [this](const std::string& twin) { enqueue_twin(twin); },
             .bounds_changed = [this](const std::string& ns) { controller_.enqueue_all(maps_->store(), ns); }}),
      controller_(context, {.name = "namespacemap"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  namespaces_->add_index(std::string(by_map), [](const kube::Object& object, std::vector<std::string>& out) {
    if (const auto id = object.annotation(annotations::managed_by_namespace_map); !id.empty()) out.emplace_back(id);
  });
  namespaces_->add_index(std::string(by_consumer), [](const kube::Object& object, std::vector<std::string>& out) {
    if (object.has_annotation(annotations::managed_by_namespace_map) && !core::is_tenant_namespace(object))
      out.emplace_back(core::consumer_of_twin(object));
  });
  namespaces_->add_index(std::string(core::tenants_by_cluster), core::index_tenant_namespace);
  controller_.watch(maps_);
  controller_.watch(namespaces_, [this](const kube::Change& change) {
    const kube::ObjectKey& key = change.key;
    const kube::Object* object = change.now;
    if (const auto before = marked_.find(key.name); before != marked_.end()) enqueue_marked(before->second);
    see_own(change);
    const bool is_peer = object && core::is_tenant_namespace(*object);
    // The owner of a name depends on the known consumers.
    const std::string peer(is_peer ? object->label(labels::remote_cluster_id) : "");
    if (is_peer ? std::exchange(peers_[key.name], peer) != peer : peers_.erase(key.name) > 0)
      controller_.enqueue_all(maps_->store());
    if (!object) {
      marked_.erase(key.name);
      return;
    }
    if (const auto id = object->annotation(annotations::managed_by_namespace_map); !id.empty()) {
      marked_[key.name] = id;
      enqueue_marked(id);
    } else {
      marked_.erase(key.name);
    }
    // The origin and the Pod Security level of a consumer's twins are those of its tenant namespace.
    if (!is_peer) return;
    controller_.enqueue_all(maps_->store(), key.name);
  });
  controller_.watch(bounds_, [this](const kube::ObjectKey& key) { held_.see_bounds(key); });
  controller_.watch(grants_, [this](const kube::ObjectKey& key) { held_.see_grant(key); });
  controller_.watch(bindings_, [this](const kube::ObjectKey& key) { enqueue_twin(key.ns); });
  names.subscribe([this] { controller_.enqueue_all(maps_->store()); });
}

void NamespaceMapController::see_own(const kube::Change& ns) {
  // While the list is being read every namespace comes, and its end enqueues all maps.
  if (!namespaces_->has_synced() || (ns.now && ns.previous())) return;
  const kube::Object* one = ns.now ? ns.now : ns.previous();
  if (!one || one->has_annotation(annotations::managed_by_namespace_map)) return;
  for (const kube::Object& map : maps_->objects())
    if (!api::NamespaceMap(map).desired_twin(ns.key.name).empty()) enqueue(map.key());
}

void NamespaceMapController::enqueue(const kube::ObjectKey& map) { controller_.enqueue({map.ns, map}); }

void NamespaceMapController::enqueue_twin(const std::string& twin) {
  if (const auto marked = marked_.find(twin); marked != marked_.end()) enqueue_marked(marked->second);
}

void NamespaceMapController::enqueue_marked(std::string_view map_id) {
  if (const auto key = kube::ObjectKey::parse(map_id); key && maps_->store().contains(*key)) enqueue(*key);
}

std::vector<kube::Object> NamespaceMapController::twins_of(const kube::ObjectKey& map) const {
  std::vector<kube::Object> twins;
  for (kube::Object& twin : namespaces_->objects(by_map, map.text())) twins.push_back(std::move(twin));
  std::ranges::sort(twins, {}, [](const kube::Object& twin) { return std::string(twin.name()); });
  return twins;
}

std::size_t NamespaceMapController::count_twins(const std::string& consumer) const {
  const auto making = creating_.find(consumer);
  return namespaces_->store().count(by_consumer, consumer) + (making == creating_.end() ? 0 : making->second);
}

core::TwinNameRules NamespaceMapController::name_rules(const kube::Object& tenant_namespace,
                                                       std::string_view consumer) const {
  core::TwinNameRules rules{.consumer = std::string(consumer), .consumers = {}, .allowed = {}, .mistake = {}};
  for (const auto& [ns, peer] : peers_) rules.consumers.push_back(peer);
  auto policy = core::read_pod_policy(tenant_namespace.annotation(annotations::pod_policy));
  if (!policy) {
    rules.mistake = "the annotation " + std::string(annotations::pod_policy) + " of namespace " +
                    std::string(tenant_namespace.name()) + " cannot be understood: " + policy.error().text();
  } else {
    rules.allowed = policy->twin_names ? policy->twin_names : context_.settings.namespaces.twin_names;
  }
  return rules;
}

asio::awaitable<Outcome> NamespaceMapController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  auto object = maps_->find(key);
  if (!object) looked_at_.erase(key);
  if (!object || !api::NamespaceMap(*object).is_incoming()) co_return Outcome::done();
  const std::size_t twins_known = namespaces_->store().count(by_map, key.text());
  if (const auto last = looked_at_.find(key); last != looked_at_.end())
    if (const auto rest = last->second + rest_between_looks(twins_known) - context_.clock.now(); rest > 0s)
      co_return Outcome::again_after(rest);
  looked_at_[key] = context_.clock.now();
  const bool is_guarded = object->has_finalizer(api::finalizers::namespace_map);
  if (object->is_deleting() && !is_guarded) co_return Outcome::done();

  const auto tenant = namespaces_->find({"", key.ns});
  const auto origin = core::check_origin(api::NamespaceMap(*object), tenant ? &*tenant : nullptr);
  if (!origin && !object->is_deleting()) {
    context_.events.warning(*object, kinds::namespace_maps, api::reasons::twin_refused,
                            "NamespaceMap " + key.text() + " is not followed: " + origin.error().text());
    co_return Outcome::done();
  }
  const core::TwinContext ctx = twin_context(key, origin ? *origin : std::string(), tenant ? &*tenant : nullptr);
  KUBE_CO_TRYV(co_await add_finalizer(context_.home.api(), *maps_, *object, api::finalizers::namespace_map));

  Round round;
  if (!object->is_deleting()) co_await ensure_twins(*object, ctx, round);
  co_await remove_twins(ctx, round);

  const auto latest = maps_->find(key);
  if (!latest || latest->uid() != object->uid()) co_return Outcome::done();
  if (const auto patch = core::plan_map_status(*latest, round.entries)) {
    KUBE_CO_TRYV(co_await kube::merge_patch(context_.home.api(), *maps_, key,
                                            {.body = json::serialize(*patch),
                                             .phase = "reporting the twin namespaces",
                                             .options = {.subresource = "status"}}));
  }
  if (!round.failures.empty()) co_return Outcome::retry(kube::Failure(kube::Errc::api, std::move(round.failures)));
  if (object->is_deleting() && round.entries.empty()) {
    KUBE_CO_TRYV(co_await remove_finalizer(context_.home.api(), *maps_, latest_of(*maps_, *object),
                                           api::finalizers::namespace_map));
  }
  co_return round.waits ? Outcome::again_after(counting_patience) : Outcome::done();
}

core::TwinContext NamespaceMapController::twin_context(const kube::ObjectKey& map, std::string origin,
                                                       const kube::Object* tenant_namespace) {
  core::TwinContext ctx{.map = map,
                        .origin = std::move(origin),
                        .pod_security = "baseline",
                        .liqo_namespace = context_.settings.liqo_namespace,
                        .storage_namespace = context_.settings.storage.storage_namespace,
                        .names = {},
                        .checks_owners = context_.settings.namespaces.checks_owners,
                        .holds_budgets = false};
  if (!tenant_namespace) return ctx;
  if (const auto policy = core::read_pod_policy(tenant_namespace->annotation(annotations::pod_policy)))
    ctx.holds_budgets = policy->max_block.has_value();
  ctx.names = name_rules(*tenant_namespace, ctx.origin);
  if (auto level = core::twin_pod_security(*tenant_namespace))
    ctx.pod_security = std::move(*level);
  else
    context_.events.warning(*tenant_namespace, kube::resources::namespaces, api::reasons::invalid,
                            level.error().text());
  return ctx;
}

asio::awaitable<void> NamespaceMapController::ensure_twins(kube::Object map, core::TwinContext ctx, Round& round) {
  const std::vector<kube::Object> twins = twins_of(map.key());
  const std::size_t all = count_twins(ctx.origin);
  core::TwinSelection selection = core::select_twins(api::NamespaceMap(map), twins, all - std::min(all, twins.size()));
  if (selection.left_out > 0)
    context_.events.warning(map, kinds::namespace_maps, api::reasons::twin_refused,
                            "the map asks for more namespaces than a cluster gets: " +
                                std::to_string(selection.left_out) + " of them are not in its status");
  round.entries = std::move(selection.refused);
  round.wanted = std::move(selection.taken);
  std::size_t looked_at = 0;
  for (const api::WantedNamespace& entry : round.wanted) {
    if (++looked_at % max_twins_in_a_turn == 0) co_await asio::post(asio::use_awaitable);
    std::string before(kube::string_at(map.status(), {"currentMapping", entry.local, "phase"}));
    const bool was_there = before == accepted;
    EnsuredTwin made = co_await ensure_twin(entry, ctx, std::move(before));
    // What a process before this one has found out of names is said until this one knows it.
    if (was_there && made.entry && made.entry->is_accepted() && !names_.is_known())
      made.entry->message = kube::string_at(map.status(), {"currentMapping", entry.local, "message"});
    if (!made.failure.empty()) note_failure(round.failures, "twin " + entry.remote.substr(0, 63) + ": " + made.failure);
    round.waits = round.waits || made.waits;
    if (made.entry) round.entries.insert_or_assign(entry.local, std::move(*made.entry));
  }
}

asio::awaitable<kube::Result<core::TwinPlan>> NamespaceMapController::create_namespace(api::WantedNamespace wanted,
                                                                                       core::TwinContext ctx) {
  const kube::ObjectKey key{"", wanted.remote};
  kube::Api& home = context_.home.api();
  const auto existing = namespaces_->find(key);
  core::TwinPlan plan = core::plan_twin(wanted, existing ? &*existing : nullptr, ctx);
  const auto* create = std::get_if<core::twin_action::Create>(&plan);
  if (!create) co_return plan;
  // Several maps of one consumer are worked on concurrently.
  if (count_twins(ctx.origin) >= core::max_twins) co_return core::twin_action::Refuse{core::too_many_twins()};
  const OneMore counted(creating_, ctx.origin);
  auto created = co_await home.create(kube::resources::namespaces, create->twin);
  if (!created && created.error().is_already_exists()) {
    // The object at the server shows its owner: that the name is taken does not make it ours.
    created = co_await home.get(kube::resources::namespaces, key);
    if (created) plan = core::plan_twin(wanted, &*created, ctx);
  }
  if (!created) co_return kube::fail(std::move(created.error()), "creating the namespace");
  namespaces_->observe(std::move(*created));
  co_return plan;
}

asio::awaitable<kube::Result<bool>> NamespaceMapController::furnish_twin(std::string twin, core::TwinContext ctx,
                                                                         std::optional<json::object> patch) {
  if (patch) {
    KUBE_CO_TRY(patched,
                co_await context_.home.api().patch(kube::resources::namespaces, {"", twin},
                                                   {kube::PatchType::merge, json::serialize(*patch)}),
                "labelling the namespace");
    namespaces_->observe(std::move(patched));
  }
  const auto plan = [twin, ctx](const kube::Object* existing) { return core::plan_twin_binding(twin, existing, ctx); };
  KUBE_CO_TRYV(co_await ensure_binding(context_.home.api(), *bindings_, core::forge_twin_binding(twin, ctx), plan));
  co_return co_await ensure_quota(twin, ctx);
}

asio::awaitable<NamespaceMapController::EnsuredTwin> NamespaceMapController::ensure_twin(api::WantedNamespace wanted,
                                                                                         core::TwinContext ctx,
                                                                                         std::string phase_before) {
  const auto ended = [&wanted](std::string_view phase, std::string failure = "") {
    return EnsuredTwin{
        .entry =
            api::MappedNamespace{
                .local = wanted.local, .remote = wanted.remote, .phase = std::string(phase), .message = failure},
        .failure = std::move(failure)};
  };
  auto plan = co_await create_namespace(wanted, ctx);
  if (!plan) co_return ended(back_off, plan.error().text());
  if (auto* refuse = std::get_if<core::twin_action::Refuse>(&*plan))
    co_return ended(back_off, std::move(refuse->message));
  // The removal of the twin enqueues the map.
  if (std::holds_alternative<core::twin_action::AwaitEnd>(*plan)) co_return ended("Terminating");
  std::optional<json::object> patch;
  if (auto* due = std::get_if<core::twin_action::Patch>(&*plan)) patch = std::move(due->patch);
  const auto counted = co_await furnish_twin(wanted.remote, ctx, std::move(patch));
  if (!counted) {
    const bool may_pass = !counted.error().is_permanent() && counted.error().code() != kube::Errc::invalid_input;
    EnsuredTwin failed = ended(back_off, counted.error().text());
    // A usable twin stays usable over a conflict or a short outage.
    if (may_pass && phase_before == accepted) {
      failed.entry->phase = accepted;
      failed.entry->message = names_.words_about(ctx.origin, wanted.local, wanted.remote);
    }
    co_return failed;
  }
  // A change of its status enqueues the map. A twin in use goes on.
  if (*counted || phase_before == accepted) {
    EnsuredTwin there = ended(accepted);
    there.entry->message = names_.words_about(ctx.origin, wanted.local, wanted.remote);
    co_return there;
  }
  EnsuredTwin uncounted{.waits = true};
  // If an entry that it has seen disappeared, the consumer would end the pods that run there.
  if (phase_before == back_off) {
    uncounted.entry = ended(back_off).entry;
    uncounted.entry->message = "what the namespace holds is about to be counted";
  }
  co_return uncounted;
}

asio::awaitable<kube::Result<bool>> NamespaceMapController::ensure_quota(std::string twin, core::TwinContext ctx) {
  const kube::ObjectKey key{twin, std::string(core::twin_quota_name)};
  kube::Api& home = context_.home.api();
  const auto existing = bounds_->find(key);
  const core::Resources hard = held_.hard(ctx, existing ? &*existing : nullptr);
  if (!existing) {
    auto created = co_await home.create(kinds::resource_quotas, core::forge_twin_quota(twin, ctx, hard));
    // A ResourceQuota without our labels, which the cache does not have, gets them.
    if (!created && created.error().is_already_exists()) created = co_await home.get(kinds::resource_quotas, key);
    if (!created) co_return kube::fail(std::move(created.error()), "creating the ResourceQuota");
    if (auto patch = core::plan_twin_quota(*created, ctx, hard)) {
      created = co_await home.patch(kinds::resource_quotas, key, {kube::PatchType::merge, json::serialize(*patch)});
      if (!created) co_return kube::fail(std::move(created.error()), "updating the ResourceQuota");
    }
    const bool counted = core::is_counted(*created);
    bounds_->observe(std::move(*created));
    co_return counted;
  }
  const bool counted = core::is_counted(*existing);
  const auto made = kube::parse_time(existing->creation_timestamp());
  if (const auto patch = core::plan_twin_quota(*existing, ctx, hard)) {
    KUBE_CO_TRY(patched,
                co_await home.patch(kinds::resource_quotas, key, {kube::PatchType::merge, json::serialize(*patch)}),
                "updating the ResourceQuota");
    bounds_->observe(std::move(patched));
  }
  // After the patch: the policy may have corrected a name that is not counted.
  if (!counted && made && context_.clock.wall() - *made >= counting_patience)
    co_return kube::fail(kube::Errc::missing, "nobody counts what it holds (ResourceQuota " +
                                                  std::string(core::twin_quota_name) +
                                                  "), which the provider's kube-controller-manager does");
  co_return counted;
}

asio::awaitable<void> NamespaceMapController::remove_twins(core::TwinContext ctx, Round& round) {
  std::set<std::string_view> stay;
  for (const api::WantedNamespace& entry : round.wanted) stay.insert(entry.remote);
  std::vector<kube::ObjectKey> due;
  for (kube::ObjectKey& key : namespaces_->store().keys(by_map, ctx.map.text()))
    if (!stay.contains(key.name)) due.push_back(std::move(key));
  std::ranges::sort(due);
  for (const kube::ObjectKey& key : due) {
    const auto found = namespaces_->find(key);
    if (!found) continue;
    const kube::Object& twin = *found;
    const std::string name(twin.name());
    // A tenant namespace, or that of Liqo, has the map's mark only if it was set by hand, and then must not be deleted.
    if (core::is_tenant_namespace(twin) || name == ctx.liqo_namespace) continue;
    std::string local(twin.annotation(annotations::original_name));
    if (local.empty()) local = name;
    round.entries.try_emplace(
        local, api::MappedNamespace{.local = local, .remote = name, .phase = "Terminating", .message = ""});
    if (twin.is_deleting()) continue;
    auto removed =
        co_await kube::remove_object(context_.home.api(), kube::resources::namespaces, twin.key(),
                                     {.options = {.uid = std::string(twin.uid())}, .phase = "removing twin " + name});
    if (!removed) note_failure(round.failures, removed.error().text());
  }
}

}  // namespace liqo::controllers
