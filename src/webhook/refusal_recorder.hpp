// Keeps what this cluster refuses its consumers where its administrator can read it: `liqoctl get refusals`.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/admission/refusal_ring.hpp"
#include "core/common/review.hpp"
#include "kube/async/event.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/leadership.hpp"
#include "kube/telemetry/log.hpp"
#include "kube/telemetry/repeats.hpp"
#include "webhook/callers.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// What a RefusalRecorder reads and writes with. Everything outlives it.
struct RefusalContext : kube::Environment {
  kube::InformerSet& home;
  kube::Api& replica_api;  ///< every replica writes what it has refused itself
  kube::Leadership& leadership;
  Callers* callers = nullptr;  ///< who asks; null = only API servers do, by their certificates
};

/// Notes what reviews refuse a consumer; while this process leads, also slices that are denied and ShadowPods whose Pod
/// is refused. The ConfigMap of each tenant namespace has the newest of it (core::admission::RefusalRing), to which all
/// replicas add by its resourceVersion, each at most once in `pause`. What is noted in the last `pause` before a
/// process dies is lost, and in the last two what callers sent that had to be proven; a write whose answer is lost
/// counts twice. Reviews count whose caller is proven to be an API server, or is listed as one by the cluster. One
/// thread.
class RefusalRecorder {
 public:
  /// The time for which refusals are gathered, and the pause between two writes of one tenant.
  static constexpr kube::Duration gather = std::chrono::seconds(1), pause = std::chrono::seconds(10);

  explicit RefusalRecorder(const RefusalContext& context);

  /// Takes in the answer to a review: what is allowed, a dry run, somebody else's and what cannot be decided now is no
  /// refusal.
  void note(const core::admission::Request& request, const core::admission::Answer& answer);
  /// Writes until cancelled.
  asio::awaitable<void> run();
  /// Writes what is noted and not written yet, after what is being written now.
  asio::awaitable<void> flush();

 private:
  /// What somebody was refused who may be no API server.
  struct Doubtful {
    std::string caller, tenant;
    core::admission::RefusedObject refused;
  };

  void see_shadow_pod(const kube::Change& change);
  void see_slice(const kube::Change& change);
  /// The tenant namespace of the consumer whose namespace that is, from the cache, and its ID; "" = it is nobody's.
  struct Tenant {
    std::string ns, consumer;
  };
  Tenant tenant_of(std::string_view ns) const;
  bool is_api_server(const core::admission::Request& request) const;
  void add(const std::string& tenant, core::admission::RefusedObject refused);
  void doubt(Doubtful doubtful);
  /// Finds out who the callers were.
  asio::awaitable<void> judge();
  asio::awaitable<kube::Result<void>> store(std::string tenant, core::admission::RefusalRing refused);

  RefusalContext context_;
  kube::Log log_;
  kube::Repeats failures_;
  kube::async::Event noted_;  ///< something is to be written
  kube::async::Event idle_;   ///< nothing is being written
  kube::InformerHandle namespaces_, shadow_pods_, slices_;
  std::map<std::string, core::admission::RefusalRing> pending_;  ///< by tenant namespace
  std::vector<Doubtful> doubtful_;
  std::set<std::string, std::less<>> strangers_;  ///< callers that were not proven when some were last judged
};

}  // namespace liqo::webhook
