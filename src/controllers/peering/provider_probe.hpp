// Finds out whether a provider answers, what its clock shows, and whether it has taken our rights away.
// Tested by test/unit/controllers/peering/replication_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <optional>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_link.hpp"
#include "core/peering/replication.hpp"
#include "kube/client/api.hpp"

namespace liqo::controllers {

/// How long a provider may refuse the requests that end an object. A provider that refuses them for longer has taken
/// our rights away, and cleans up by itself. While a binding is replaced they are refused for a shorter time.
inline constexpr kube::Duration refusal_patience = std::chrono::seconds(15);
/// Whether the provider does not know our credentials (401) or gives them no right to this (403).
inline bool is_refused_access(const kube::Failure& failure) {
  return failure.http_code() == 401 || failure.http_code() == 403;
}

/// Asks the API server of a provider from time to time whether it lives, and looks at its clock and at our rights then.
/// If probes are switched off, the provider counts as answering, and our rights as given. Sends heartbeats to it, too.
/// One thread.
class ProviderProbe {
 public:
  struct Reader {
    /// Whether the caches of what the provider has are refused.
    std::function<bool()> is_refused;
    /// Called when the API server begins to answer. Must not suspend.
    std::function<void()> came_back;
    /// Called when answers(), clock_ahead() or is_withdrawn() changes. Must not suspend.
    std::function<void()> changed;
    /// Called after each probe. Must not suspend.
    std::function<void()> probed;
  };
  /// `provider` and `link` outlive this.
  ProviderProbe(core::ReplicationPeer peer, kube::Api& provider, const ProviderLink& link, Context context,
                Reader reader);

  /// Whether there is anything to probe: probes are not switched off.
  bool is_wanted() const;
  /// Probes until cancelled.
  asio::awaitable<void> run();
  /// Sends heartbeats until cancelled.
  asio::awaitable<void> beat();

  /// Whether the provider's API server answers; nothing before the first probe.
  const std::optional<bool>& answers() const { return answers_; }
  /// By how much its clock is reported to be ahead of ours (`core::settle_clock`); 0 = nothing to report.
  std::chrono::seconds clock_ahead() const { return clock_ahead_; }
  /// Whether the provider has refused us everything in our tenant namespace there, for longer than it takes to replace
  /// a binding.
  std::optional<bool> is_withdrawn() const { return withdrawn_; }
  /// Notes that it has refused a request: the next probe looks at our rights.
  void note_refused() { refused_ = true; }

 private:
  void look_at_clock();
  /// Asks the provider about our rights if something was refused: nothing else shows that they are gone, or back.
  asio::awaitable<void> look_at_rights();

  core::ReplicationPeer peer_;
  kube::Api& provider_;
  const ProviderLink& link_;
  Context context_;
  Reader reader_;
  std::optional<bool> answers_;
  std::chrono::seconds clock_ahead_{0};
  bool refused_ = false;
  std::optional<bool> withdrawn_;
  std::optional<kube::TimePoint> refused_since_;
  kube::TimePoint next_look_at_rights_{};
  kube::Log log_;
};

}  // namespace liqo::controllers
