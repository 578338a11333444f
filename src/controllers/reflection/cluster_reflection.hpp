// What is copied to one provider besides pods: which kinds, of which namespaces, by which rules.
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

/// Owns one Reflector for each kind of the table and for each custom one, and tells them what holds. Copies are shared
/// by all virtual nodes of a provider, so the oldest says what is reflected and what copies leave out. One thread.
class ClusterReflection {
 public:
  /// What it writes to, and counts in; all outlive it.
  struct Provider {
    kube::Api& api;
    kube::StoreBudget& stores;
    WriteBudget& home_writes;  ///< what its word may cause at home
    StatusSources& statuses;
    TwinWatches& twins;
    kube::async::Slots& home_lists;   ///< for listing at home what is copied
    std::function<bool()> may_begin;  ///< whether seeing to copies may begin
  };
  /// `home`: the tenant namespace here, and the cluster that it is of.
  ClusterReflection(kube::ObjectKey home, Provider provider, Context context);

  ~ClusterReflection();

  /// Reflects while this process leads, by workers that are stopped before this is destroyed.
  void start(SessionWorkers& workers);
  void set_mapping(core::NamespaceMapping mapping);
  /// The Configurations of the provider in its tenant namespace.
  void set_network(std::span<const kube::Object> configurations) { endpoints_.set_network(configurations); }
  bool is_busy() const;
  /// How the custom resources that are configured are reflected.
  core::CustomState custom_state() const { return custom_kinds_.state(); }
  /// Called when that changes. Must not suspend.
  void on_custom_change(std::function<void()> handler) { custom_changed_ = std::move(handler); }

 private:
  /// What holds for one VirtualNode, itself and its VkOptionsTemplate considered.
  struct Rules {
    core::ReflectionFilters filters;
    reflection::TemplatePolicies policies;
    bool operator==(const Rules&) const = default;
  };
  /// One for each kind. One that is off has no namespaces.
  struct Reflecting {
    std::unique_ptr<reflector::Reflector> reflector;
    bool is_on = false;
    bool is_served = true;  ///< by both clusters, in this version
  };

  Reflecting& add_kind(const reflection::ReflectedKind& kind);
  void run(reflector::Reflector& reflector);
  void take_custom_kinds();

  /// Notes a VirtualNode of this provider, null where it is gone; false where it is of another one.
  bool take_virtual_node(const kube::ObjectKey& key, const kube::Object* node);
  void read_rules();
  kube::Result<Rules> rules_of(const kube::Object& virtual_node) const;
  /// Takes what the VirtualNode that decides says.
  void take_rules(const kube::Object& decides);
  void switch_kinds();
  /// Tells those virtual nodes that follow other rules than hold for copies.
  void tell_differences(const kube::Object& decides);
  void tell_custom_state(const kube::Object& decides);
  void warn(const kube::Object& virtual_node, std::string_view reason, std::string message);
  asio::awaitable<void> read_rules_first();
  /// Has the namespaces reflected that are mapped, where their rules are known.
  void reflect_mapped();
  /// Says of which kinds and namespaces statuses may come home from here: another provider may take what this one does
  /// not.
  void offer_statuses();
  void tell_references(const std::string& ns);
  core::ForgingContext forging_of(const kube::Object* decides) const;
  /// Whether something of a namespace is in its twin that its users have put there, claims too.
  bool has_copies(const std::string& local) const;
  /// Whether none of our pods is in the twin of a namespace, and nothing was copied there but what every namespace has.
  bool is_quiet(const std::string& local) const;
  /// Has all look at the twin of a namespace that was quiet.
  void end_quiet(const std::string& local);
  CopyEvents::Found find_copy(const std::string& local, const core::CopyWarning& warning) const;

  kube::ObjectKey home_;  ///< the tenant namespace here, and the cluster that it is of
  Provider provider_;
  Context context_;
  kube::InformerHandle virtual_nodes_;
  kube::InformerHandle claims_;  ///< at home; none where there is no storage
  OptionsTemplates templates_;
  SecretReferences references_;
  HomeEndpointWatch endpoints_;
  StatusSources::Source source_;  ///< as which it brings statuses home
  CustomKinds custom_kinds_;
  std::function<void()> custom_changed_;
  std::vector<Reflecting> reflectors_;
  CopyEvents copy_events_;
  SessionWorkers* workers_ = nullptr;  ///< that reflect
  core::NamespaceMapping mapping_;
  std::map<std::string, std::string> reflected_;               ///< given to the reflectors, local to remote
  std::map<kube::ObjectKey, kube::Object> nodes_of_provider_;  ///< all VirtualNodes of this provider
  bool reflects_ = false;       ///< the oldest VirtualNode of the provider is in this tenant namespace
  std::optional<Rules> rules_;  ///< that hold for copies; none: they are not known, and nothing is reflected
  std::map<kube::ObjectKey, Rules> differing_;  ///< what those say that were told that it does not hold
  std::string warned_;                          ///< what was last told of the rules
  core::CustomState told_custom_;               ///< what was last told of custom resources, and when
  std::optional<kube::TimePoint> told_custom_at_;
  kube::Log log_;
};

}  // namespace liqo::controllers
