// The orders of replication that wait for a provider to act.
// Tested by test/unit/controllers/peering/replication_test.cpp.
// Tested by test/unit/controllers/peering/silence_watch_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_orders.hpp"
#include "controllers/peering/silence_watch.hpp"
#include "core/peering/replication.hpp"
#include "kube/runtime/schedule.hpp"

namespace liqo::controllers {

/// Tracks which slices and twins wait for a provider, and reports on the slices if it does not act. One thread.
class ReplicationOrders {
 public:
  struct Reader {
    /// Whether the provider's API server answers, and has not taken our rights away.
    std::function<bool()> answers;
    /// Has everything that is replicated tried again. Must not suspend.
    std::function<void()> wake;
    /// Has one object tried again after a time. Must not suspend.
    std::function<void(const kube::WorkKey&, kube::Duration)> try_again;
    /// Called when silence() has changed. Must not suspend.
    std::function<void()> changed;
  };
  /// `provider` outlives this.
  ReplicationOrders(core::ReplicationPeer peer, kube::Api& provider, std::shared_ptr<ProviderOrders> orders,
                    Context context, Reader reader);

  /// Watches until cancelled whether the provider acts.
  asio::awaitable<void> run() { return silence_.run(); }
  /// The note about the provider, if it does not act; nothing while it is too early to judge.
  const std::optional<core::SilenceNote>& silence() const { return silence_.note(); }

  /// Notes which parts of a ResourceSlice or NamespaceMap wait, after it was reconciled; `local`: as it is at home, if
  /// the provider is to act on it.
  void see(const kube::WorkKey& work, const std::optional<kube::Object>& local,
           const std::optional<kube::Object>& remote);
  /// Notes that an object was reconciled.
  void note_end(const kube::WorkKey& work, bool has_failed);
  /// Notes whether the provider's API server could take a replica; null = it has.
  void note_taking(const kube::WorkKey& work, const kube::Failure* failure);
  /// Notes that a slice asks for something else now than what its replica was answered.
  void note_outdated(const kube::WorkKey& work, const kube::Object& replica);
  /// Forgets the answer to an object that is gone.
  void forget(const kube::WorkKey& work) { outdated_answers_.erase(work); }

 private:
  void see_slice(const kube::WorkKey& work, const std::optional<kube::Object>& local,
                 const std::optional<kube::Object>& remote);
  void see_map(const std::string& map, const std::optional<kube::Object>& local);
  /// `is_news`: reports the note to each waiting slice, too.
  void report_silence(bool is_news);
  /// The note in the ForeignCluster of the provider.
  core::SilenceNote standing_silence() const;
  /// The namespace of the Lease of the provider's leader, as far as it is declared.
  std::string declared_namespace() const;

  core::ReplicationPeer peer_;
  Context context_;
  Reader reader_;
  std::shared_ptr<ProviderOrders> provider_orders_;
  kube::InformerHandle slices_, foreign_clusters_;
  OrderBook orders_;
  std::map<std::string, std::set<std::string>> asked_;  ///< the namespaces for whose twins a map asks
  std::set<kube::WorkKey> not_taken_;  ///< those whose last replica the server of the provider could not take
  /// Of slices whose request has changed since it was answered: digests of these answers.
  std::map<kube::WorkKey, std::string> outdated_answers_;
  SilenceWatch silence_;
};

}  // namespace liqo::controllers
