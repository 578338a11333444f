// Records what this cluster refuses its consumers, so that its administrator can read it: `liqoctl get refusals`.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/admission/refusal_ring.hpp"
#include "core/admission/review.hpp"
#include "kube/async/event.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/leadership.hpp"
#include "kube/telemetry/log.hpp"
#include "kube/telemetry/repeats.hpp"
#include "webhook/callers.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// The dependencies of a RefusalRecorder. All of them outlive it.
struct RefusalContext : kube::Environment {
  kube::InformerSet& home;
  kube::Api& replica_api;  ///< every replica writes its own refusals
  kube::Leadership& leadership;
  Callers* callers = nullptr;  ///< judges callers; null = only API servers call, by their certificates
};

/// Notes what reviews refuse a consumer; while this process leads, also denied slices and ShadowPods whose Pod is
/// refused. The ConfigMap of each tenant namespace has the newest refusals (core::admission::RefusalRing). All replicas
/// add to it by its resourceVersion, each at most once in `pause`. If a process dies, refusals of the last `pause` are
/// lost, or of the last two if their callers had to be proven; a write whose answer is lost counts twice. A review
/// counts only if its caller is proven to be an API server, or the cluster lists it as one. One thread.
class RefusalRecorder {
 public:
  /// The time for which refusals are gathered, and the pause between two writes of one tenant.
  static constexpr kube::Duration gather = std::chrono::seconds(1), pause = std::chrono::seconds(10);

  explicit RefusalRecorder(const RefusalContext& context);

  /// Takes in the answer to a review. Requests that are allowed, are dry runs, do not come from a consumer or cannot be
  /// decided now are not refusals.
  void note(const core::admission::Request& request, const core::admission::Answer& answer);
  /// Writes until cancelled.
  asio::awaitable<void> run();
  /// Waits for a write that is under way, and then writes everything that was noted and not written yet.
  asio::awaitable<void> flush();

 private:
  /// A refusal whose caller may not be an API server.
  struct Doubtful {
    std::string caller, tenant;
    core::admission::RefusedObject refused;
  };

  void see_shadow_pod(const kube::Change& change);
  void see_slice(const kube::Change& change);
  /// The tenant namespace and the ID of the consumer to which a namespace belongs, from the cache; "" = it belongs to
  /// none.
  struct Tenant {
    std::string ns, consumer;
  };
  Tenant tenant_of(std::string_view ns) const;
  bool is_api_server(const core::admission::Request& request) const;
  void add(const std::string& tenant, core::admission::RefusedObject refused);
  void doubt(Doubtful doubtful);
  /// Judges the callers of doubtful refusals.
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
  std::set<std::string, std::less<>> unproven_;  ///< callers that were not proven when some were last judged
};

}  // namespace liqo::webhook
