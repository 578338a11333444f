// A gate without accounts: there must be a Quota for the user, and it must not be cordoned.
#pragma once

#include "kube/runtime/informer_set.hpp"
#include "liqo/webhook/quota_gate.hpp"

namespace liqo::webhook {

/// Looks Quotas up by the escaped name of their user. One thread.
class QuotaLookup final : public QuotaGate {
 public:
  explicit QuotaLookup(kube::InformerSet& home);

  asio::awaitable<core::admission::Answer> decide(GateQuestion question) override;
  std::string waiting_for() const override;

 private:
  kube::InformerHandle quotas_;
};

}  // namespace liqo::webhook
