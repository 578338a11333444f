// Keeps twins that hold data, whatever home's NamespaceMap says.
// Tested by test/unit/controllers/peering/twin_data_guard_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_link.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "controllers/storage/remote_data_watch.hpp"
#include "core/namespaces/held_twins.hpp"
#include "core/namespaces/withdrawn_twins.hpp"

namespace liqo::controllers {

/// Asked before a twin is withdrawn, with which all goes that is in it: whether home knows of data there, and, live,
/// which claims of ours the provider has there. The credentials of replication say nothing about twins; those of a
/// slice do, where there is one. A tenant namespace that is being deleted takes its twins with it. One thread.
class TwinDataGuard {
 public:
  /// What all sessions with providers share; outlives them.
  struct Home {
    ConnectProvider connect;
    const RemoteDataWatch& data;
    const TenantNamespaces& tenants;
  };
  TwinDataGuard(core::ReplicationPeer peer, const Home& home, Context context);

  /// Takes in an event of the cache of NamespaceMaps at home.
  void see(const kube::ObjectKey& key, const kube::Object* map);
  /// Forgets what was found of a replica that is gone, by the key of its map at home.
  void forget(const kube::ObjectKey& key) { verdicts_.erase(key); }

  /// What a look at one replica has found.
  struct Judgement {
    std::vector<core::WithdrawnTwin> withdrawn;  ///< what would go
    std::vector<core::KeptTwin> kept;            ///< what of it stays
    bool is_complete = true;                     ///< false: some wait for their turn to be looked at (again)
    std::optional<kube::Failure> failure = {};   ///< why some could not be looked at now
  };
  /// `local`: null where home has no such map. Answers at once where nothing would go, and soon otherwise: some twins
  /// are looked at, those first that were not looked at for the longest time. What is found holds for a while, also if
  /// this is cancelled. Of one map there must be no more than one at a time.
  asio::awaitable<Judgement> judge(std::optional<kube::Object> local, kube::Object replica);

 private:
  /// What is known of one twin.
  struct Verdict {
    core::WithdrawnTwin twin;                ///< as it was when it was looked at
    std::string why = {};                    ///< why it stays, "" = it may go
    std::optional<kube::TimePoint> at = {};  ///< when that was found; not set: no look has got an answer yet
    kube::TimePoint tried_at{};              ///< when the last look began, whatever came of it
  };
  using Verdicts = std::map<std::string, Verdict, std::less<>>;  ///< by local namespace
  /// Credentials of a slice, and the connection that is made with them when they are first needed.
  struct Way {
    kube::Object secret;
    std::unique_ptr<ProviderLink> link;
  };
  /// Some looks, one after the other, over the same connections.
  struct Round {
    std::vector<Way> ways;
    kube::TimePoint began;
    bool is_complete = false;
    std::optional<kube::Failure> failure = {};
  };
  core::HeldTwins held(const std::vector<core::WithdrawnTwin>& withdrawn) const;
  /// Drops the verdicts of what is not withdrawn any more, or is withdrawn in another way.
  void prune(const kube::ObjectKey& key, const std::vector<core::WithdrawnTwin>& withdrawn);
  /// Which twins are to be looked at, in that order.
  std::vector<core::WithdrawnTwin> due(const kube::ObjectKey& key, const std::vector<core::WithdrawnTwin>& withdrawn);
  Round begin_round() const;
  asio::awaitable<void> look_in_turn(kube::ObjectKey key, std::vector<core::WithdrawnTwin> due, Round& round);
  static asio::awaitable<void> end(Round& round);
  /// Those of our claims in a twin that nothing at home accounts for.
  asio::awaitable<kube::Result<core::StrayClaims>> look(Round& round, core::WithdrawnTwin twin);
  asio::awaitable<kube::Result<core::StrayClaims>> list_strays(ProviderLink& link, core::WithdrawnTwin twin);

  core::ReplicationPeer peer_;
  const Home& home_;
  Context context_;
  std::map<kube::ObjectKey, core::AskedTwins> asked_;  ///< by map at home
  std::map<kube::ObjectKey, Verdicts> verdicts_;       ///< likewise: of the twins that are withdrawn
};

}  // namespace liqo::controllers
