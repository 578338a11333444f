// What decides whether a consumer's quota has room for a ShadowPod: the one door between admission and the accounts.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "liqo/core/admission/pod_policy.hpp"
#include "liqo/core/admission/review.hpp"
#include "liqo/core/quota/claimant.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// A ShadowPod that has passed everything else: form, origin, creator and the pod firewall.
struct GateQuestion {
  const core::admission::Request& request;  ///< CREATE or UPDATE; lives until the answer
  std::string user;                         ///< the creator label: the escaped user whose Quota is asked for
  std::string origin;                       ///< the consumer's cluster ID, equal to that of the twin namespace
  core::admission::PodPolicy policy;        ///< of that consumer
  core::Claimant claimant;                  ///< who asks to reserve
};

/// One of them decides for a process. One thread.
class QuotaGate {
 public:
  virtual ~QuotaGate() = default;

  /// Decides, and where it allows a CREATE that is not a dry run, has recorded durably that it did so before it
  /// answers. Asked last, so nothing of ours refuses afterwards (the API server still may). Must not throw; what cannot
  /// be decided is Answer::unavailable. Deletions are not asked about: they always pass, and are seen by watching.
  virtual asio::awaitable<core::admission::Answer> decide(GateQuestion question) = 0;

  /// Why it cannot decide yet, for /readyz; "" once it can.
  virtual std::string waiting_for() const = 0;
};

}  // namespace liqo::webhook
