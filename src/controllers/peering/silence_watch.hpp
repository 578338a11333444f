// Finds out why a provider does not act, from the Lease of its leader.
// Tested by test/unit/controllers/peering/silence_watch_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_orders.hpp"
#include "kube/client/api.hpp"

namespace liqo::controllers {

/// Judges a provider by the orders that wait for it, and by its Lease. The Lease is read at most every three seconds:
/// while an order waits for too long, while a note stands, or while an order waits just after the provider has come
/// back. Waiting orders are tried again when it comes back. One thread.
class SilenceWatch {
 public:
  struct Reader {
    /// Whether the provider's API server answers.
    std::function<bool()> answers;
    /// The namespace of Liqo there, as far as it is declared at home; "" = it is not.
    std::function<std::string()> liqo_namespace;
    /// The note that stands about the provider when run() begins.
    std::function<core::SilenceNote()> standing;
    /// Called when note() has changed. `is_news`: there is a note, and it differs by more than the number of orders.
    /// Must not suspend.
    std::function<void(bool is_news)> changed;
  };
  /// `provider` outlives this.
  SilenceWatch(std::string cluster, kube::Api& provider, std::shared_ptr<ProviderOrders> orders, Context context,
               Reader reader);

  /// Watches until cancelled.
  asio::awaitable<void> run();
  /// The note about the provider; nothing while it is too early to judge.
  const std::optional<core::SilenceNote>& note() const { return note_; }

 private:
  core::Moment now() const { return {.at = context_.clock.now(), .wall = context_.clock.wall()}; }
  asio::awaitable<void> look();
  void report();

  kube::Api& provider_;
  std::shared_ptr<ProviderOrders> orders_;
  Context context_;
  Reader reader_;
  core::SilenceJudge judge_;
  std::optional<core::SilenceNote> note_;
  kube::Log log_;
};

}  // namespace liqo::controllers
