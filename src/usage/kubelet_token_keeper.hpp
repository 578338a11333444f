// Keeps the token that is shown to kubelets.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "kube/async/event.hpp"
#include "kube/client/api.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/telemetry/log.hpp"

namespace liqo::usage {

namespace asio = boost::asio;

/// Requests a token of the ServiceAccount `api::metric_agent_account`, and renews it in time. If the request is refused
/// there is no token until one is issued, and nothing takes its place. While the API server cannot be reached, the last
/// token is used until it expires. One thread.
class KubeletTokenKeeper {
 public:
  /// `ns`: the namespace of the ServiceAccount.
  KubeletTokenKeeper(const kube::Environment& environment, kube::Api& api, std::string ns);

  /// The token; "" = there is none, and no kubelet may be asked.
  const std::string& token() const { return token_; }
  /// Requests another token, at most once a minute, because a kubelet did not accept this one: its ServiceAccount may
  /// have been recreated.
  void doubt(std::string_view token);
  /// Ends only by cancellation.
  asio::awaitable<void> run();

 private:
  /// Requests a token once; returns how long to wait before the next time.
  asio::awaitable<kube::Duration> renew();
  kube::Duration log_failure(const kube::Failure& failure);

  kube::async::Clock& clock_;
  kube::Api& api_;
  std::string ns_, token_;
  kube::Log log_;
  kube::async::Event doubted_;
  kube::TimePoint begun_{}, asked_{}, expires_{};
  bool is_logged_ = false;  ///< it was logged that there is no token
};

}  // namespace liqo::usage
