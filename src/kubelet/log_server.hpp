// Serves logs as a kubelet does: opens the log at the provider, and passes it on as it arrives.
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

/// Requests from the provider the log that a path of Endpoint::logs names, and waits `timeout` for it to begin.
/// Refusals: 400 for invalid options, and if the provider answers 400 or 404; 500 if the provider answers 500; else
/// 502. The sentence contains the provider's message.
asio::awaitable<std::expected<kube::PodLog, Refusal>> open_log(const Route& route, const PodRoute& pod,
                                                               kube::async::Clock& clock, kube::Duration timeout);

/// Passes a log on until it ends or the caller is gone. Failure: the provider broke off. The caller's connection is
/// then aborted, because nothing else can show after the bytes of a log that it is incomplete.
asio::awaitable<kube::Result<void>> serve_log(kube::PodLog log, kube::net::ServerResponse& response);

}  // namespace liqo::kubelet
