// Finds out whether the webhooks' callers are API servers, if no certificate shows it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/admission/callers.hpp"
#include "core/admission/review.hpp"
#include "core/admission/unproven_turns.hpp"
#include "core/quota/claimant.hpp"
#include "kube/async/event.hpp"
#include "kube/client/api.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/telemetry/log.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// Finds out from which addresses API servers call. An address is proven in one of two ways. First, a ShadowPod that
/// was reviewed for that address is stored, and no other caller knew its UID before. Second, the answer of an API
/// server to a probe shows it: the replica that the API server has called for the probe writes the address into it
/// (core/admission/callers.hpp). Probes are sent one after another, when an unproven address calls. One thread.
class Callers {
 public:
  Callers(const kube::Environment& environment, kube::Api& replica_api);

  /// Sends the probes. Ends only by cancellation.
  asio::awaitable<void> run();
  /// The sender of a review.
  core::Claimant claimant_of(const core::admission::Request& request);
  /// Whether an API server has sent the review, as far as is known now.
  bool is_proven(const core::admission::Request& request) const;
  /// Whether the cluster lists the address of its sender as that of an API server; false before the first probe. A
  /// probe reaches one of several API servers, and proves only that one.
  bool is_listed(const core::admission::Request& request) const;
  /// What is known of a caller; `unknown` if too many requests wait for the result.
  enum class Finding { proven, unproven, unknown };
  /// Waits at most a second until the sender of the review is proven, and has a probe sent meanwhile. Only a limited
  /// number can wait, because each takes a connection and memory.
  asio::awaitable<Finding> prove(const core::admission::Request& request);
  /// Notes that a ShadowPod is stored whose first review came from the address.
  void confirm(const std::string& address);
  /// Whether every API server that the cluster lists is proven. This requires that the listed addresses are those from
  /// which they call.
  bool knows_all() const;
  /// Takes one of the few answers for callers that may be API servers, although nothing proves it; false if none is
  /// left for now.
  bool take_turn() { return turns_.take(clock_.now()); }

 private:
  /// Requests that wait for one address.
  struct Waiting {
    explicit Waiting(const asio::any_io_executor& executor) : proven(executor) {}
    kube::async::Event proven;
    std::size_t requests = 0;
  };
  /// One request among them.
  class Place;

  void learn(std::string_view address, const char* how);
  asio::awaitable<void> probe();

  asio::any_io_executor executor_;
  kube::Api& replica_api_;
  kube::async::Clock& clock_;
  kube::Log log_;
  core::admission::ProvenCallers proven_;
  core::admission::UnprovenTurns turns_;
  std::vector<std::string> api_servers_;                 ///< as the cluster lists them; empty if that could not be read
  std::map<std::string, Waiting, std::less<>> waiting_;  ///< by address
  std::size_t waiting_requests_ = 0, waiting_bytes_ = 0;
  kube::async::Event wanted_;
  kube::Counter asked_proven_, asked_unproven_, not_awaited_, probes_, probes_failed_;
  kube::Gauge known_;
};

}  // namespace liqo::webhook
