// Keeps the token that kubelets are shown.
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

/// Asks for a token of the ServiceAccount `api::metric_agent_account`, and for the next one in time. Where that is
/// refused there is none, until it is given: nothing takes its place. While the API server cannot be reached the last
/// one holds until its end. One thread.
class KubeletTokenKeeper {
 public:
  /// `ns` is that of the ServiceAccount.
  KubeletTokenKeeper(const kube::Environment& environment, kube::Api& api, std::string ns);

  /// "" = there is none, and no kubelet is to be asked.
  const std::string& token() const { return token_; }
  /// A kubelet did not know this token, e.g. because its ServiceAccount was made anew: another one is asked for, at
  /// most once a minute.
  void doubt(std::string_view token);
  /// Ends only by cancellation.
  asio::awaitable<void> run();

 private:
  /// Asks once; how long to wait before the next time.
  asio::awaitable<kube::Duration> renew();
  kube::Duration tell(const kube::Failure& failure);

  kube::async::Clock& clock_;
  kube::Api& api_;
  std::string ns_, token_;
  kube::Log log_;
  kube::async::Event doubted_;
  kube::TimePoint begun_{}, asked_{}, expires_{};
  bool is_told_ = false;  ///< it was logged that there is no token
};

}  // namespace liqo::usage
