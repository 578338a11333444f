#include "webhook/refusal_recorder.hpp"

#include <algorithm>
#include <array>

#include "core/admission/tenant_rules.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/tenant_index.hpp"
#include "core/slices/grant.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::webhook {
namespace {

using core::admission::Answer;
using core::admission::RefusalRing;
using core::admission::RefusedObject;
using core::admission::Request;

/// How often the ConfigMap is read again when another replica was faster.
constexpr int max_tries = 4;
/// The most callers that are not proven at a time, since proving one takes up to a second, and the bound of what is
/// held of each. A caller replaces another one only if that was no API server when it was last judged.
constexpr std::size_t max_callers = 4, max_of_caller = 16;

/// The kinds that are reviewed, by their plurals.
constexpr std::array reviewed = {api::kinds::shadow_pods,    api::kinds::shadow_endpoint_slices,
                                 api::kinds::namespace_maps, api::kinds::resource_slices,
                                 api::kinds::renews,         api::kinds::tenants,
                                 api::kinds::ingresses,      api::kinds::claims,
                                 kube::resources::services,  kube::resources::config_maps,
                                 kube::resources::secrets};

std::string_view kind_of(const Request& request) {
  const auto* known = std::ranges::find(reviewed, std::string_view(request.plural), &kube::Resource::plural);
  return known == reviewed.end() ? std::string_view(request.plural) : known->kind;
}

std::string name_of(const Request& request) {
  if (!request.name.empty()) return request.name;
  if (!request.object.name().empty()) return std::string(request.object.name());
  return std::string(kube::string_at(request.object.metadata(), {"generateName"})) + "…";
}

RefusedObject refused_at(std::string_view kind, const kube::ObjectKey& key, kube::WallTime now) {
  return {
      .kind = std::string(kind), .ns = key.ns, .name = key.name, .reason = {}, .count = 1, .first = now, .last = now};
}

/// While it lives, a write is under way.
class Writing {
 public:
  explicit Writing(kube::async::Event& idle) : idle_(idle) { idle_.reset(); }
  ~Writing() { idle_.set(); }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  kube::async::Event& idle_;
};

/// The reason in the condition for which a slice's request is refused; "" = none. A cordoned or drained tenant is not a
/// refusal of the request.
std::string_view denial_of(const kube::Object& slice) {
  const api::ResourceSlice view(slice);
  const kube::json::object* said = kube::find_condition(slice.status(), api::slice_conditions::resources);
  if (!said || !view.is_replica() || !view.is_denied(api::slice_conditions::resources)) return {};
  const std::string_view reason = kube::string_at(*said, {"reason"}), message = kube::string_at(*said, {"message"});
  if (reason == core::slice_reasons::tenant_cordoned || reason == core::slice_reasons::tenant_drained) return {};
  return message.empty() ? reason : message;
}

}  // namespace

RefusalRecorder::RefusalRecorder(const RefusalContext& context)
    : context_(context),
      log_("refusals"),
      noted_(context_.executor),
      idle_(context_.executor),
      namespaces_(context_.home.acquire({.resource = kube::resources::namespaces})),
      shadow_pods_(context_.home.acquire({.resource = api::kinds::shadow_pods})),
      slices_(context_.home.acquire({.resource = api::kinds::resource_slices})) {
  namespaces_->add_index(std::string(core::tenants_by_cluster), core::index_tenant_namespace);
  shadow_pods_.subscribe([this](const kube::Change& change) { see_shadow_pod(change); });
  slices_.subscribe([this](const kube::Change& change) { see_slice(change); });
  idle_.set();
}

RefusalRecorder::Tenant RefusalRecorder::tenant_of(std::string_view ns) const {
  const auto found = namespaces_->find({{}, std::string(ns)});
  if (!found) return {};
  if (core::is_tenant_namespace(*found))
    return {.ns = std::string(ns), .consumer = std::string(found->label(api::labels::remote_cluster_id))};
  const std::string consumer(core::consumer_of_twin(*found));
  if (consumer.empty()) return {};
  for (const kube::Object& tenant : namespaces_->objects(core::tenants_by_cluster, consumer))
    return {.ns = std::string(tenant.name()), .consumer = consumer};
  return {};
}

void RefusalRecorder::note(const Request& request, const Answer& answer) {
  if (answer.allowed || request.dry_run || answer.code >= 500) return;
  const Tenant tenant = tenant_of(request.ns);
  if (tenant.ns.empty() || !core::admission::is_of_consumer(request.user, tenant.consumer)) return;
  RefusedObject refused = refused_at(kind_of(request), {request.ns, name_of(request)}, context_.clock.wall());
  refused.reason = answer.message;
  RefusalRing::cut_texts(refused);
  if (is_api_server(request))
    add(tenant.ns, std::move(refused));
  else
    doubt({.caller = request.caller, .tenant = tenant.ns, .refused = std::move(refused)});
}

bool RefusalRecorder::is_api_server(const Request& request) const {
  return !context_.callers || context_.callers->is_proven(request) || context_.callers->is_listed(request);
}

void RefusalRecorder::see_shadow_pod(const kube::Change& change) {
  // Refusals that exist when this process begins to lead were noted by the previous leader.
  if (!change.now || !context_.leadership.is_leader() || !shadow_pods_->has_synced()) return;
  const std::string_view words = change.now->annotation(api::annotations::refused);
  if (words.empty()) return;
  const kube::Object* before = change.previous();
  if (!before || before->annotation(api::annotations::refused) == words) return;
  RefusedObject refused = refused_at(api::kinds::shadow_pods.kind, change.key, context_.clock.wall());
  refused.reason = words;
  if (const Tenant tenant = tenant_of(change.key.ns); !tenant.ns.empty()) add(tenant.ns, std::move(refused));
}

void RefusalRecorder::see_slice(const kube::Change& change) {
  if (!change.now || !context_.leadership.is_leader() || !slices_->has_synced()) return;
  const std::string_view words = denial_of(*change.now);
  if (words.empty()) return;
  const kube::Object* before = change.previous();
  if (before && denial_of(*before) == words) return;
  RefusedObject refused = refused_at(api::kinds::resource_slices.kind, change.key, context_.clock.wall());
  refused.reason = words;
  if (const Tenant tenant = tenant_of(change.key.ns); !tenant.ns.empty()) add(tenant.ns, std::move(refused));
}

void RefusalRecorder::add(const std::string& tenant, RefusedObject refused) {
  pending_[tenant].add(std::move(refused));
  noted_.set();
}

void RefusalRecorder::doubt(Doubtful doubtful) {
  std::map<std::string_view, std::size_t> held;
  for (const Doubtful& one : doubtful_) ++held[one.caller];
  const auto own = held.find(doubtful.caller);
  if (own != held.end() && own->second >= max_of_caller) return;
  if (own == held.end() && held.size() >= max_callers) {
    const auto unproven = std::ranges::find_if(held, [&](const auto& each) { return unproven_.contains(each.first); });
    if (unproven == held.end() || unproven_.contains(doubtful.caller)) return;
    std::erase_if(doubtful_,
                  [caller = std::string(unproven->first)](const Doubtful& one) { return one.caller == caller; });
  }
  doubtful_.push_back(std::move(doubtful));
  noted_.set();
}

asio::awaitable<void> RefusalRecorder::judge() {
  const std::vector<Doubtful> doubtful = std::exchange(doubtful_, {});
  if (doubtful.empty()) co_return;
  std::map<std::string, bool> proven;
  for (const Doubtful& one : doubtful) {
    const auto [known, is_new] = proven.try_emplace(one.caller, false);
    if (is_new) {
      Request asked;
      asked.caller = one.caller;
      // A caller that the probe does not prove may be in the list that came with it.
      known->second = co_await context_.callers->prove(asked) == Callers::Finding::proven || is_api_server(asked);
    }
    if (known->second) add(one.tenant, one.refused);
  }
  unproven_.clear();
  for (const auto& [caller, is_proven] : proven)
    if (!is_proven) unproven_.insert(caller);
}

asio::awaitable<void> RefusalRecorder::run() {
  while (true) {
    co_await noted_.wait();
    co_await context_.clock.sleep(gather);
    noted_.reset();
    // Certain refusals do not wait for doubtful ones, which are written in the next round.
    co_await flush();
    co_await judge();
    co_await context_.clock.sleep(pause - gather);
  }
}

asio::awaitable<void> RefusalRecorder::flush() {
  // The writer puts back what it could not write, and the process may end after this.
  while (!idle_.is_set()) co_await idle_.wait();
  const Writing writing(idle_);
  // Refusals that are noted meanwhile are written next time.
  std::map<std::string, RefusalRing> noted = std::exchange(pending_, {});
  for (const auto& [tenant, refused] : noted) {
    // The refusals of a tenant that is being removed are not read any more, and nothing new can be created in its
    // namespace.
    const auto ns = namespaces_->find({{}, tenant});
    if (!ns || ns->is_deleting()) continue;
    const auto stored = co_await store(tenant, refused);
    if (stored) continue;
    if (const auto held_back = failures_.note(tenant + " " + stored.error().text(), context_.clock.now()))
      log_.warn("what was refused a consumer cannot be kept, which is tried again",
                {{"namespace", tenant}, {"error", stored.error()}, {"others_since", *held_back}});
    pending_[tenant].add(refused, context_.clock.wall());
    noted_.set();
  }
}

asio::awaitable<kube::Result<void>> RefusalRecorder::store(std::string tenant, RefusalRing refused) {
  constexpr kube::Resource maps = kube::resources::config_maps;
  const kube::ObjectKey key{tenant, std::string(core::admission::refusals_config_map)};
  for (int tried = 1;; ++tried) {
    auto map = co_await context_.replica_api.get(maps, key);
    const bool is_new = !map && map.error().is_not_found();
    if (!map && !is_new) co_return std::unexpected(std::move(map.error()));
    kube::Object wanted = is_new ? kube::Object::make(maps, key) : std::move(*map);
    RefusalRing ring = RefusalRing::read(wanted);
    ring.add(refused, context_.clock.wall());
    ring.write(wanted);
    auto stored = is_new ? co_await context_.replica_api.create(maps, wanted)
                         : co_await context_.replica_api.replace(maps, wanted);
    if (stored) co_return kube::Result<void>();
    // If another replica was faster, its refusals stay.
    const bool was_outrun = stored.error().is_already_exists() || stored.error().is_conflict();
    if (!was_outrun || tried == max_tries) co_return std::unexpected(std::move(stored.error()));
  }
}

}  // namespace liqo::webhook
