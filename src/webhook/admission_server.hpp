// The HTTPS server that answers AdmissionReviews: one path for each kind and phase.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "core/common/review.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/telemetry/log.hpp"
#include "kube/telemetry/repeats.hpp"
#include "webhook/live_reads.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// Decides on one request, and counts the memory for what it reads by `hold`. What it throws, and what takes longer
/// than the limit, is answered for it.
using Decide =
    std::function<asio::awaitable<core::admission::Answer>(const core::admission::Request&, const Hold& hold)>;

/// The same where nothing but the request is needed.
using Rule = std::function<core::admission::Answer(const core::admission::Request&)>;

using Decision = std::variant<Decide, Rule>;

/// An API server's bound of a request is 3 MiB, and an update brings the stored object along.
inline constexpr std::size_t max_review = 6U << 20;

/// Where the server listens, how much it takes on, and whom it lets ask.
struct AdmissionServerSettings {
  std::string address;  ///< "" = every address
  std::uint16_t port = 9443;
  kube::Duration max_decision = std::chrono::seconds(8);  ///< API servers wait ten seconds
  std::size_t max_connections = 1024;
  /// Bytes of all reviews at once, with the trees that are made of them and what is read for them: the largest one fits
  /// in, and a thousand usual ones.
  std::size_t max_held = 32U << 20;
  /// Whether somebody may ask; none = everybody may.
  std::function<bool(const std::optional<kube::net::PeerIdentity>& caller)> admits;
  /// Told of every review that is not allowed; none = nobody is. Must not suspend.
  std::function<void(const core::admission::Request& review, const core::admission::Answer& answer)> on_refusal = {};
};

/// Answers reviews by path. A review that cannot be read is answered 400, in words; a larger one 413; a decision that
/// fails is a refusal inside of the review, so that the user sees its reason. Order of use: route(), listen(), run(),
/// which ends only by cancellation. One thread.
class AdmissionServer {
 public:
  AdmissionServer(const kube::Environment& environment, kube::net::TlsContext tls, AdmissionServerSettings settings);

  /// Serves a path, e.g. "/mutate/pod".
  void route(std::string path, Decision decision);
  kube::Result<std::uint16_t> listen() { return server_.listen(); }
  asio::awaitable<void> run() { return server_.serve(); }
  /// From now on each answer asks its caller to close the connection: the next review goes to another replica.
  void send_away() { sends_away_ = true; }
  /// No new reviews; those under way have `grace` to be answered.
  asio::awaitable<void> stop(kube::Duration grace) { return server_.stop(grace); }
  kube::net::HttpServerCounters counters() const { return server_.counters(); }
  void replace_tls(kube::net::TlsContext tls) { server_.replace_tls(std::move(tls)); }
  /// Callers that another client CA has admitted show their certificates anew.
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
