// Reflection to one provider, besides pods: the kinds, namespaces and rules.
// Tested by test/sim/reflection_world.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/options_templates.hpp"
#include "controllers/links/provider_budget.hpp"
#include "controllers/links/session_workers.hpp"
#include "controllers/links/twin_watches.hpp"
#include "controllers/reflection/copy_events.hpp"
#include "controllers/reflection/custom_kinds.hpp"
#include "controllers/reflection/home_endpoint_watch.hpp"
#include "controllers/reflection/reflector.hpp"
#include "controllers/reflection/secret_references.hpp"
#include "controllers/reflection/status_sources.hpp"
#include "core/namespaces/namespace_mapping.hpp"

namespace liqo::controllers {

/// Owns one Reflector for each kind of the table and for each custom one, and keeps their rules up to date. Copies are
/// shared by all virtual nodes of a provider, so the oldest decides what is reflected and what copies leave out. One
/// thread.
class ClusterReflection {
 public:
  /// Access to the provider, and the budgets to which its cost counts. All outlive the ClusterReflection.
  struct Provider {
    kube::Api& api;
    kube::StoreBudget& stores;
    WriteBudget& home_writes;  ///< bounds writes at home that it causes
    StatusSources& statuses;
    TwinWatches& twins;
    TwinOwners& owners;
    kube::async::Slots& home_lists;   ///< for lists at home of objects to copy
    std::function<bool()> may_begin;  ///< whether work on copies may begin
  };
  /// `home`: the tenant namespace here, and the ID of its cluster.
  ClusterReflection(kube::ObjectKey home, Provider provider, Context context);

  ~ClusterReflection();

  /// Reflects while this process leads. The workers must be stopped before this is destroyed.
  void start(SessionWorkers& workers);
  void set_mapping(core::NamespaceMapping mapping);
  /// Sets the Configurations of the provider in its tenant namespace.
  void set_network(std::span<const kube::Object> configurations) { endpoints_.set_network(configurations); }
  /// Sets how the addresses of the provider's pods are shown at home.
  void set_shown(const core::PeerAddresses& shown) { endpoints_.set_shown(shown); }
  bool is_busy() const;
  /// How the configured custom resources are reflected.
  core::CustomState custom_state() const { return custom_kinds_.state(); }
  /// Sets a handler that is called when custom_state() changes. Must not suspend.
  void on_custom_change(std::function<void()> handler) { custom_changed_ = std::move(handler); }

 private:
  /// The rules for one VirtualNode, from itself and its VkOptionsTemplate.
  struct Rules {
    core::reflection::ReflectionFilters filters;
    core::reflection::TemplatePolicies policies;
    bool operator==(const Rules&) const = default;
  };
  /// There is one for each kind. A kind that is off has no namespaces.
  struct Reflecting {
    std::unique_ptr<Reflector> reflector;
    bool is_on = false;
    bool is_served = true;  ///< by both clusters, in this version
  };

  Reflecting& add_kind(const core::reflection::ReflectedKind& kind);
  void run(Reflector& reflector);
  void take_custom_kinds();

  /// Notes a VirtualNode of this provider, null if it is gone; false if it belongs to another provider.
  bool take_virtual_node(const kube::ObjectKey& key, const kube::Object* node);
  void read_rules();
  kube::Result<Rules> rules_of(const kube::Object& virtual_node) const;
  /// Takes over the rules of the VirtualNode that decides.
  void take_rules(const kube::Object& decides);
  void switch_kinds();
  /// Reports to the other virtual nodes that copies do not follow their rules.
  void report_differences(const kube::Object& decides);
  void report_custom_state(const kube::Object& decides);
  void warn(const kube::Object& virtual_node, std::string_view reason, std::string message);
  asio::awaitable<void> read_rules_first();
  /// Reflects the mapped namespaces, if the rules are known.
  void reflect_mapped();
  /// Registers the kinds and namespaces whose statuses may come home from this provider. Another provider may take the
  /// ones that this one does not.
  void offer_statuses();
  void report_references(const std::string& ns);
  core::ForgingContext forging_of(const kube::Object* decides) const;
  /// Whether the twin of a namespace has copies of its users' objects, including claims.
  bool has_copies(const std::string& local) const;
  /// Whether the twin of a namespace has none of our pods, and no copies but those that every namespace has.
  bool is_quiet(const std::string& local) const;
  /// Makes all Reflectors look at the twin of a namespace, because it is no longer quiet.
  void end_quiet(const std::string& local);
  CopyEvents::Found find_copy(const std::string& local, const core::reflection::CopyWarning& warning) const;

  kube::ObjectKey home_;  ///< the tenant namespace here, and the ID of its cluster
  Provider provider_;
  Context context_;
  kube::InformerHandle virtual_nodes_, offloadings_;
  kube::InformerHandle claims_;  ///< at home; none if there is no storage
  OptionsTemplates templates_;
  SecretReferences references_;
  HomeEndpointWatch endpoints_;
  StatusSources::Source source_;  ///< its entry in the StatusSources
  CustomKinds custom_kinds_;
  std::function<void()> custom_changed_;
  std::vector<Reflecting> reflectors_;
  CopyEvents copy_events_;
  SessionWorkers* workers_ = nullptr;  ///< run the Reflectors
  core::NamespaceMapping mapping_;
  std::map<std::string, std::string> reflected_;               ///< the namespaces that are reflected, local to remote
  std::map<kube::ObjectKey, kube::Object> nodes_of_provider_;  ///< all VirtualNodes of this provider
  bool reflects_ = false;                       ///< the oldest VirtualNode of the provider is in this tenant namespace
  std::optional<Rules> rules_;                  ///< of copies; none: they are not known, and nothing is reflected
  std::map<kube::ObjectKey, Rules> differing_;  ///< of virtual nodes to which it was reported that theirs do not hold
  std::string warned_;                          ///< the last warning about the rules
  core::CustomState reported_custom_;           ///< what was last reported of custom resources, and when
  std::optional<kube::TimePoint> reported_custom_at_;
  kube::Log log_;
};

}  // namespace liqo::controllers
