#include "controllers/reflection/cluster_reflection.hpp"

#include <algorithm>

#include "controllers/common/pauses.hpp"
#include "core/storage/volume.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {
namespace {

/// Claims whose data are in another cluster, or are to be, by namespace.
constexpr std::string_view provisioned_claims = "provisioned-claims";

}  // namespace

ClusterReflection::ClusterReflection(kube::ObjectKey home, Provider provider, Context context)
    : home_(std::move(home)),
      provider_(provider),
      context_(context),
      virtual_nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      offloadings_(context.home.acquire({.resource = api::kinds::namespace_offloadings})),
      templates_(context),
      references_(context.home, [this](const std::string& ns) { report_references(ns); }),
      endpoints_(
          context.home, context.settings.peering.pod_cidrs,
          [this](const std::string& ns) { return reflected_.contains(ns); },
          [this](const std::string& ns) {
            for (const Reflecting& each : reflectors_)
              if (each.reflector->kind().needs_endpoints) each.reflector->reconsider(ns);
          }),
      custom_kinds_(
          provider.api, context,
          [this] {
            std::vector<std::string> twins;
            twins.reserve(reflected_.size());
            for (const auto& [local, remote] : reflected_) twins.push_back(remote);
            return twins;
          },
          [this] { take_custom_kinds(); }),
      copy_events_({.provider = provider.api,
                    .cluster = home_.name,
                    .has_copies = [this](const std::string& local) { return has_copies(local); },
                    .find = [this](const std::string& local,
                                   const core::reflection::CopyWarning& warning) { return find_copy(local, warning); }},
                   context),
      log_(kube::Log("reflection").with("cluster", home_.name)) {
  source_ = provider_.statuses.join(home_.name, [this](const StatusSources::Scope& scope) {
    for (const Reflecting& each : reflectors_)
      if (each.reflector->kind().name == scope.kind) each.reflector->gather_anew(scope.ns);
  });
  provider_.twins.on_wake([this](const std::string& local) { end_quiet(local); });
  if (!context_.settings.storage.storage_class.empty()) {
    claims_ = context_.home.acquire({.resource = api::kinds::claims});
    claims_->add_index(std::string(provisioned_claims), [](const kube::Object& claim, std::vector<std::string>& out) {
      if (core::storage::is_provisioned(claim)) out.emplace_back(claim.ns());
    });
    claims_.subscribe([this](const kube::ObjectKey& key) { copy_events_.end_quiet(key.ns); });
  }
  for (const core::reflection::ReflectedKind* kind : core::reflection::reflected_kinds()) add_kind(*kind);
  // Each of many providers gets the events of all virtual nodes.
  virtual_nodes_.subscribe([this](const kube::Change& change) {
    if (take_virtual_node(change.key, change.now)) read_rules();
  });
  templates_.subscribe([this] { read_rules(); });
  for (const kube::Object& node : virtual_nodes_->objects()) take_virtual_node(node.key(), &node);
  read_rules();
}

ClusterReflection::~ClusterReflection() {
  provider_.statuses.leave(source_);
  provider_.twins.on_wake(nullptr);
}

ClusterReflection::Reflecting& ClusterReflection::add_kind(const core::reflection::ReflectedKind& kind) {
  ReflectorContext context{context_.environment(), context_.home, provider_.api, provider_.stores, context_.events};
  context.brings_home = [this, &kind](const std::string& ns) {
    return provider_.statuses.is_source({std::string(kind.name), ns}, source_);
  };
  context.home_write = [this](std::size_t bytes) { return provider_.home_writes.reserve({.bytes = bytes}); };
  context.is_quiet = [this](const std::string& ns) { return is_quiet(ns); };
  context.copied = [this](const std::string& ns) { end_quiet(ns); };
  context.owners = &provider_.owners;
  context.home_lists = &provider_.home_lists;
  context.may_begin = provider_.may_begin;
  // The right to write there goes with the NamespaceOffloading, also if the twin stays because it holds data.
  context.may_annotate = [this](const std::string& ns) {
    if (!offloadings_->has_synced()) return true;
    const auto offloading = offloadings_->find({ns, std::string(api::namespace_offloading_name)});
    return offloading && !offloading->is_deleting();
  };
  auto reflector = std::make_unique<Reflector>(kind, core::reflection::SelectionPolicy::allow_list, forging_of(nullptr),
                                               std::move(context));
  reflector->set_references_known([this] { return references_.has_synced(); });
  reflector->on_references([this, &kind](const std::string& ns, const std::string& name, auto secrets) {
    references_.set(ns, std::string(kind.name) + "/" + name, std::move(secrets));
  });
  return reflectors_.emplace_back(std::move(reflector));
}

void ClusterReflection::start(SessionWorkers& workers) {
  workers_ = &workers;
  for (const Reflecting& each : reflectors_) run(*each.reflector);
  workers.spawn(kube::run_while_leading(context_.leadership, [this] { return copy_events_.run(); }));
  workers.spawn(read_rules_first());
  workers.spawn(kube::run_while_leading(context_.leadership, [this] { return custom_kinds_.run(); }));
}

void ClusterReflection::run(Reflector& reflector) {
  workers_->spawn(kube::run_while_leading(context_.leadership, [&reflector] { return reflector.run(); }));
}

void ClusterReflection::take_custom_kinds() {
  for (const auto& [name, found] : custom_kinds_.findings()) {
    bool is_known = !found.kind;
    for (Reflecting& each : reflectors_) {
      if (each.reflector->kind().name != name) continue;
      each.is_served = &each.reflector->kind() == found.kind;
      is_known = is_known || each.is_served;
    }
    // There is one for each version that both clusters have ever had in common.
    if (!is_known) run(*add_kind(*found.kind).reflector);
  }
  read_rules();
  if (custom_changed_) custom_changed_();
}

bool ClusterReflection::is_busy() const {
  return std::ranges::any_of(reflectors_, [](const auto& kind) { return kind.reflector->is_busy(); });
}

bool ClusterReflection::has_copies(const std::string& local) const {
  return std::ranges::any_of(reflectors_, [&](const Reflecting& each) { return each.reflector->has_copies(local); }) ||
         (claims_ && claims_->store().count(provisioned_claims, local) > 0);
}

bool ClusterReflection::is_quiet(const std::string& local) const {
  const auto twin = reflected_.find(local);
  return twin != reflected_.end() && !provider_.twins.is_used(local, twin->second) &&
         std::ranges::all_of(reflectors_, [&](const Reflecting& each) { return each.reflector->is_quiet(local); });
}

void ClusterReflection::end_quiet(const std::string& local) {
  for (const Reflecting& each : reflectors_) each.reflector->end_quiet(local);
  copy_events_.end_quiet(local);
}

CopyEvents::Found ClusterReflection::find_copy(const std::string& local,
                                               const core::reflection::CopyWarning& warning) const {
  CopyEvents::Found answer;
  for (const Reflecting& each : reflectors_) {
    const core::reflection::ReflectedKind& kind = each.reflector->kind();
    if (kind.copies().kind != warning.kind) continue;
    const FoundCopy found = each.reflector->find_copy(local, warning.name, warning.uid);
    if (!found.name.empty()) answer.original = {.resource = kind.resource, .name = found.name};
    answer.is_known = answer.is_known && found.is_known;
  }
  return answer;
}

core::ForgingContext ClusterReflection::forging_of(const kube::Object* decides) const {
  core::ForgingContext forging{.clusters = {.local = context_.settings.cluster_id, .remote = home_.name},
                               .kept_keys = context_.settings.reflection.kept_keys,
                               .twins = &reflected_};
  if (context_.settings.offloading.reflect_ips) forging.endpoints = &endpoints_;
  if (!decides) return forging;
  const api::VirtualNode node(*decides);
  forging.node_name = decides->name();
  forging.ingress_class = node.ingress_class();
  forging.load_balancer_class = node.load_balancer_class();
  if (rules_) {
    forging.patch.labels_not_reflected = rules_->filters.labels;
    forging.patch.annotations_not_reflected = rules_->filters.annotations;
  }
  return forging;
}

bool ClusterReflection::take_virtual_node(const kube::ObjectKey& key, const kube::Object* node) {
  if (!node || api::VirtualNode(*node).cluster_id() != home_.name) {
    differing_.erase(key);
    return nodes_of_provider_.erase(key) > 0;
  }
  nodes_of_provider_.insert_or_assign(key, kube::Object(*node));
  return true;
}

void ClusterReflection::read_rules() {
  std::vector<kube::Object> nodes;
  nodes.reserve(nodes_of_provider_.size());
  for (const auto& [key, node] : nodes_of_provider_) nodes.push_back(node);
  const kube::Object* decides = core::reflection::filters_decided_by(nodes, home_.name);
  if (!decides) return;
  const bool reflects = decides->ns() == home_.ns;
  if (std::exchange(reflects_, reflects) != reflects)
    log_.info(reflects_ ? "copies are made" : "copies are made for another tenant namespace of the provider",
              {{"oldest", decides->name()}});
  std::set<std::string> names;
  if (reflects_)
    for (const kube::Object& node : nodes) names.insert(std::string(node.name()));
  references_.set_nodes(names);
  if (reflects_) take_rules(*decides);
  reflect_mapped();
}

kube::Result<ClusterReflection::Rules> ClusterReflection::rules_of(const kube::Object& virtual_node) const {
  KUBE_TRY(options, templates_.of(virtual_node));
  const kube::Object* found = options ? &*options : nullptr;
  const Settings& settings = context_.settings;
  Rules rules{.filters = core::reflection::filters_of(virtual_node, found, settings.reflection.not_reflected),
              .policies = {.policies = settings.reflection.kinds, .mistakes = {}}};
  if (found) {
    std::vector<std::string> custom;
    custom.reserve(settings.reflection.custom_resources.size());
    for (const core::reflection::CustomResource& resource : settings.reflection.custom_resources)
      custom.push_back(resource.name());
    rules.policies = core::reflection::policies_under(settings.reflection.kinds, *found, custom);
    rules.policies.not_followed =
        core::reflection::not_followed(*found, rules.policies.policies, custom,
                                       {.shows_addresses = settings.offloading.reflect_ips,
                                        .offers_storage = !settings.storage.storage_class.empty()});
  }
  return rules;
}

void ClusterReflection::take_rules(const kube::Object& decides) {
  // A template may forbid something that is allowed without it.
  if (!templates_.is_known()) return;
  auto rules = rules_of(decides);
  if (!rules) {
    warn(decides, api::reasons::options_template_missing,
         rules.error().text() + (rules_ ? ": what it said of reflection last goes on to hold"
                                        : ": nothing but pods is reflected until it does"));
  } else {
    if (rules_ != *rules) {
      rules_ = std::move(*rules);
      differing_.clear();
    }
    const std::string message = core::reflection::describe_mistakes(rules_->policies);
    if (message.empty()) {
      warned_.clear();
    } else {
      warn(decides, api::reasons::reflection_policy_invalid, message);
    }
  }
  if (!rules_) return;
  for (const Reflecting& each : reflectors_) each.reflector->set_forging(forging_of(&decides));
  switch_kinds();
  report_differences(decides);
  report_custom_state(decides);
}

void ClusterReflection::switch_kinds() {
  for (Reflecting& each : reflectors_) {
    const core::reflection::KindPolicy policy = rules_->policies.policies.of(each.reflector->kind());
    each.reflector->set_policy(policy);
    const bool is_on = each.is_served && policy.workers > 0;
    if (std::exchange(each.is_on, is_on) == is_on) continue;
    // At the beginning all kinds are reflected, which is not worth a log line.
    if (!each.is_on || !reflected_.empty())
      log_.info(each.is_on ? "kind is reflected" : "kind is not reflected", {{"kind", each.reflector->kind().name}});
    for (const auto& [local, remote] : reflected_) {
      if (each.is_on) {
        each.reflector->start_namespace(local, remote);
        report_references(local);
      } else {
        each.reflector->stop_namespace(local);
      }
    }
  }
}

void ClusterReflection::report_differences(const kube::Object& decides) {
  for (const auto& [key, node] : nodes_of_provider_) {
    auto own = rules_of(node);
    if (!own) continue;
    const auto reported = differing_.find(key);
    // A rule that no virtual node follows is no difference.
    own->policies.not_followed = rules_->policies.not_followed;
    if (*own == *rules_) {
      if (reported != differing_.end()) differing_.erase(reported);
      continue;
    }
    if (reported != differing_.end() && reported->second == *own) continue;
    differing_.insert_or_assign(key, std::move(*own));
    context_.events.warning(
        node, api::kinds::virtual_nodes, api::reasons::filters_differ,
        "labelsNotReflected and annotationsNotReflected of this virtual node apply to its pods only, "
        "and what its VkOptionsTemplate says of kinds has no effect: reflected objects are shared "
        "by all virtual nodes of cluster " +
            home_.name + ", and follow the oldest, " + std::string(decides.name()));
  }
}

void ClusterReflection::report_custom_state(const kube::Object& decides) {
  if (context_.settings.reflection.custom_resources.empty()) return;
  core::CustomState state = custom_state();
  const bool is_bad = state.reflected == core::CustomState::Reflected::no;
  const bool is_news = reported_custom_.reflected != state.reflected || !reported_custom_at_ ||
                       context_.clock.now() - *reported_custom_at_ >= report_again_after;
  // Part of the message comes from the provider, and may change at each look: the condition of the Node has it.
  if (state == reported_custom_ || (is_bad && !is_news)) return;
  if (is_bad) {
    context_.events.warning(decides, api::kinds::virtual_nodes, api::reasons::custom_not_reflected, state.message);
    reported_custom_at_ = context_.clock.now();
  }
  reported_custom_ = std::move(state);
}

void ClusterReflection::warn(const kube::Object& virtual_node, std::string_view reason, std::string message) {
  if (warned_ == message) return;
  log_.warn("what is reflected is not as it was meant", {{"reason", message}});
  context_.events.warning(virtual_node, api::kinds::virtual_nodes, reason, message);
  warned_ = std::move(message);
}

asio::awaitable<void> ClusterReflection::read_rules_first() {
  while (!templates_.is_known()) co_await context_.clock.sleep(std::chrono::milliseconds(200));
  read_rules();
}

void ClusterReflection::set_mapping(core::NamespaceMapping mapping) {
  mapping_ = std::move(mapping);
  reflect_mapped();
}

void ClusterReflection::reflect_mapped() {
  const bool reflects = reflects_ && rules_;
  for (auto known = reflected_.begin(); known != reflected_.end();) {
    const std::string* remote = reflects ? mapping_.to_remote(known->first) : nullptr;
    if (remote && *remote == known->second) {
      ++known;
      continue;
    }
    log_.info("namespace is reflected no longer", {{"namespace", known->first}, {"twin", known->second}});
    for (const Reflecting& each : reflectors_) each.reflector->stop_namespace(known->first);
    copy_events_.stop_namespace(known->first);
    for (const core::reflection::CustomResource& resource : context_.settings.reflection.custom_resources)
      provider_.statuses.remove({resource.name(), known->first}, source_);
    known = reflected_.erase(known);
  }
  if (!reflects) return;
  const bool has_endpoints = std::ranges::any_of(
      reflectors_, [](const Reflecting& each) { return each.is_on && each.reflector->kind().needs_endpoints; });
  if (!mapping_.entries().empty() && context_.settings.offloading.reflect_ips && has_endpoints) endpoints_.start();
  for (const auto& [local, remote] : mapping_.entries()) {
    if (reflected_.contains(local)) continue;
    log_.info("namespace is reflected", {{"namespace", local}, {"twin", remote}});
    for (const Reflecting& each : reflectors_)
      if (each.is_on) each.reflector->start_namespace(local, remote);
    copy_events_.start_namespace(local, remote);
    reflected_[local] = remote;
    report_references(local);
  }
  offer_statuses();
}

void ClusterReflection::offer_statuses() {
  for (const core::reflection::CustomResource& resource : context_.settings.reflection.custom_resources) {
    const std::string name = resource.name();
    const auto found = custom_kinds_.findings().find(name);
    // A provider that has not answered yet about the kind does not count as refusing it: the statuses of its copies
    // stay meanwhile.
    const bool is_refused =
        found != custom_kinds_.findings().end() && (!found->second.kind || !found->second.is_permitted);
    const core::reflection::ReflectedKind named{.name = name, .resource = {}, .forge = nullptr};
    const bool is_taken = !is_refused && rules_->policies.policies.of(named).workers > 0;
    for (const auto& [local, remote] : reflected_) {
      if (is_taken)
        provider_.statuses.add({name, local}, source_);
      else
        provider_.statuses.remove({name, local}, source_);
    }
  }
}

void ClusterReflection::report_references(const std::string& ns) {
  const std::set<std::string> names = references_.of(ns);
  const std::set<std::string> by_pods = references_.named_by_pods(ns);
  for (const Reflecting& each : reflectors_)
    each.reflector->set_references(ns, names, references_.needs_all(ns), by_pods);
}

}  // namespace liqo::controllers
