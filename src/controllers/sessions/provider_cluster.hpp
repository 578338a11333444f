// The state that the virtual nodes of one provider share: caches, reflected objects, and the budget that bounds both.
// Tested by test/unit/controllers/sessions/provider_sessions_test.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "controllers/links/provider_budget.hpp"
#include "controllers/links/shared_link.hpp"
#include "controllers/links/twin_owners.hpp"
#include "controllers/offloading/disruption_budgets.hpp"
#include "controllers/offloading/pod.hpp"
#include "controllers/reflection/cluster_reflection.hpp"
#include "kube/async/slots.hpp"

namespace liqo::controllers {

/// One provider as this cluster sees it. A twin namespace has one watch each of ShadowPods and Pods (and of Secrets
/// with tokens, if pods have some), however many virtual nodes and reflected kinds there are. It reads, and writes
/// copies, over the connection of one of the virtual nodes, because all of them have the same rights. Failures and
/// delays here affect no other provider. It has no state that a restart loses. One thread.
class ProviderCluster {
 public:
  /// `home`: the tenant namespace here, and the ID of its cluster. `statuses` and `home_lists` outlive it; the latter
  /// bounds how many lists of objects to copy run at home at a time. `may_begin`: whether reading the provider may
  /// begin.
  ProviderCluster(kube::ObjectKey home, std::shared_ptr<ProviderBudget> budget, StatusSources& statuses,
                  kube::async::Slots& home_lists, std::function<bool()> may_begin, Context context);

  /// Starts watching and reflecting. Call stop() before destroying.
  void start();
  asio::awaitable<void> stop();

  /// The tenant namespace here, and the ID of its cluster.
  const kube::ObjectKey& home() const { return home_; }
  /// Uses this connection from now on. The caller must pass another one before it stops this one.
  void use(std::shared_ptr<ProviderLink> link) { link_.use(std::move(link)); }
  bool uses(const ProviderLink* link) const { return link_.uses(link); }
  /// The caches of the provider.
  kube::InformerSet& caches() { return caches_; }
  TwinWatches& twins() { return twins_; }
  /// The owners of what is written into the twins.
  TwinOwners& owners() { return owners_; }
  /// The budget of the provider, among other things for writes at home that it causes.
  ProviderBudget& budget() { return *budget_; }

  /// From now on keeps the pods of a virtual node up to date about the provider: mapping, addresses, withdrawal.
  void join(PodController& pods);
  void leave(PodController& pods) { pods_.erase(&pods); }

  /// Why it cannot go on, as a sentence: the provider has more objects than its budget allows. "" = it can.
  std::string overflow() const { return describe_overflow(stores_, home_.name); }
  /// Why a list or watch cannot go on although the provider answers, as a sentence: the answer takes more memory than
  /// there is for the answers of one provider. "" = all can.
  std::string blockage() const;
  /// The error that ended one of its workers, so that it has to be made again; "" = all run.
  const std::string& loss() const { return workers_.loss(); }
  /// Sets the handler that is called when overflow() or loss() becomes non-empty. Must not suspend.
  void on_end(std::function<void()> handler);
  bool is_busy() const { return reflection_.is_busy() || budgets_.is_busy(); }
  /// How custom resources are reflected.
  core::CustomState custom_state() const { return reflection_.custom_state(); }
  void on_custom_change(std::function<void()> handler) { reflection_.on_custom_change(std::move(handler)); }

 private:
  void read_mapping();
  asio::awaitable<void> read_mapping_first();
  /// Passes the declared addresses to the pods, once the objects that declare them are known. Returns whether they are.
  bool read_addresses();
  asio::awaitable<void> read_addresses_first();
  void notify_addresses(PodController& pods) const;

  kube::ObjectKey home_;  ///< the tenant namespace here, and the cluster that it is of
  Context context_;
  SharedLink link_;
  kube::Api provider_api_;
  std::shared_ptr<ProviderBudget> budget_;
  std::function<void()> ended_;
  kube::StoreBudget stores_;
  kube::InformerSet caches_;
  TwinWatches twins_;
  TwinOwners owners_;
  kube::InformerHandle namespace_maps_;
  kube::InformerHandle foreign_clusters_, configurations_, ips_;  ///< these declare the provider's addresses
  ClusterReflection reflection_;
  DisruptionBudgets budgets_;
  std::set<PodController*> pods_;  ///< of its virtual nodes that have a session
  std::optional<core::NamespaceMapping> mapping_;
  std::optional<core::PeerAddresses> addresses_;
  std::string withdrawal_;
  core::SilenceNote silence_;
  SessionWorkers workers_;
  kube::Log log_;
};

}  // namespace liqo::controllers
