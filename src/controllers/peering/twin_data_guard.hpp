// Keeps twins that hold data, even if home's NamespaceMap does not ask for them.
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

/// Called before a twin is withdrawn, because everything in the twin goes with it. It checks whether home knows of data
/// there, and reads live which claims of ours the provider has there. The credentials of replication cannot read twins;
/// those of a slice can, if there is one. A tenant namespace that is being deleted takes its twins with it. One thread.
class TwinDataGuard {
 public:
  /// Shared by all sessions with providers; outlives them.
  struct Home {
    ConnectProvider connect;
    const RemoteDataWatch& data;
    const TenantNamespaces& tenants;
  };
  TwinDataGuard(core::ReplicationPeer peer, const Home& home, Context context);

  /// Takes in an event of the cache of NamespaceMaps at home.
  void see(const kube::ObjectKey& key, const kube::Object* map);
  /// Forgets the verdicts on a replica that is gone, by the key of its map at home.
  void forget(const kube::ObjectKey& key) { verdicts_.erase(key); }

  /// The judgement of one replica.
  struct Judgement {
    std::vector<core::WithdrawnTwin> withdrawn;  ///< the twins that would go
    std::vector<core::KeptTwin> kept;            ///< those of them that stay
    bool is_complete = true;                     ///< false: some wait for their turn to be looked at (again)
    std::optional<kube::Failure> failure = {};   ///< why some could not be looked at now
  };
  /// `local`: null if home has no such map. Returns at once if nothing would go, and soon otherwise: it looks at some
  /// twins, those first that were not looked at for the longest time. The findings hold for a while, even if this is
  /// cancelled. There must be at most one call at a time for each map.
  asio::awaitable<Judgement> judge(std::optional<kube::Object> local, kube::Object replica);

 private:
  /// The verdict on one twin.
  struct Verdict {
    core::WithdrawnTwin twin;                ///< as it was when it was looked at
    std::string why = {};                    ///< why it stays, "" = it may go
    std::optional<kube::TimePoint> at = {};  ///< when that was found; not set: no look has had an answer yet
    kube::TimePoint tried_at{};              ///< when the last look began, successful or not
  };
  using Verdicts = std::map<std::string, Verdict, std::less<>>;  ///< by local namespace
  /// Credentials of a slice, and the connection that is made with them when they are first needed.
  struct Way {
    kube::Object secret;
    std::unique_ptr<ProviderLink> link;
  };
  /// A round of looks, one after the other, over the same connections.
  struct Round {
    std::vector<Way> ways;
    kube::TimePoint began;
    bool is_complete = false;
    std::optional<kube::Failure> failure = {};
  };
  core::HeldTwins held(const std::vector<core::WithdrawnTwin>& withdrawn) const;
  /// Drops the verdicts on twins that are not withdrawn any more, or are withdrawn in another way.
  void prune(const kube::ObjectKey& key, const std::vector<core::WithdrawnTwin>& withdrawn);
  /// The twins to be looked at, in that order.
  std::vector<core::WithdrawnTwin> due(const kube::ObjectKey& key, const std::vector<core::WithdrawnTwin>& withdrawn);
  Round begin_round() const;
  asio::awaitable<void> look_in_turn(kube::ObjectKey key, std::vector<core::WithdrawnTwin> due, Round& round);
  static asio::awaitable<void> end(Round& round);
  /// Finds our claims in a twin for which nothing at home accounts.
  asio::awaitable<kube::Result<core::StrayClaims>> look(Round& round, core::WithdrawnTwin twin);
  asio::awaitable<kube::Result<core::StrayClaims>> list_strays(ProviderLink& link, core::WithdrawnTwin twin);

  core::ReplicationPeer peer_;
  const Home& home_;
  Context context_;
  std::map<kube::ObjectKey, core::AskedTwins> asked_;  ///< by map at home
  std::map<kube::ObjectKey, Verdicts> verdicts_;       ///< on the withdrawn twins, by map at home
};

}  // namespace liqo::controllers
