// Finds out why a provider does not act: whether somebody leads there.
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

/// Judges a provider by what waits for it and by its Lease, which is read while something waits for too long, while
/// something is told, or while something waits just after the provider has come back, and at most every three seconds.
/// Has what waits tried again when it comes back. One thread.
class SilenceWatch {
 public:
  struct Reader {
    /// Whether the provider's API server answers.
    std::function<bool()> answers;
    /// The namespace of Liqo there, as far as it is declared at home; "" = it is not.
    std::function<std::string()> liqo_namespace;
    /// What is told of the provider when run() begins.
    std::function<core::SilenceNote()> standing;
    /// Called when note() has changed. `is_news`: something is told, and differs by more than the number of orders.
    /// Must not suspend.
    std::function<void(bool is_news)> changed;
  };
  /// `provider` outlives this.
  SilenceWatch(std::string cluster, kube::Api& provider, std::shared_ptr<ProviderOrders> orders, Context context,
               Reader reader);

  /// Watches until cancelled.
  asio::awaitable<void> run();
  /// What is told; nothing while it is too early to say that there is nothing.
  const std::optional<core::SilenceNote>& note() const { return note_; }

 private:
  core::Moment now() const { return {.at = context_.clock.now(), .wall = context_.clock.wall()}; }
  asio::awaitable<void> look();
  void tell();

  kube::Api& provider_;
  std::shared_ptr<ProviderOrders> orders_;
  Context context_;
  Reader reader_;
  core::SilenceJudge judge_;
  std::optional<core::SilenceNote> note_;
  kube::Log log_;
};

}  // namespace liqo::controllers
