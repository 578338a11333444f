// An HTTPS server that answers AdmissionReviews: one path for each kind and phase.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "core/admission/review.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/telemetry/log.hpp"
#include "kube/telemetry/repeats.hpp"
#include "webhook/live_reads.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// Decides on one request, and accounts for the memory of what it reads by `hold`. If it throws, or takes longer than
/// the limit, the server answers in its place.
using Decide =
    std::function<asio::awaitable<core::admission::Answer>(const core::admission::Request&, const Hold& hold)>;

/// Decides on one request from nothing but the request.
using Rule = std::function<core::admission::Answer(const core::admission::Request&)>;

using Decision = std::variant<Decide, Rule>;

/// API servers bound a request to 3 MiB, and an update includes the stored object.
inline constexpr std::size_t max_review = 6U << 20;

/// The address of the server, its limits, and the callers that it admits.
struct AdmissionServerSettings {
  std::string address;  ///< "" = every address
  std::uint16_t port = 9443;
  kube::Duration max_decision = std::chrono::seconds(8);  ///< API servers wait ten seconds
  std::size_t max_connections = 1024;
  /// Bytes of all reviews at once, including their parsed trees and what is read for them: the largest review fits in,
  /// and so do a thousand usual ones.
  std::size_t max_held = 32U << 20;
  /// Whether a caller may send reviews; unset = every caller may.
  std::function<bool(const std::optional<kube::net::PeerIdentity>& caller)> admits;
  /// Called with every review that is not allowed; may be unset. Must not suspend.
  std::function<void(const core::admission::Request& review, const core::admission::Answer& answer)> on_refusal = {};
};

/// Answers reviews by path. A review that cannot be parsed is answered 400 with a message, one that is too large 413. A
/// decision that fails is a refusal inside the review, so that the user sees its reason. Order of use: route(),
/// listen(), run(), which ends only by cancellation. One thread.
class AdmissionServer {
 public:
  AdmissionServer(const kube::Environment& environment, kube::net::TlsContext tls, AdmissionServerSettings settings);

  /// Serves a path, e.g. "/mutate/pod".
  void route(std::string path, Decision decision);
  kube::Result<std::uint16_t> listen() { return server_.listen(); }
  asio::awaitable<void> run() { return server_.serve(); }
  /// From now on asks each caller to close its connection, so that its next review goes to another replica.
  void send_away() { sends_away_ = true; }
  /// Takes no new reviews; those under way have `grace` to be answered.
  asio::awaitable<void> stop(kube::Duration grace) { return server_.stop(grace); }
  kube::net::HttpServerCounters counters() const { return server_.counters(); }
  void replace_tls(kube::net::TlsContext tls) { server_.replace_tls(std::move(tls)); }
  /// Makes callers show their certificates again, because the client CA has changed.
  void forget_clients() { server_.forget_clients(); }

  /// Answers one request; public for tests without sockets.
  asio::awaitable<void> handle(const kube::net::ServerRequest& request, kube::net::ServerResponse& response);

 private:
  struct Route {
    Decision decision;
    kube::Counter allowed, denied;
    kube::Histogram seconds;
  };
  asio::awaitable<core::admission::Answer> decide(const Route& route, const core::admission::Request& request,
                                                  const Hold& hold);
  void log_refusal(const std::string& path, const core::admission::Request& review,
                   const core::admission::Answer& answer);

  kube::async::Clock& clock_;
  kube::Metrics& metrics_;
  AdmissionServerSettings settings_;
  kube::Log log_;
  kube::Repeats refusals_;
  kube::Counter unreadable_, unknown_;
  std::map<std::string, Route, std::less<>> routes_;  // never changed once requests come
  bool sends_away_ = false;
  kube::net::HttpServer server_;
};

}  // namespace liqo::webhook
