// Applies a NamespaceOffloading: labels its namespace, so that admission changes the pods there, and writes its status.
// Tested by test/unit/controllers/namespaces/held_twins_test.cpp.
// Tested by test/unit/controllers/namespaces/crowd_test.cpp.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "controllers/common/context.hpp"
#include "controllers/common/crowd_pause.hpp"
#include "controllers/common/runnable.hpp"
#include "controllers/namespaces/earlier_pods.hpp"
#include "controllers/namespaces/knowing_providers.hpp"
#include "controllers/namespaces/offered_nodes.hpp"
#include "controllers/namespaces/reported_twins.hpp"
#include "controllers/namespaces/token_right.hpp"
#include "controllers/peering/peer_notices.hpp"
#include "controllers/storage/remote_data_watch.hpp"
#include "core/common/node_selector.hpp"
#include "core/namespaces/twin_states.hpp"
#include "kube/client/own_user.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// The consumer's half of namespace extension that people see; OutgoingNamespaceMapController asks for the twins.
/// Guarantees: a NamespaceOffloading goes only when no provider is asked for a twin any more and none has one left;
/// then its namespace is as it was. One thread.
class NamespaceOffloadingController final : public Runnable {
 public:
  explicit NamespaceOffloadingController(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// Gives the namespace back, and lets go of a NamespaceOffloading that is being deleted when no twin is left.
  asio::awaitable<kube::Outcome> withdraw(kube::Object offloading);
  /// Makes the namespace follow the NamespaceOffloading, and writes the state of its twins into the status.
  asio::awaitable<kube::Result<void>> extend(kube::Object offloading);
  asio::awaitable<kube::Result<void>> set_label(std::string ns, bool wanted);
  /// Lets this process read the Secrets of an offloaded namespace, and make tokens for its pods, as long as the
  /// NamespaceOffloading exists. Returns when to look again.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> enter(kube::Object offloading);
  asio::awaitable<kube::Result<void>> write_status(const kube::Object& offloading, const core::OffloadingFacts& facts);
  /// The state of the twin at every provider. A twin is required if it is asked for or if `selector` selects its
  /// provider (null: nothing, because it is invalid or being removed). `remote_name`: the name of the wanted twins, ""
  /// if there is none.
  std::vector<core::TwinState> twin_states(const kube::Object& offloading, const core::NodeSelector* selector,
                                           std::string_view remote_name);
  /// What pods do not find by names with the namespace in them, at the providers of `facts`.
  void add_names(const std::string& ns, std::vector<core::TwinState>& twins) const;
  void enqueue(const std::string& ns);
  /// Enqueues all, or those with these selectors: a few at once, and many when CrowdPause allows it.
  void enqueue_all();
  void enqueue_selecting(const std::vector<std::string>& selectors);
  /// Enqueues those that wait for their twin in that cluster.
  void enqueue_awaiting(const std::string& cluster);
  void enqueue_many();
  /// Enqueues what has been gathered, over several turns of the loop. If cancelled, the rest stays gathered.
  asio::awaitable<void> spread();

  Context context_;
  kube::OwnUser user_;
  RemoteDataWatch data_;
  PeerNotices notices_;
  kube::InformerHandle offloadings_, namespaces_, virtual_nodes_, nodes_, maps_, bindings_;
  OfferedNodes offered_;
  ReportedTwins twins_;
  KnowingProviders knowing_;
  /// What spread() enqueues: all, those with these selectors, and the namespaces that it has found and not reached yet.
  bool is_all_due_ = false;
  std::set<std::string> due_selectors_, due_;
  CrowdPause pause_;
  EarlierPods earlier_pods_;
  TokenRight token_right_;
  kube::Log log_{"namespaceoffloading"};
  kube::Controller controller_;
};

}  // namespace liqo::controllers
