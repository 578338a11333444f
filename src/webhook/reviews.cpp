#include "webhook/reviews.hpp"

#include <algorithm>
#include <iterator>

#include "core/admission/check_orders.hpp"
#include "core/admission/claims.hpp"
#include "core/admission/disruption_budget.hpp"
#include "core/admission/ephemeral_containers.hpp"
#include "core/admission/exposure.hpp"
#include "core/admission/owners.hpp"
#include "core/admission/patch.hpp"
#include "core/admission/restored_pod.hpp"
#include "core/admission/shadow_pod.hpp"
#include "core/admission/tenant_policy.hpp"
#include "core/admission/tenant_rules.hpp"
#include "core/admission/twin_size.hpp"
#include "core/admission/validations.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/tenant_index.hpp"
#include "core/namespaces/twin_names.hpp"
#include "core/offloading/pod_scheduling.hpp"
#include "core/peering/decisions.hpp"
#include "core/quota/quota_user.hpp"
#include "core/slices/slice_node.hpp"
#include "core/storage/volume_carrier.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/vk_options_template.hpp"
#include "webhook/volume_movers.hpp"

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

/// Whether the path reviews what consumers write into twins. Secrets are among the twin objects, too.
bool is_of_twins(std::string_view path) {
  constexpr std::string_view paths[] = {"/validate/poddisruptionbudgets",
                                        "/validate/shadowpods",
                                        "/validate/services",
                                        "/validate/ingresses",
                                        "/validate/persistentvolumeclaims",
                                        "/validate/twin-objects",
                                        "/validate/shadowendpointslices"};
  return std::ranges::find(paths, path) != std::end(paths);
}

}  // namespace

Reviews::Reviews(ReviewContext context)
    : context_(context),
      namespaces_(context_.home.acquire({.resource = kube::resources::namespaces})),
      offloadings_(context_.home.acquire({.resource = kinds::namespace_offloadings})),
      twins_(context_.home),
      tenants_(context_.home),
      reads_(context_.replica_api, context_.max_listed) {
  namespaces_->add_index(std::string(core::tenants_by_cluster), core::index_tenant_namespace);
}

void Reviews::add_to(AdmissionServer& server) {
  for (const auto& [path, member] : {std::pair<std::string_view, Member>{"/mutate/pod", &Reviews::mutate_pod},
                                     {"/mutate/daemonsets", &Reviews::mutate_daemon_set},
                                     {"/validate/shadowpods", &Reviews::validate_shadow_pod},
                                     {"/mutate/virtualnodes", &Reviews::mutate_virtual_node},
                                     {"/validate/virtualnodes", &Reviews::validate_virtual_node},
                                     {"/validate/resourceslices", &Reviews::validate_resource_slice},
                                     {"/mutate/tenants", &Reviews::mutate_tenant},
                                     {"/validate/tenants", &Reviews::validate_tenant},
                                     {"/validate/namespacemaps", &Reviews::validate_namespace_map},
                                     {"/validate/renews", &Reviews::validate_renew},
                                     {"/validate/secrets", &Reviews::validate_secret},
                                     {"/validate/services", &Reviews::validate_service},
                                     {"/validate/ingresses", &Reviews::validate_ingress},
                                     {"/validate/persistentvolumeclaims", &Reviews::validate_claim},
                                     {"/validate/poddisruptionbudgets", &Reviews::validate_disruption_budget},
                                     {"/validate/quotas", &Reviews::validate_quota},
                                     {"/validate/twin-objects", &Reviews::validate_twin_object},
                                     {"/validate/shadowendpointslices", &Reviews::validate_twin_object}})
    server.route(std::string(path), Decide([this, decide = member, is_in_twin = is_of_twins(path)](
                                               const Request& request, const Hold& hold) {
                   return is_in_twin ? with_owners(decide, request, hold) : (this->*decide)(request, hold);
                 }));

  server.route("/mutate/namespaces", Rule([this](const Request& request) { return mutate_namespace(request); }));

  // Rules that need only the request.
  using Function = Answer (*)(const Request&);
  for (const auto& [path, rule] :
       {std::pair<std::string_view, Function>{"/mutate/shadowpods", core::admission::mutate_shadow_pod},
        {"/mutate/foreign-cluster", core::admission::mutate_foreign_cluster},
        {"/validate/namespace-offloading", core::admission::validate_namespace_offloading},
        {"/validate/namespaces", core::admission::validate_tenant_namespace}})
    server.route(std::string(path), Rule(rule));
}

std::string Reviews::waiting_for() const {
  if (!namespaces_->has_synced()) return "namespaces are not known yet";
  if (!offloadings_->has_synced()) return "NamespaceOffloadings are not known yet";
  if (!twins_.has_synced()) return "what twins hold is not known yet";
  if (!tenants_.is_known()) return "what consumers ask for is not known yet";
  return context_.ledger && !context_.ledger->has_synced() ? "the pods that hold quota are not counted yet" : "";
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> Reviews::offloading_of(std::string ns, const Hold& hold) {
  const kube::ObjectKey key{ns, std::string(api::namespace_offloading_name)};
  if (auto known = offloadings_->find(key)) co_return known;
  auto live = co_await reads_.find(kinds::namespace_offloadings, key, hold);
  if (!live || *live) co_return live;
  // A namespace that is selected automatically has its label before its NamespaceOffloading, and for a moment after it.
  if (!context_.selected_namespaces) co_return std::optional<kube::Object>();
  KUBE_CO_TRY(space, co_await read_namespace(ns, Source::server, hold));
  if (!space || !context_.selected_namespaces.selects(*space, context_.liqo_namespace))
    co_return std::optional<kube::Object>();
  co_return context_.selected_namespaces.forge_offloading(ns);
}

asio::awaitable<Answer> Reviews::mutate_pod(const Request& request, const Hold& hold) {
  if (!request.writes_object()) co_return Answer::allow();
  if (request.operation == Operation::update) {
    Answer answer;
    answer.patch = core::keep_toleration(request.old_object.tree(), request.object.tree());
    co_return answer;
  }
  // A volume is carried between clusters whatever the strategy of its namespace is. The claim of the pod is no proof:
  // any user could make pods run here in that way.
  if (core::storage::is_volume_carrier(request.object.tree()))
    if (auto answer = co_await answer_carrier(request)) co_return std::move(*answer);
  Answer answer = co_await schedule(request, core::plan_pod_scheduling, hold);
  if (answer.allowed) core::admission::take_off_marks(answer.patch, request.object);
  co_return answer;
}

asio::awaitable<std::optional<Answer>> Reviews::answer_carrier(const Request& request) const {
  if (!is_askable(request.user)) co_return std::nullopt;
  // An unproven caller may name any user, and would learn what that user may do.
  const bool is_known = co_await comes_from_api_server(request);
  // If every API server is known, this caller is none of them.
  if (!is_known && context_.callers->knows_all()) co_return std::nullopt;
  if (!is_known && !context_.callers->take_turn())
    co_return Answer::unavailable(
        "Liqo cannot decide now: too many pods that carry volumes are asked about from addresses that are not known to "
        "be those of API servers; try again in a few seconds",
        5);
  const auto may = co_await may_move_volumes(context_.replica_api, request.user);
  if (!may) co_return cannot_read(may.error());
  co_return *may ? std::optional(Answer::allow()) : std::nullopt;
}

asio::awaitable<Answer> Reviews::mutate_daemon_set(const Request& request, const Hold& hold) {
  if (!request.writes_object()) co_return Answer::allow();
  co_return co_await schedule(request, core::plan_daemon_set_scheduling, hold);
}

asio::awaitable<Answer> Reviews::schedule(const Request& request, PlanScheduling plan, const Hold& hold) {
  const auto offloading = co_await offloading_of(request.ns, hold);
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
  // With the label, the API server sends the namespace's pods for review from the first one on.
  if (context_.selected_namespaces.selects(request.object, context_.liqo_namespace))
    core::admission::set_label(answer.patch, request.object, labels::scheduling_enabled, "true");
  return answer;
}

asio::awaitable<Answer> Reviews::with_owners(Member rest, const Request& request, const Hold& hold) {
  if (request.writes_object()) {
    auto ns = co_await read_namespace(request.ns, Source::cache, hold);
    if (!ns) co_return cannot_read(ns.error());
    const bool is_twin = *ns && !core::is_tenant_namespace(**ns);
    const std::string id(is_twin ? (*ns)->label(labels::remote_cluster_id) : "");
    if (is_twin && core::admission::adds_owner(request, id)) {
      // A cache may still have a Namespace that was replaced, and what names that one would be removed at once.
      auto live = co_await read_namespace(request.ns, Source::server, hold);
      if (!live) co_return cannot_read(live.error());
      Answer answer = core::admission::check_owners(request, id, *live ? &**live : nullptr);
      if (!answer.allowed) co_return answer;
    }
  }
  co_return co_await (this->*rest)(request, hold);
}

asio::awaitable<Answer> Reviews::validate_shadow_pod(const Request& request, const Hold& hold) {
  // A delete frees resources, so nothing may hold it up.
  if (!request.writes_object()) co_return Answer::allow();
  const std::string_view origin = request.object.label(labels::reflection_origin);
  auto ns = co_await read_namespace(request.ns, Source::cache, hold);
  // A refusal because of a label must be true now, and the cache may lag behind.
  if (ns && (!*ns || (*ns)->label(labels::remote_cluster_id) != origin))
    ns = co_await read_namespace(request.ns, Source::server, hold);
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
      co_return Answer::deny("new pods and containers are refused: " + consumer.mistake);
    twin.policy = std::move(consumer.policy);
    if (request.operation == Operation::create &&
        core::admission::has_claim_templates(kube::object_at(request.object.spec(), {"pod"})))
      twin.offered_classes = offered_classes(twin.remote_cluster).storage;
  }
  Answer answer = core::admission::validate_shadow_pod(request, twin);
  if (!answer.allowed || !context_.ledger) co_return answer;
  co_return co_await ask_ledger(request, std::move(twin.policy));
}

asio::awaitable<Answer> Reviews::ask_ledger(const Request& request, core::PodPolicy policy) const {
  core::Claimant claimant;
  if (context_.callers && (request.operation == Operation::create || core::admission::is_resize(request)))
    claimant = context_.callers->claimant_of(request);
  Answer answer = co_await context_.ledger->answer(request, policy, claimant);
  while (!answer.allowed && !claimant.proven) {
    const Callers::Finding finding = co_await context_.callers->prove(request);
    claimant.proven = finding == Callers::Finding::proven;
    if (!claimant.proven) {
      // If every API server is known, this caller is none of them.
      if (finding == Callers::Finding::unknown || claimant.may_be_large || context_.callers->knows_all()) break;
      claimant.may_be_large = true;
    }
    answer = co_await context_.ledger->answer(request, policy, claimant);
  }
  co_return answer;
}

asio::awaitable<Answer> Reviews::mutate_virtual_node(const Request& request, const Hold& hold) {
  if (!request.writes()) co_return Answer::allow();
  std::optional<kube::Object> options;
  if (core::admission::needs_options_template(request)) {
    const auto [key, is_default] = api::options_template_of(request.object, context_.liqo_namespace);
    auto live = co_await reads_.find(kinds::vk_options_templates, key, hold);
    if (!live) co_return cannot_read(live.error());
    if (!*live && !is_default)
      co_return Answer::deny("the VkOptionsTemplate " + key.text() +
                             " does not exist: create it first, or say createNode and disableNetworkCheck");
    options = std::move(*live);
  }
  co_return core::admission::mutate_virtual_node(request, options ? &*options : nullptr);
}

asio::awaitable<Answer> Reviews::validate_virtual_node(const Request& request, const Hold& hold) {
  Answer answer = core::admission::validate_virtual_node(request);
  if (!answer.allowed || !request.writes_object() || request.operation != Operation::create) co_return answer;
  auto namesakes = co_await read_namesakes(request.object, hold);
  if (!namesakes) co_return cannot_read(namesakes.error());
  auto node = co_await reads_.find(kube::resources::nodes, {"", std::string(request.object.name())}, hold);
  if (!node) co_return cannot_read(node.error());
  co_return core::admission::check_node_of(request, *node ? &**node : nullptr, *namesakes);
}

asio::awaitable<kube::Result<std::vector<std::string>>> Reviews::read_namesakes(const kube::Object& of,
                                                                                const Hold& hold) {
  std::vector<std::string> namesakes;
  KUBE_CO_TRYV(co_await reads_.each(
      {.collection = {kinds::virtual_nodes, {}}, .label_selector = {}, .metadata_only = true},
      [&](const kube::Object& other) {
        if (other.name() == of.name() && other.ns() != of.ns()) namesakes.push_back(other.key().text());
      },
      hold));
  co_return namesakes;
}

asio::awaitable<Answer> Reviews::validate_resource_slice(const Request& request, const Hold& hold) {
  std::vector<std::string> namesakes;
  // A consumer makes only replicas, which other rules check.
  if (request.operation == Operation::create && !core::admission::is_tenant(request.user) &&
      request.object.label(labels::replicated) != "true") {
    const auto looked = co_await reads_.each(
        {.collection = {kinds::resource_slices, {}},
         .label_selector = kube::label_is_not(labels::replicated, "true"),
         .metadata_only = true},
        [&](const kube::Object& slice) {
          if (slice.name() == request.object.name() && slice.uid() != request.object.uid())
            namesakes.push_back("ResourceSlice " + slice.key().text());
        },
        hold);
    if (!looked) co_return cannot_read(looked.error());
    if (core::wants_virtual_node(request.object)) {
      auto nodes = co_await read_namesakes(request.object, hold);
      if (!nodes) co_return cannot_read(nodes.error());
      for (const std::string& node : *nodes) namesakes.push_back("VirtualNode " + node);
    }
  }
  Answer answer = core::admission::validate_resource_slice(request, namesakes);
  if (answer.allowed) answer = co_await check_amount(request, kinds::resource_slices, hold);
  co_return answer;
}

asio::awaitable<Answer> Reviews::validate_namespace_map(const Request& request, const Hold& hold) {
  Answer answer = core::admission::validate_namespace_map(request);
  if (answer.allowed) answer = co_await check_amount(request, kinds::namespace_maps, hold);
  co_return answer;
}

asio::awaitable<Answer> Reviews::validate_renew(const Request& request, const Hold& hold) {
  Answer answer = core::admission::check_replica(request);
  if (answer.allowed) answer = co_await check_amount(request, kinds::renews, hold);
  co_return answer;
}

asio::awaitable<Answer> Reviews::check_amount(const Request& request, kube::Resource kind, const Hold& hold) {
  if (!core::admission::asks_for_more(request)) co_return Answer::allow();
  auto ns = co_await read_namespace(request.ns, Source::cache, hold);
  if (!ns) co_return cannot_read(ns.error());
  // The object of a caller that is no API server will not be stored, and must not count against the consumer.
  const bool is_tenant_namespace = *ns && core::is_tenant_namespace(**ns);
  const bool is_counted = !request.dry_run && is_tenant_namespace && co_await comes_from_api_server(request);
  if (!tenants_.is_known()) co_return Answer::unavailable("Liqo cannot decide now: " + waiting_for());
  // A policy that cannot be read counts as the default one, which has bounds too.
  const auto policy = core::read_pod_policy(*ns ? (*ns)->annotation(api::annotations::pod_policy) : "");
  // If the server still has to make the name, the review's own stands for it.
  const kube::ObjectKey key{request.ns,
                            request.object.name().empty() ? request.uid : std::string(request.object.name())};
  Answer answer = core::admission::check_amount(request.plural, tenants_.others_than(kind, key),
                                                policy.value_or(core::PodPolicy()).max_objects);
  if (answer.allowed && is_counted) tenants_.admit(kind, key);
  co_return answer;
}

asio::awaitable<bool> Reviews::comes_from_api_server(const Request& request) const {
  if (!context_.callers || context_.callers->is_proven(request) || context_.callers->is_listed(request)) co_return true;
  const Callers::Finding finding = co_await context_.callers->prove(request);
  // The list comes with the probe.
  co_return finding == Callers::Finding::proven || context_.callers->is_listed(request);
}

asio::awaitable<Answer> Reviews::mutate_tenant(const Request& request, const Hold& hold) {
  std::string decisions;
  if (request.operation == Operation::create && core::admission::is_tenant(request.user)) {
    auto ns = co_await read_namespace(request.ns, Source::server, hold);
    if (!ns) co_return cannot_read(ns.error());
    if (*ns) decisions = (*ns)->annotation(api::annotations::tenant_decisions);
  }
  co_return core::admission::mutate_tenant(request, decisions);
}

asio::awaitable<Answer> Reviews::validate_tenant(const Request& request, const Hold& hold) {
  core::admission::TenantSurroundings around;
  std::vector<std::string> in_namespace, namesakes;
  if (request.writes_object()) {
    auto ns = co_await read_namespace(request.ns, Source::server, hold);
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
    const auto looked = co_await reads_.each(
        {.collection = {kinds::tenants, {}}, .label_selector = {}, .metadata_only = true},
        [&](const kube::Object& tenant) {
          if (tenant.ns() == request.ns) in_namespace.emplace_back(tenant.name());
          if (tenant.name() == request.object.name() && tenant.ns() != request.ns) namesakes.emplace_back(tenant.ns());
        },
        hold);
    if (!looked) co_return cannot_read(looked.error());
  }
  around.in_namespace = in_namespace;
  around.namesakes = namesakes;
  co_return core::admission::validate_tenant(request, around);
}

asio::awaitable<Answer> Reviews::validate_secret(const Request& request, const Hold& hold) {
  auto ns = co_await read_namespace(request.ns, Source::cache, hold);
  if (!ns) co_return cannot_read(ns.error());
  co_return core::admission::check_secret(request, *ns ? (*ns)->label(labels::remote_cluster_id) : "");
}

asio::awaitable<Answer> Reviews::validate_service(const Request& request, const Hold& hold) {
  auto consumer = co_await consumer_of(request, hold);
  if (!consumer) co_return cannot_read(consumer.error());
  if (!consumer->mistake.empty()) co_return Answer::deny("Services are refused: " + consumer->mistake);
  bool is_backend = false;
  const bool guards_backends = consumer->asks && !consumer->policy.external_name_backends;
  if (guards_backends && core::admission::is_external_name(request.object)) {
    const auto looked = co_await reads_.each(
        {.collection = {kinds::ingresses, request.ns}, .label_selector = {}},
        [&](const kube::Object& ingress) {
          is_backend = is_backend || core::admission::sends_to(ingress, request.object.name());
        },
        hold);
    if (!looked) co_return cannot_read(looked.error());
  }
  using core::admission::NamespaceOwner;
  const auto owner_of = [this, &id = consumer->id](std::string_view name) {
    const auto ns = namespaces_->find({{}, std::string(name)});
    if (!ns) return NamespaceOwner::none;
    const bool is_own = !id.empty() && ns->label(labels::remote_cluster_id) == id;
    return is_own ? NamespaceOwner::consumer : NamespaceOwner::others;
  };
  const auto offered = consumer->asks ? offered_classes(consumer->id) : core::admission::OfferedClasses();
  Answer answer = core::admission::check_service(
      request, consumer->id, consumer->policy,
      {.owner_of = owner_of, .is_backend = is_backend, .offered = offered.load_balancer});
  co_return answer.allowed ? check_size(request, consumer->id) : answer;
}

asio::awaitable<Answer> Reviews::validate_ingress(const Request& request, const Hold& hold) {
  auto consumer = co_await consumer_of(request, hold);
  if (!consumer) co_return cannot_read(consumer.error());
  if (!consumer->mistake.empty()) co_return Answer::deny("Ingresses are refused: " + consumer->mistake);
  std::vector<std::string> external_names;
  const bool guards_backends = consumer->asks && !consumer->policy.external_name_backends;
  const std::vector<std::string> backends =
      guards_backends ? core::admission::backends_of(request.object) : std::vector<std::string>();
  if (!backends.empty()) {
    const auto looked = co_await reads_.each(
        {.collection = {kube::resources::services, request.ns}, .label_selector = {}},
        [&](const kube::Object& service) {
          if (core::admission::is_external_name(service) && std::ranges::binary_search(backends, service.name()))
            external_names.emplace_back(service.name());
        },
        hold);
    if (!looked) co_return cannot_read(looked.error());
  }
  const auto offered = consumer->asks ? offered_classes(consumer->id) : core::admission::OfferedClasses();
  Answer answer = core::admission::check_ingress(request, consumer->id, consumer->policy,
                                                 {.external_names = external_names, .offered = offered.ingress});
  co_return answer.allowed ? check_size(request, consumer->id) : answer;
}

asio::awaitable<Answer> Reviews::validate_claim(const Request& request, const Hold& hold) {
  auto consumer = co_await consumer_of(request, hold);
  if (!consumer) co_return cannot_read(consumer.error());
  if (!consumer->mistake.empty()) co_return Answer::deny("PersistentVolumeClaims are refused: " + consumer->mistake);
  const auto offered = consumer->asks ? offered_classes(consumer->id) : core::admission::OfferedClasses();
  Answer answer = core::admission::check_claim(request, consumer->id, consumer->policy, offered.storage);
  co_return answer.allowed ? check_size(request, consumer->id) : answer;
}

asio::awaitable<Answer> Reviews::validate_disruption_budget(const Request& request, const Hold& hold) {
  const auto ns = co_await read_namespace(request.ns, Source::cache, hold);
  if (!ns) co_return cannot_read(ns.error());
  const std::string id(*ns ? (*ns)->label(labels::remote_cluster_id) : "");
  // Finalizers count, too: a budget that does not go holds a drain for ever.
  if (!core::admission::is_of_consumer(request.user, id)) co_return Answer::allow();
  const Consumer consumer = policy_of(id);
  if (!consumer.mistake.empty()) co_return Answer::deny("PodDisruptionBudgets are refused: " + consumer.mistake);
  const bool is_lifted = *ns && (*ns)->has_annotation(api::annotations::budgets_lifted);
  Answer answer = core::admission::check_disruption_budget(request, id, consumer.policy, is_lifted);
  co_return answer.allowed ? check_size(request, id) : answer;
}

asio::awaitable<Answer> Reviews::validate_quota(const Request& request, const Hold& hold) {
  std::vector<std::string> others;
  const std::string_view named = kube::string_at(request.object.spec(), {"user"});
  // Amounts of a share change all the time: if the user stays the same, the other Quotas need not be read.
  if (request.writes() && named != kube::string_at(request.old_object.spec(), {"user"})) {
    const std::string user = core::escape_user(named);
    const auto looked = co_await reads_.each(
        {.collection = {kinds::quotas, {}}, .label_selector = {}},
        [&](const kube::Object& quota) {
          const bool same = core::escape_user(kube::string_at(quota.spec(), {"user"})) == user;
          if (same && quota.key() != kube::ObjectKey{request.ns, request.name}) others.push_back(quota.key().text());
        },
        hold);
    if (!looked) co_return cannot_read(looked.error());
  }
  co_return core::admission::validate_quota(request, others);
}

asio::awaitable<Answer> Reviews::validate_twin_object(const Request& request, const Hold& hold) {
  auto ns = co_await read_namespace(request.ns, Source::cache, hold);
  if (!ns) co_return cannot_read(ns.error());
  const std::string_view id = *ns ? (*ns)->label(labels::remote_cluster_id) : "";
  if (const auto kind = core::twin_kind(request.plural)) {
    Answer answer = core::admission::check_orders(request, id, *kind, policy_of(id).policy);
    if (!answer.allowed) co_return answer;
  }
  co_return check_size(request, id);
}

Reviews::Consumer Reviews::policy_of(std::string_view id) const {
  Consumer consumer{.id = std::string(id)};
  // A policy that cannot be read counts as the default one, which has bounds too.
  read_policy(consumer);
  return consumer;
}

Answer Reviews::check_size(const Request& request, std::string_view id) const {
  const Consumer consumer = policy_of(id);
  return core::admission::check_size(request, id, twins_.objects_of(id), consumer.policy);
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> Reviews::read_namespace(std::string name, Source source,
                                                                                   const Hold& hold) {
  const kube::ObjectKey key{{}, std::move(name)};
  if (source == Source::cache)
    if (auto known = namespaces_->find(key)) co_return std::move(known);
  auto live = co_await reads_.find(kube::resources::namespaces, key, hold);
  if (live && *live) namespaces_->observe(**live);
  co_return live;
}

asio::awaitable<kube::Result<Reviews::Consumer>> Reviews::consumer_of(const Request& request, const Hold& hold) {
  KUBE_CO_TRY(ns, co_await read_namespace(request.ns, Source::cache, hold));
  Consumer consumer;
  if (ns) consumer.id = ns->label(labels::remote_cluster_id);
  // An update that changes neither spec nor labels nor annotations passes, so that finalizers can go.
  consumer.asks =
      core::admission::is_of_consumer(request.user, consumer.id) &&
      (request.object.spec() != request.old_object.spec() || request.object.labels() != request.old_object.labels() ||
       request.object.annotations() != request.old_object.annotations());
  if (consumer.asks) read_policy(consumer);
  co_return consumer;
}

core::admission::OfferedClasses Reviews::offered_classes(std::string_view consumer) const {
  const auto tenant = tenant_namespace(consumer);
  // The status of a ResourceSlice is this cluster's answer, and no consumer can write it.
  return tenant ? tenants_.offered_classes(tenant->name()) : core::admission::OfferedClasses();
}

void Reviews::read_policy(Consumer& consumer) const {
  const auto tenant = consumer.id.empty() ? std::nullopt : tenant_namespace(consumer.id);
  if (!tenant) return;
  auto policy = core::read_pod_policy(tenant->annotation(api::annotations::pod_policy));
  if (policy)
    consumer.policy = std::move(*policy);
  else
    consumer.mistake = "the annotation " + std::string(api::annotations::pod_policy) + " of namespace " +
                       std::string(tenant->name()) + " cannot be understood: " + policy.error().text();
}

std::string Reviews::namespace_of_id(std::string_view consumer, const kube::Object& tenant_namespace) const {
  const auto policy = core::read_pod_policy(tenant_namespace.annotation(api::annotations::pod_policy));
  // If other rules choose the names, a consumer's ID gives it no names.
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

}  // namespace liqo::webhook
