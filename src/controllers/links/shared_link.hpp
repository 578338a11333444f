// The way to a provider that its virtual nodes share: over the connection of one of them, and then of another.
// Tested by test/unit/controllers/sessions/provider_sessions_test.cpp.
#pragma once

#include <memory>

#include "controllers/links/provider_link.hpp"

namespace liqo::controllers {

/// Sends over whatever link it was given last. What is under way when another is given goes on until the old link is
/// stopped, and then ends as by a broken connection, so that watches go on over the new one. One thread.
class SharedLink final : public kube::net::Transport {
 public:
  /// Until the first call requests fail with Errc::connect.
  void use(std::shared_ptr<ProviderLink> link) { link_ = std::move(link); }
  bool uses(const ProviderLink* link) const { return link_.get() == link; }

  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline deadline) override;

 private:
  std::shared_ptr<ProviderLink> link_;
};

}  // namespace liqo::controllers
