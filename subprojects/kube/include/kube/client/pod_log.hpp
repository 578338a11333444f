// The log of a container, read as it comes.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "kube/async/clock.hpp"
#include "kube/k8s/pod_log.hpp"
#include "kube/net/transport.hpp"

namespace kube {

namespace asio = boost::asio;

/// A log that is being read. Destroying it ends the stream.
class PodLog {
 public:
  explicit PodLog(std::unique_ptr<net::Body> body) : body_(std::move(body)) {}
  /// The next bytes, which need not be whole lines; "" is the end, which a log that is followed has when its container
  /// ends. Errors: those of net::Body; what came before one is only a part of the log. Cancellable.
  asio::awaitable<Result<std::string>> read() { return body_->read(); }

 private:
  std::unique_ptr<net::Body> body_;
};

/// Asks for a log (log_request); `deadline` is for the head of the answer. Errors: the server's Status (Errc::api), and
/// those of the transport.
asio::awaitable<Result<PodLog>> open_pod_log(net::Transport& transport, async::Clock& clock, HttpRequest request,
                                             Deadline deadline);

}  // namespace kube
