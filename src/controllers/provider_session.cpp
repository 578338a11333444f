#include "liqo/controllers/provider_session.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <set>

#include "is_older.hpp"
#include "known.hpp"
#include "liqo/api/foreign_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/virtual_node.hpp"
#include "liqo/core/foreign_cluster.hpp"

namespace liqo::controllers {

ProviderSession::ProviderSession(const asio::any_io_executor& executor, std::string tenant_namespace,
                                 core::ForgingContext forging, std::unique_ptr<ProviderLink> link,
                                 std::shared_ptr<ProviderBudget> budget, Context context)
    : context_(context),
      link_(std::move(link)),
      api_(
          link_->transport(), context.clock, context.random, context.metrics,
          {.cluster = forging.clusters.remote, .may_write = [&lead = context.leadership] { return lead.may_write(); }}),
      budget_(std::move(budget)),
      stores_(budget_->stores,
              [this] {
                if (overflown_) overflown_();
              }),
      provider_(executor, api_, context.metrics, &stores_),
      namespace_maps_(
          context.home.acquire({.resource = api::kinds::namespace_maps,
                                .ns = tenant_namespace,
                                .selection = {.label_selector = std::string(api::labels::remote_cluster_id) + "=" +
                                                                forging.clusters.remote}})),
      virtual_nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      templates_(context),
      foreign_clusters_(context.home.acquire({.resource = api::kinds::foreign_clusters})),
      configurations_(context.home.acquire({.resource = api::kinds::configurations})),
      ips_(context.home.acquire({.resource = api::kinds::ips, .ns = tenant_namespace})),
      tenant_namespace_(std::move(tenant_namespace)),
      pods_(executor, forging, provider_, budget_->home_writes, context),
      references_(context.home, [this](const std::string& ns) { tell_references(ns); }),
      endpoints_(
          context.home, context.settings.pod_cidrs, [this](const std::string& ns) { return reflected_.contains(ns); },
          [this](const std::string& ns) {
            for (const Reflecting& each : reflectors_)
              if (each.reflector->kind().needs_endpoints) each.reflector->reconsider(ns);
          }),
      workers_(executor),
      log_(kube::Log("provider").with("cluster", forging.clusters.remote).with("node", forging.node_name)) {
  health_.failure_threshold = context.settings.probe_failures;
  health_.network = core::ProviderHealth::Network::unchecked;
  const reflector::ReflectorContext reflecting{.home = context.home,
                                               .provider = api_,
                                               .stores = stores_,
                                               .events = context.events,
                                               .clock = context.clock,
                                               .random = context.random,
                                               .metrics = context.metrics};
  if (context.settings.reflect_ips) forging.endpoints = &endpoints_;
  for (const reflection::ReflectedKind* kind : reflection::reflected_kinds()) {
    auto reflector = std::make_unique<reflector::Reflector>(executor, *kind, reflection::SelectionPolicy::allow_list,
                                                            forging, reflecting);
    reflector->set_references_known([this] { return references_.has_synced(); });
    reflector->on_references([this, kind](const std::string& ns, const std::string& name, auto secrets) {
      references_.set(ns, std::string(kind->name) + "/" + name, std::move(secrets));
    });
    reflectors_.push_back({.reflector = std::move(reflector)});
  }
  namespace_maps_.subscribe([this](const kube::ObjectKey&) { read_mapping(); });
  virtual_nodes_.subscribe([this](const kube::ObjectKey& key) {
    if (take_sibling(key)) read_rules();
  });
  templates_.subscribe([this] { read_rules(); });
  for (const kube::ObjectKey& key : virtual_nodes_->store().keys()) take_sibling(key);
  read_rules();
  for (kube::InformerHandle* source : {&foreign_clusters_, &configurations_, &ips_})
    source->subscribe([this](const kube::ObjectKey&) { (void)read_addresses(); });
}

void ProviderSession::start() {
  workers_.spawn(provider_.run());
  workers_.spawn(kube::run_while_leading(context_.leadership, [this] { return pods_.run(); }));
  workers_.spawn(kube::run_while_leading(context_.leadership, [this] { return pods_.run_questions(); }));
  for (const Reflecting& each : reflectors_)
    workers_.spawn(kube::run_while_leading(context_.leadership, [kind = each.reflector.get()] { return kind->run(); }));
  workers_.spawn(probe());
  // The mapping counts only once the cache of NamespaceMaps is complete: before that, a namespace without a twin may
  // just not have been read yet.
  struct FirstRead {
    static asio::awaitable<void> run(ProviderSession& self) {
      co_await self.namespace_maps_->wait_synced();
      self.read_mapping();
    }
  };
  workers_.spawn(FirstRead::run(*this));
  workers_.spawn(read_addresses_first());
  workers_.spawn(read_rules_first());
}

std::string ProviderSession::overflow() const {
  if (!stores_.is_exceeded()) return {};
  return "Cluster " + pods_.forging().clusters.remote + " shows more than is held of a provider (" +
         std::to_string(stores_.limits().bytes >> 20) + " MiB, " + std::to_string(stores_.limits().objects) +
         " objects), last by " + stores_.exceeded_by() +
         ": have it removed there what does not belong to offloaded pods, or allow more with --provider-cache-mib and "
         "--provider-cache-objects. It is tried again in 5 minutes";
}

bool ProviderSession::is_busy() const {
  return pods_.is_busy() ||
         std::ranges::any_of(reflectors_, [](const auto& kind) { return kind.reflector->is_busy(); });
}

asio::awaitable<void> ProviderSession::stop() {
  co_await workers_.stop();
  co_await link_->stop();
}

bool ProviderSession::take_sibling(const kube::ObjectKey& key) {
  auto node = virtual_nodes_->find(key);
  if (!node || api::VirtualNode(*node).cluster_id() != pods_.forging().clusters.remote) return siblings_.erase(key) > 0;
  siblings_.insert_or_assign(key, std::move(*node));
  return true;
}

void ProviderSession::read_rules() {
  std::vector<kube::Object> nodes;
  nodes.reserve(siblings_.size());
  for (const auto& [key, node] : siblings_) nodes.push_back(node);
  const core::ForgingContext& own = pods_.forging();
  const kube::Object* decides = core::filters_decided_by(nodes, own.clusters.remote);
  if (!decides) return;
  take_rules(*decides, nodes);
  const bool reflects = decides->name() == own.node_name;
  std::set<std::string> names;
  if (reflects)
    for (const kube::Object& node : nodes) names.insert(std::string(node.name()));
  references_.set_nodes(names);
  if (reflects != std::exchange(reflects_, reflects))
    log_.info(reflects ? "this virtual node's session makes the copies"
                       : "the session of another virtual node makes the copies",
              {{"oldest", decides->name()}});
  reflect_mapped();
}

kube::Result<ProviderSession::Rules> ProviderSession::rules_of(const kube::Object& virtual_node) const {
  auto options = templates_.of(virtual_node);
  if (!options) return std::unexpected(std::move(options.error()));
  const kube::Object* found = *options ? &**options : nullptr;
  const Settings& settings = context_.settings;
  Rules rules{.filters = core::filters_of(virtual_node, found, settings.not_reflected),
              .policies = {.policies = settings.reflection, .mistakes = {}}};
  if (found) rules.policies = reflection::policies_under(settings.reflection, *found);
  return rules;
}

void ProviderSession::take_rules(const kube::Object& decides, const std::vector<kube::Object>& nodes) {
  // A template may forbid what is allowed without it.
  if (!templates_.is_known()) return;
  const core::ForgingContext& own = pods_.forging();
  const bool is_own = decides.name() == own.node_name;
  auto rules = rules_of(decides);
  if (!rules) {
    if (is_own)
      warn(decides, api::reasons::options_template_missing,
           rules.error().text() + (rules_ ? ": what it said of reflection last goes on to hold"
                                          : ": nothing but pods is reflected until it does"));
    return;
  }
  if (rules_ == *rules) return;
  rules_ = std::move(*rules);
  if (is_own && !rules_->policies.mistakes.empty()) {
    std::string message = "Of the VkOptionsTemplate";
    for (const std::string& mistake : rules_->policies.mistakes)
      message += (&mistake == &rules_->policies.mistakes.front() ? " " : ", ") + mistake;
    warn(decides, api::reasons::reflection_policy_invalid, message + ": these kinds are not reflected");
  } else {
    warned_.clear();
  }
  for (const kube::Object& node : nodes) {
    if (node.name() != own.node_name) continue;
    const auto mine = rules_of(node);
    if (mine && *mine != *rules_)
      context_.events.warning(node, api::kinds::virtual_nodes, api::reasons::filters_differ,
                              "What labelsNotReflected and annotationsNotReflected of this virtual node say holds for "
                              "its pods only, and what its VkOptionsTemplate says of kinds for nothing. Reflected "
                              "objects are shared by all virtual nodes of cluster " +
                                  own.clusters.remote + ": for them holds what the oldest says, " +
                                  std::string(decides.name()));
  }
  for (Reflecting& each : reflectors_) {
    const reflection::KindPolicy policy = rules_->policies.policies.of(each.reflector->kind());
    each.reflector->set_filters(rules_->filters);
    each.reflector->set_policy(policy);
    if (each.is_on == (policy.workers > 0)) continue;
    each.is_on = policy.workers > 0;
    // That all kinds are when a session begins is as it should be.
    if (!each.is_on || !reflected_.empty())
      log_.info(each.is_on ? "kind is reflected" : "kind is not reflected", {{"kind", each.reflector->kind().name}});
    for (const auto& [local, remote] : reflected_) {
      if (each.is_on) {
        each.reflector->start_namespace(local, remote);
        tell_references(local);
      } else {
        each.reflector->stop_namespace(local);
      }
    }
  }
}

void ProviderSession::warn(const kube::Object& virtual_node, std::string_view reason, std::string message) {
  if (warned_ == message) return;
  log_.warn("what is reflected is not as it was meant", {{"reason", message}});
  context_.events.warning(virtual_node, api::kinds::virtual_nodes, reason, message);
  warned_ = std::move(message);
}

void ProviderSession::reflect_mapped() {
  const core::NamespaceMapping& mapping = pods_.mapping();
  const bool reflects = reflects_ && rules_;
  for (auto known = reflected_.begin(); known != reflected_.end();) {
    const std::string* remote = reflects ? mapping.to_remote(known->first) : nullptr;
    if (remote && *remote == known->second) {
      ++known;
      continue;
    }
    log_.info("namespace is reflected no longer", {{"namespace", known->first}, {"twin", known->second}});
    for (const Reflecting& each : reflectors_) each.reflector->stop_namespace(known->first);
    known = reflected_.erase(known);
  }
  if (!reflects) return;
  const bool has_endpoints = std::ranges::any_of(
      reflectors_, [](const Reflecting& each) { return each.is_on && each.reflector->kind().needs_endpoints; });
  if (!mapping.entries().empty() && context_.settings.reflect_ips && has_endpoints) endpoints_.start();
  for (const auto& [local, remote] : mapping.entries()) {
    if (reflected_.contains(local)) continue;
    log_.info("namespace is reflected", {{"namespace", local}, {"twin", remote}});
    for (const Reflecting& each : reflectors_)
      if (each.is_on) each.reflector->start_namespace(local, remote);
    reflected_[local] = remote;
    tell_references(local);
  }
}

void ProviderSession::tell_references(const std::string& ns) {
  const std::set<std::string> names = references_.of(ns);
  for (const Reflecting& each : reflectors_) each.reflector->set_references(ns, names);
}

void ProviderSession::read_mapping() {
  if (!namespace_maps_->has_synced()) return;
  // Where both clusters lend to each other, the peer's map lies in the same namespace, and is the peer's word.
  std::vector<kube::Object> maps;
  for (const kube::ObjectKey& key : namespace_maps_->store().keys())
    if (auto found = namespace_maps_->find(key); found && found->label(api::labels::replicated) != "true")
      maps.push_back(std::move(*found));
  std::optional<kube::Object> map;
  for (kube::Object& found : maps)
    if (maps.size() == 1 || found.name() == pods_.forging().clusters.remote) map = std::move(found);
  if (!map && !maps.empty())
    log_.warn("several NamespaceMaps, and none is named after the cluster: none is used", {{"maps", maps.size()}});

  auto mapping =
      map ? core::NamespaceMapping::from(api::NamespaceMap(*map), &pods_.mapping()) : core::NamespaceMapping();
  for (const std::string& refusal : mapping.refused()) {
    log_.warn("a namespace mapping is refused", {{"reason", refusal}});
    context_.events.warning(*map, api::kinds::namespace_maps, api::reasons::failed_reflection, refusal);
  }
  pods_.set_mapping(std::move(mapping));
  reflect_mapped();
}

bool ProviderSession::read_addresses() {
  for (const kube::InformerHandle* source : {&foreign_clusters_, &configurations_, &ips_})
    if (!is_known_or_forbidden(**source)) return false;
  const std::string& cluster = pods_.forging().clusters.remote;
  // Of several ForeignClusters for one cluster the oldest counts, here as for its status.
  std::optional<kube::Object> peer;
  for (const kube::ObjectKey& key : foreign_clusters_->store().keys()) {
    auto found = foreign_clusters_->find(key);
    if (!found || api::ForeignCluster(*found).cluster_id() != cluster) continue;
    if (!peer || is_older(*found, *peer)) peer = std::move(*found);
  }
  // It is about to be made.
  if (!peer) return false;
  std::vector<kube::Object> configurations, ips;
  for (const kube::ObjectKey& key : configurations_->store().keys())
    if (auto found = configurations_->find(key);
        found && key.ns == tenant_namespace_ && found->label(api::labels::remote_cluster_id) == cluster)
      configurations.push_back(std::move(*found));
  for (const kube::ObjectKey& key : ips_->store().keys())
    if (auto found = ips_->find(key)) ips.push_back(std::move(*found));
  pods_.set_addresses(core::PeerAddresses::of(*peer, configurations, ips));
  endpoints_.set_network(configurations);
  pods_.set_withdrawal(core::withdrawal_note(*peer));
  return true;
}

asio::awaitable<void> ProviderSession::read_addresses_first() {
  // A kind that is not installed never completes a list, and nothing tells of that.
  while (!read_addresses()) co_await context_.clock.sleep(std::chrono::milliseconds(200));
}

asio::awaitable<void> ProviderSession::read_rules_first() {
  while (!templates_.is_known()) co_await context_.clock.sleep(std::chrono::milliseconds(200));
  read_rules();
}

asio::awaitable<void> ProviderSession::probe() {
  while (true) {
    const kube::TimePoint start = context_.clock.now();
    auto answer = co_await api_.raw("/livez", context_.settings.probe_timeout);
    // A server that knows us and forbids the path is alive; one that does not know us (401) is of no use.
    const bool alive = answer || answer.error().is_forbidden();
    const bool was_known = health_.probed;
    const bool was_alive = health_.failed_probes < health_.failure_threshold;
    health_.probed = true;
    if (alive) {
      health_.failed_probes = 0;
      health_.last_error.clear();
    } else {
      // Patience is for a provider that has answered before: one that never did is not Ready from the start.
      health_.failed_probes = was_known ? health_.failed_probes + 1 : health_.failure_threshold;
      health_.last_error = answer.error().text();
      if (answer.error().http_code() == 401)
        if (const std::string trouble = link_->credentials_trouble(context_.clock.wall()); !trouble.empty())
          health_.last_error += "; " + trouble;
    }
    const bool is_alive = health_.failed_probes < health_.failure_threshold;
    if (!was_known || was_alive != is_alive) {
      if (is_alive && alive) {
        log_.info("provider answers");
      } else {
        log_.warn("provider does not answer", {{"error", health_.last_error}, {"failures", health_.failed_probes}});
      }
      if (health_changed_) health_changed_();
    }
    co_await context_.clock.sleep_until(start + context_.settings.probe_interval);
  }
}

}  // namespace liqo::controllers
