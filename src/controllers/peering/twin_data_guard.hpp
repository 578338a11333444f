// Keeps twins that hold data, whatever home's NamespaceMap says.
// Tested by test/unit/controllers/peering/twin_data_guard_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/peering/tenant_namespace.hpp"
#include "controllers/storage/remote_data_watch.hpp"
#include "liqo/controllers/context.hpp"
#include "liqo/controllers/providers/provider_link.hpp"
#include "liqo/core/peering/withdrawn_twins.hpp"

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

  /// What a look at one replica has found.
  struct Judgement {
    std::vector<core::WithdrawnTwin> withdrawn;  ///< what would go
    std::vector<core::KeptTwin> kept;            ///< what of it stays
    bool is_complete = true;                     ///< false: some are kept because they wait for their turn
    std::optional<kube::Failure> failure = {};   ///< why some could not be looked at now
  };
  /// `local`: null where home has no such map. Answers at once where nothing would go.
  asio::awaitable<Judgement> judge(std::optional<kube::Object> local, kube::Object replica);

 private:
  /// What a look has found, which holds for a while.
  struct Verdict {
    std::string remote, why;
    kube::TimePoint at;
  };
  using Verdicts = std::map<std::string, Verdict, std::less<>>;  ///< by local namespace
  /// Those of our claims in a twin that nothing at home accounts for.
  asio::awaitable<kube::Result<core::StrayClaims>> look(core::WithdrawnTwin twin);
  asio::awaitable<kube::Result<core::StrayClaims>> look_with(kube::Object secret, core::WithdrawnTwin twin);
  asio::awaitable<kube::Result<core::StrayClaims>> list_strays(ProviderLink& link, core::WithdrawnTwin twin);

  core::ReplicationPeer peer_;
  const Home& home_;
  Context context_;
  std::map<kube::ObjectKey, core::AskedTwins> asked_;  ///< by map at home
  std::map<kube::ObjectKey, Verdicts> verdicts_;       ///< likewise: of the twins that are kept
};

}  // namespace liqo::controllers
