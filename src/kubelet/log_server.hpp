// Logs as a kubelet serves them: one is opened at the provider and passed on as it comes.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <expected>

#include "kube/async/clock.hpp"
#include "kube/client/pod_log.hpp"
#include "kube/net/http/http_server.hpp"
#include "kubelet/pod_route.hpp"
#include "kubelet/routes.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

/// Asks the provider for the log that a path of Endpoint::logs names, and waits `timeout` for it to begin. Refusals:
/// 400 for options that cannot be, and where the provider answers 400 or 404; 500 as the provider answers it; else 502.
/// The sentence has the provider's words.
asio::awaitable<std::expected<kube::PodLog, Refusal>> open_log(const Route& route, const PodRoute& pod,
                                                               kube::async::Clock& clock, kube::Duration timeout);

/// Passes a log on until it ends or the caller has gone. Failure: the provider broke off; the caller's connection is
/// aborted then, because behind the bytes of a log nothing else can say that they are not all.
asio::awaitable<kube::Result<void>> serve_log(kube::PodLog log, kube::net::ServerResponse& response);

}  // namespace liqo::kubelet
