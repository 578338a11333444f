// Who asks the webhooks: finds out whether an API server calls from an address, where no certificate says so.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/admission/callers.hpp"
#include "core/admission/unproven_turns.hpp"
#include "core/common/review.hpp"
#include "core/quota/claimant.hpp"
#include "kube/async/event.hpp"
#include "kube/client/api.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/telemetry/log.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// Finds out from which addresses API servers call. An address is proven in one of two ways: a ShadowPod that was asked
/// for from there is stored, and nobody else knew its UID before; or the API server says so itself, in its answer to a
/// probe into which the replica that it asked has written the address (core/admission/callers.hpp). Probes are sent one
/// after another, when an address that is not proven asks. One thread.
class Callers {
 public:
  Callers(const kube::Environment& environment, kube::Api& replica_api);

  /// Sends the probes. Ends only by cancellation.
  asio::awaitable<void> run();
  /// Who has sent that review.
  core::Claimant claimant_of(const core::admission::Request& request);
  /// Whether an API server has sent that review, as far as is known now.
  bool is_proven(const core::admission::Request& request) const;
  /// Whether the cluster lists the address of its sender as that of an API server; false before the first probe. A
  /// probe reaches one of several API servers, and proves no other.
  bool is_listed(const core::admission::Request& request) const;
  /// What is known of a caller: nothing yet where too many wait for that.
  enum class Finding { proven, unproven, unknown };
  /// Waits a second at most until the sender of that review is proven, and has a probe sent meanwhile. Who waits takes
  /// a connection and memory, so that only so many can.
  asio::awaitable<Finding> prove(const core::admission::Request& request);
  /// A ShadowPod is stored that was first asked for from there.
  void confirm(const std::string& address);
  /// Whether every API server of the cluster is proven, as far as it lists them by the addresses from which they call.
  bool knows_all() const;
  /// Takes one of the few answers for callers that may be API servers, though nothing proves it; false where none is
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
  std::vector<std::string> api_servers_;  ///< as the cluster lists them; none where that could not be read
  std::map<std::string, Waiting, std::less<>> waiting_;  ///< by address
  std::size_t waiting_requests_ = 0, waiting_bytes_ = 0;
  kube::async::Event wanted_;
  kube::Counter asked_proven_, asked_unproven_, not_awaited_, probes_, probes_failed_;
  kube::Gauge known_;
};

}  // namespace liqo::webhook
