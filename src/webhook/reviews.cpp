#include "liqo/webhook/reviews.hpp"

#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/vk_options_template.hpp"
#include "liqo/core/admission/claims.hpp"
#include "liqo/core/admission/ephemeral_containers.hpp"
#include "liqo/core/admission/exposure.hpp"
#include "liqo/core/admission/patch.hpp"
#include "liqo/core/admission/shadow_pod.hpp"
#include "liqo/core/admission/tenant_rules.hpp"
#include "liqo/core/admission/twin_size.hpp"
#include "liqo/core/admission/validations.hpp"
#include "liqo/core/namespaces/belonging.hpp"
#include "liqo/core/namespaces/tenant_index.hpp"
#include "liqo/core/namespaces/twin_names.hpp"
#include "liqo/core/offloading/pod_scheduling.hpp"
#include "liqo/core/peering/decisions.hpp"
#include "liqo/core/quota/quota_user.hpp"

namespace liqo::webhook {
namespace {

namespace labels = api::labels;
namespace kinds = api::kinds;
using core::admission::Answer;
using core::admission::Operation;
using core::admission::Request;

Answer cannot_read(const kube::Failure& failure) {
  return Answer::unavailable("Liqo cannot decide now: " + failure.text());
}

}  // namespace

Reviews::Reviews(ReviewContext context)
    : context_(context),
      namespaces_(context_.home.acquire({.resource = kube::resources::namespaces})),
      offloadings_(context_.home.acquire({.resource = kinds::namespace_offloadings})),
      holdings_(context_.home) {
  namespaces_->add_index(std::string(core::tenants_by_cluster), core::index_tenant_namespace);
}

void Reviews::add_to(AdmissionServer& server) {
  using Member = asio::awaitable<Answer> (Reviews::*)(const Request&);
  for (const auto& [path, member] : {std::pair<std::string_view, Member>{"/mutate/pod", &Reviews::mutate_pod},
                                     {"/mutate/daemonsets", &Reviews::mutate_daemon_set},
                                     {"/validate/shadowpods", &Reviews::validate_shadow_pod},
                                     {"/mutate/virtualnodes", &Reviews::mutate_virtual_node},
                                     {"/validate/resourceslices", &Reviews::validate_resource_slice},
                                     {"/mutate/tenants", &Reviews::mutate_tenant},
                                     {"/validate/tenants", &Reviews::validate_tenant},
                                     {"/validate/namespacemaps", &Reviews::validate_namespace_map},
                                     {"/validate/renews", &Reviews::validate_renew},
                                     {"/validate/secrets", &Reviews::validate_secret},
                                     {"/validate/services", &Reviews::validate_service},
                                     {"/validate/ingresses", &Reviews::validate_ingress},
                                     {"/validate/persistentvolumeclaims", &Reviews::validate_claim},
                                     {"/validate/quotas", &Reviews::validate_quota},
                                     {"/validate/twin-objects", &Reviews::validate_twin_object},
                                     {"/validate/shadowendpointslices", &Reviews::validate_twin_object}})
    server.route(std::string(path),
                 Decide([this, decide = member](const Request& request) { return (this->*decide)(request); }));

  server.route("/mutate/namespaces", Rule([this](const Request& request) { return mutate_namespace(request); }));

  // Rules that need only the request.
  using Function = Answer (*)(const Request&);
  for (const auto& [path, rule] :
       {std::pair<std::string_view, Function>{"/mutate/shadowpods", core::admission::mutate_shadow_pod},
        {"/mutate/foreign-cluster", core::admission::mutate_foreign_cluster},
        {"/validate/virtualnodes", core::admission::validate_virtual_node},
        {"/validate/namespace-offloading", core::admission::validate_namespace_offloading}})
    server.route(std::string(path), Rule(rule));
}

std::string Reviews::waiting_for() const {
  if (!namespaces_->has_synced()) return "namespaces are not known yet";
  if (!offloadings_->has_synced()) return "NamespaceOffloadings are not known yet";
  if (!holdings_.has_synced()) return "what twins hold is not known yet";
  return context_.ledger && !context_.ledger->has_synced() ? "the pods that hold quota are not counted yet" : "";
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> Reviews::offloading_of(std::string ns) {
  const kube::ObjectKey key{ns, std::string(api::namespace_offloading_name)};
  if (auto known = offloadings_->find(key)) co_return known;
  auto live = co_await context_.replica_api.get(kinds::namespace_offloadings, key);
  if (live) co_return std::optional(std::move(*live));
  if (!live.error().is_not_found()) co_return std::unexpected(std::move(live.error()));
  // A namespace that is selected automatically has its label before its NamespaceOffloading, and for a moment after it.
  if (!context_.selected_namespaces) co_return std::optional<kube::Object>();
  const auto space = co_await read_namespace(ns, true);
  if (!space) co_return std::unexpected(space.error());
  if (!*space || !context_.selected_namespaces.selects(**space, context_.liqo_namespace))
    co_return std::optional<kube::Object>();
  co_return context_.selected_namespaces.forge_offloading(ns);
}

asio::awaitable<Answer> Reviews::mutate_pod(const Request& request) {
  if (!request.writes_object()) co_return Answer::allow();
  if (request.operation == Operation::update) {
    Answer answer;
    answer.patch = core::keep_toleration(request.old_object.tree(), request.object.tree());
    co_return answer;
  }
  co_return co_await schedule(request, core::plan_pod_scheduling);
}

asio::awaitable<Answer> Reviews::mutate_daemon_set(const Request& request) {
  if (!request.writes_object()) co_return Answer::allow();
  co_return co_await schedule(request, core::plan_daemon_set_scheduling);
}

asio::awaitable<Answer> Reviews::schedule(const Request& request, PlanScheduling plan) {
  const auto offloading = co_await offloading_of(request.ns);
  if (!offloading) co_return cannot_read(offloading.error());
  if (!*offloading) co_return Answer::allow();
  auto patch = plan(request.object.tree(), api::NamespaceOffloading(**offloading));
  if (!patch) co_return Answer::invalid(patch.error().text());
  Answer answer;
  answer.patch = std::move(*patch);
  co_return answer;
}

Answer Reviews::mutate_namespace(const Request& request) const {
  Answer answer;
  if (request.operation != Operation::create || !context_.selected_namespaces.moves_pods()) return answer;
  // With the label, the API server asks about pods of the namespace from the first one on.
  if (context_.selected_namespaces.selects(request.object, context_.liqo_namespace))
    core::admission::set_label(answer.patch, request.object, labels::scheduling_enabled, "true");
  return answer;
}

asio::awaitable<Answer> Reviews::validate_shadow_pod(const Request& request) {
  // A delete frees resources, so nothing may hold it up.
  if (!request.writes_object()) co_return Answer::allow();
  const std::string_view origin = request.object.label(labels::reflection_origin);
  auto ns = co_await read_namespace(request.ns, false);
  // A refusal because of a label must be true now, and the cache may be behind.
  if (ns && (!*ns || (*ns)->label(labels::remote_cluster_id) != origin)) ns = co_await read_namespace(request.ns, true);
  if (!ns) co_return cannot_read(ns.error());
  core::admission::TwinNamespace twin;
  if (*ns) twin.remote_cluster = (*ns)->label(labels::remote_cluster_id);
  if (!twin.remote_cluster.empty()) {
    Consumer consumer{.id = twin.remote_cluster};
    read_policy(consumer);
    const bool is_more = request.operation == Operation::create ||
                         core::admission::adds_ephemeral(kube::object_at(request.old_object.spec(), {"pod"}),
                                                         kube::object_at(request.object.spec(), {"pod"}));
    if (!consumer.mistake.empty() && is_more)
      co_return Answer::deny("no pod or container is let in: " + consumer.mistake);
    twin.policy = std::move(consumer.policy);
    if (request.operation == Operation::create &&
        core::admission::has_claim_templates(kube::object_at(request.object.spec(), {"pod"}))) {
      auto classes = co_await read_offered_classes(twin.remote_cluster);
      if (!classes) co_return cannot_read(classes.error());
      twin.offered_classes = std::move(*classes);
    }
  }
  Answer answer = core::admission::validate_shadow_pod(request, twin);
  if (!answer.allowed || !context_.ledger) co_return answer;
  co_return co_await ask_ledger(request, std::move(twin.policy));
}

asio::awaitable<Answer> Reviews::ask_ledger(const Request& request, core::admission::PodPolicy policy) const {
  core::Claimant claimant;
  if (context_.callers && (request.operation == Operation::create || core::admission::is_resize(request)))
    claimant = context_.callers->claimant_of(request);
  Answer answer = co_await context_.ledger->answer(request, policy, claimant);
  while (!answer.allowed && !claimant.proven) {
    const Callers::Finding finding = co_await context_.callers->prove(request);
    claimant.proven = finding == Callers::Finding::proven;
    if (!claimant.proven) {
      // Where every API server is known, this caller is none of them.
      if (finding == Callers::Finding::unknown || claimant.may_be_large || context_.callers->knows_all()) break;
      claimant.may_be_large = true;
    }
    answer = co_await context_.ledger->answer(request, policy, claimant);
  }
  co_return answer;
}

asio::awaitable<Answer> Reviews::mutate_virtual_node(const Request& request) {
  if (!request.writes()) co_return Answer::allow();
  std::optional<kube::Object> node;
  if (request.operation == Operation::create && !request.object.name().empty()) {
    auto live = co_await context_.replica_api.get(kube::resources::nodes, {"", std::string(request.object.name())});
    if (!live && !live.error().is_not_found()) co_return cannot_read(live.error());
    if (live) node = std::move(*live);
  }
  std::optional<kube::Object> options;
  if (core::admission::needs_options_template(request)) {
    const auto [key, is_default] = api::options_template_of(request.object, context_.liqo_namespace);
    auto live = co_await context_.replica_api.get(kinds::vk_options_templates, key);
    if (!live && !live.error().is_not_found()) co_return cannot_read(live.error());
    if (!live && !is_default)
      co_return Answer::deny("the VkOptionsTemplate " + key.text() +
                             " does not exist: create it first, or say createNode and disableNetworkCheck");
    if (live) options = std::move(*live);
  }
  co_return core::admission::mutate_virtual_node(request, node ? &*node : nullptr, options ? &*options : nullptr);
}

asio::awaitable<Answer> Reviews::validate_resource_slice(const Request& request) {
  std::vector<std::string> namesakes;
  if (request.operation == Operation::create && request.object.label(labels::replicated) != "true") {
    auto all = co_await read_all(kinds::resource_slices, {}, kube::label_is_not(labels::replicated, "true"));
    if (!all) co_return cannot_read(all.error());
    for (const kube::Object& slice : *all)
      if (slice.name() == request.object.name() && slice.uid() != request.object.uid())
        namesakes.push_back(slice.key().text());
  }
  Answer answer = core::admission::validate_resource_slice(request, namesakes);
  if (answer.allowed) answer = co_await check_amount(request, kinds::resource_slices);
  co_return answer;
}

asio::awaitable<Answer> Reviews::validate_namespace_map(const Request& request) {
  Answer answer = core::admission::validate_namespace_map(request);
  if (answer.allowed) answer = co_await check_amount(request, kinds::namespace_maps);
  co_return answer;
}

asio::awaitable<Answer> Reviews::validate_renew(const Request& request) {
  Answer answer = core::admission::check_replica(request);
  if (answer.allowed) answer = co_await check_amount(request, kinds::renews);
  co_return answer;
}

asio::awaitable<Answer> Reviews::check_amount(const Request& request, kube::Resource kind) {
  if (!core::admission::asks_for_more(request)) co_return Answer::allow();
  auto ns = co_await read_namespace(request.ns, false);
  if (!ns) co_return cannot_read(ns.error());
  auto all = co_await read_all(kind, request.ns, kube::label_is(labels::replicated));
  if (!all) co_return cannot_read(all.error());
  // A policy that cannot be read counts as the default one, which has bounds too.
  const auto policy = core::admission::read_pod_policy(*ns ? (*ns)->annotation(api::annotations::pod_policy) : "");
  co_return core::admission::check_amount(request.plural, all->size(),
                                          policy.value_or(core::admission::PodPolicy()).max_objects);
}

asio::awaitable<Answer> Reviews::mutate_tenant(const Request& request) {
  std::string decisions;
  if (request.operation == Operation::create && core::admission::is_tenant(request.user)) {
    auto ns = co_await read_namespace(request.ns, true);
    if (!ns) co_return cannot_read(ns.error());
    if (*ns) decisions = (*ns)->annotation(api::annotations::tenant_decisions);
  }
  co_return core::admission::mutate_tenant(request, decisions);
}

asio::awaitable<Answer> Reviews::validate_tenant(const Request& request) {
  core::admission::TenantSurroundings around;
  std::vector<std::string> in_namespace, namesakes;
  if (request.writes_object()) {
    auto ns = co_await read_namespace(request.ns, true);
    if (!ns) co_return cannot_read(ns.error());
    if (*ns) {
      around.is_tenant_namespace = core::is_tenant_namespace(**ns);
      around.namespace_cluster = (*ns)->label(labels::remote_cluster_id);
      around.decisions = (*ns)->annotation(api::annotations::tenant_decisions);
      if (request.operation == Operation::create)
        around.owned_namespace = namespace_of_id(kube::string_at(request.object.spec(), {"clusterID"}), **ns);
    }
  }
  if (request.operation == Operation::create) {
    auto all = co_await read_all(kinds::tenants, {}, {});
    if (!all) co_return cannot_read(all.error());
    for (const kube::Object& tenant : *all) {
      if (tenant.ns() == request.ns) in_namespace.emplace_back(tenant.name());
      if (tenant.name() == request.object.name() && tenant.ns() != request.ns) namesakes.emplace_back(tenant.ns());
    }
  }
  around.in_namespace = in_namespace;
  around.namesakes = namesakes;
  co_return core::admission::validate_tenant(request, around);
}

asio::awaitable<Answer> Reviews::validate_secret(const Request& request) {
  auto ns = co_await read_namespace(request.ns, false);
  if (!ns) co_return cannot_read(ns.error());
  co_return core::admission::check_secret(request, *ns ? (*ns)->label(labels::remote_cluster_id) : "");
}

asio::awaitable<Answer> Reviews::validate_service(const Request& request) {
  auto consumer = co_await consumer_of(request);
  if (!consumer) co_return cannot_read(consumer.error());
  if (!consumer->mistake.empty()) co_return Answer::deny("no Service is let in: " + consumer->mistake);
  std::vector<std::string> backends;
  if (consumer->asks && core::admission::is_external_name(request.object)) {
    auto all = co_await read_all(kinds::ingresses, request.ns, {});
    if (!all) co_return cannot_read(all.error());
    for (const kube::Object& ingress : *all)
      for (std::string& name : core::admission::backends_of(ingress)) backends.push_back(std::move(name));
  }
  using core::admission::NamespaceOwner;
  const auto owner_of = [this, &id = consumer->id](std::string_view name) {
    const auto ns = namespaces_->find({{}, std::string(name)});
    if (!ns) return NamespaceOwner::none;
    const bool is_own = !id.empty() && ns->label(labels::remote_cluster_id) == id;
    return is_own ? NamespaceOwner::consumer : NamespaceOwner::others;
  };
  Answer answer = core::admission::check_service(request, consumer->id, consumer->policy,
                                                 {.owner_of = owner_of, .backends = backends});
  co_return answer.allowed ? check_size(request, consumer->id) : answer;
}

asio::awaitable<Answer> Reviews::validate_ingress(const Request& request) {
  auto consumer = co_await consumer_of(request);
  if (!consumer) co_return cannot_read(consumer.error());
  if (!consumer->mistake.empty()) co_return Answer::deny("no Ingress is let in: " + consumer->mistake);
  std::vector<std::string> external_names;
  if (consumer->asks && !core::admission::backends_of(request.object).empty()) {
    auto all = co_await read_all(kube::resources::services, request.ns, {});
    if (!all) co_return cannot_read(all.error());
    for (const kube::Object& service : *all)
      if (core::admission::is_external_name(service)) external_names.emplace_back(service.name());
  }
  Answer answer = core::admission::check_ingress(request, consumer->id, consumer->policy, external_names);
  co_return answer.allowed ? check_size(request, consumer->id) : answer;
}

asio::awaitable<Answer> Reviews::validate_claim(const Request& request) {
  auto consumer = co_await consumer_of(request);
  if (!consumer) co_return cannot_read(consumer.error());
  if (!consumer->mistake.empty()) co_return Answer::deny("no PersistentVolumeClaim is let in: " + consumer->mistake);
  std::vector<std::string> offered;
  if (consumer->asks) {
    auto classes = co_await read_offered_classes(consumer->id);
    if (!classes) co_return cannot_read(classes.error());
    offered = std::move(*classes);
  }
  Answer answer = core::admission::check_claim(request, consumer->id, consumer->policy, offered);
  co_return answer.allowed ? check_size(request, consumer->id) : answer;
}

asio::awaitable<Answer> Reviews::validate_quota(const Request& request) {
  std::vector<std::string> others;
  if (request.writes()) {
    const std::string user = core::escape_user(kube::string_at(request.object.spec(), {"user"}));
    auto all = co_await read_all(kinds::quotas, {}, {});
    if (!all) co_return cannot_read(all.error());
    for (const kube::Object& quota : *all) {
      const bool same = core::escape_user(kube::string_at(quota.spec(), {"user"})) == user;
      if (same && quota.key() != kube::ObjectKey{request.ns, request.name}) others.push_back(quota.key().text());
    }
  }
  co_return core::admission::validate_quota(request, others);
}

asio::awaitable<Answer> Reviews::validate_twin_object(const Request& request) {
  auto ns = co_await read_namespace(request.ns, false);
  if (!ns) co_return cannot_read(ns.error());
  co_return check_size(request, *ns ? (*ns)->label(labels::remote_cluster_id) : "");
}

Answer Reviews::check_size(const Request& request, std::string_view id) const {
  Consumer consumer{.id = std::string(id)};
  // A policy that cannot be read counts as the default one, which has bounds too.
  read_policy(consumer);
  return core::admission::check_size(request, id, holdings_.objects_of(id), consumer.policy);
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> Reviews::read_namespace(std::string name, bool afresh) {
  const kube::ObjectKey key{{}, std::move(name)};
  if (!afresh)
    if (auto known = namespaces_->find(key)) co_return std::move(known);
  auto live = co_await context_.replica_api.get(kube::resources::namespaces, key);
  if (live) {
    namespaces_->observe(*live);
    co_return std::optional<kube::Object>(std::move(*live));
  }
  if (live.error().is_not_found()) co_return std::optional<kube::Object>();
  co_return std::unexpected(std::move(live.error()));
}

asio::awaitable<kube::Result<Reviews::Consumer>> Reviews::consumer_of(const Request& request) {
  auto ns = co_await read_namespace(request.ns, false);
  if (!ns) co_return std::unexpected(std::move(ns.error()));
  Consumer consumer;
  if (*ns) consumer.id = (*ns)->label(labels::remote_cluster_id);
  // An update that changes neither spec nor annotations passes, so that finalizers can go.
  consumer.asks = core::admission::is_of_consumer(request.user, consumer.id) &&
                  (request.object.spec() != request.old_object.spec() ||
                   request.object.annotations() != request.old_object.annotations());
  if (consumer.asks) read_policy(consumer);
  co_return consumer;
}

asio::awaitable<kube::Result<std::vector<std::string>>> Reviews::read_offered_classes(std::string consumer) {
  const auto tenant = tenant_namespace(consumer);
  if (!tenant) co_return std::vector<std::string>();
  // The status of a ResourceSlice is this cluster's answer, which no consumer can write.
  auto slices =
      co_await read_all(kinds::resource_slices, std::string(tenant->name()), kube::label_is(labels::replicated));
  if (!slices) co_return std::unexpected(std::move(slices.error()));
  co_return core::admission::offered_classes(*slices);
}

void Reviews::read_policy(Consumer& consumer) const {
  const auto tenant = consumer.id.empty() ? std::nullopt : tenant_namespace(consumer.id);
  if (!tenant) return;
  auto policy = core::admission::read_pod_policy(tenant->annotation(api::annotations::pod_policy));
  if (policy)
    consumer.policy = std::move(*policy);
  else
    consumer.mistake = "the annotation " + std::string(api::annotations::pod_policy) + " of namespace " +
                       std::string(tenant->name()) + " cannot be understood: " + policy.error().text();
}

std::string Reviews::namespace_of_id(std::string_view consumer, const kube::Object& tenant_namespace) const {
  const auto policy = core::admission::read_pod_policy(tenant_namespace.annotation(api::annotations::pod_policy));
  // Where names are chosen by other rules, the ID gives a consumer no names.
  if (context_.twin_names || (policy && policy->twin_names)) return {};
  // The views in `all` refer to these names.
  const std::vector<kube::ObjectKey> keys = namespaces_->store().keys();
  std::vector<core::NamedNamespace> all;
  for (const kube::ObjectKey& key : keys)
    if (key.name.ends_with(consumer))
      if (const auto ns = namespaces_->find(key))
        all.push_back({.name = key.name, .is_of_peer = !ns->label(labels::remote_cluster_id).empty()});
  return core::namespace_of_id(consumer, all);
}

std::optional<kube::Object> Reviews::tenant_namespace(std::string_view cluster) const {
  for (const kube::Object& tenant : namespaces_->objects(core::tenants_by_cluster, cluster)) return tenant;
  return std::nullopt;
}

asio::awaitable<kube::Result<std::vector<kube::Object>>> Reviews::read_all(kube::Resource kind, std::string ns,
                                                                           std::string label_selector) {
  std::vector<kube::Object> all;
  bool is_cut = false;
  const auto listed = co_await kube::list_all(context_.replica_api, {kind, std::move(ns)},
                                              {.selection = {.label_selector = std::move(label_selector)}},
                                              [&all, &is_cut, max = context_.max_listed](kube::Object object) {
                                                is_cut = all.size() >= max;
                                                if (!is_cut) all.push_back(std::move(object));
                                                return !is_cut;
                                              });
  if (!listed) co_return std::unexpected(listed.error());
  // A rule that sees only a part of the list would let in what the rest forbids.
  if (is_cut)
    co_return kube::fail(kube::Errc::too_large,
                         "there are more than " + std::to_string(context_.max_listed) + " " + std::string(kind.plural));
  co_return all;
}

}  // namespace liqo::webhook
