// A transport that the virtual nodes of a provider share: it uses the connection of one of them at a time.
// Tested by test/unit/controllers/sessions/provider_sessions_test.cpp.
#pragma once

#include <memory>

#include "controllers/links/provider_link.hpp"

namespace liqo::controllers {

/// Sends requests over the link that it was given last. Requests under way go on over the old link until that is
/// stopped, and then end as by a broken connection, so that watches continue over the new one. One thread.
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
