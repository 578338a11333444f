#include "webhook/admission_server.hpp"

#include "kube/async/timeout.hpp"
#include "kube/base/url.hpp"
#include "kube/net/http/plain_text.hpp"
#include "telemetry/families.hpp"

namespace liqo::webhook {
namespace {

using core::admission::Answer;
using core::admission::Request;
using kube::net::ServerRequest;
using kube::net::ServerResponse;

}  // namespace

AdmissionServer::AdmissionServer(const kube::Environment& environment, kube::net::TlsContext tls,
                                 AdmissionServerSettings settings)
    : clock_(environment.clock),
      metrics_(environment.metrics),
      settings_(std::move(settings)),
      log_("webhook"),
      unreadable_(metrics_.counter(families::admission_unreadable)),
      unknown_(metrics_.counter(families::admission_unknown)),
      server_(environment.executor, environment.clock,
              {.address = settings_.address,
               .port = settings_.port,
               .tls = std::move(tls),
               .max_connections = settings_.max_connections,
               .max_body = max_review,
               .max_held = settings_.max_held,
               .admits =
                   [this](const std::optional<kube::net::PeerIdentity>& caller) {
                     const bool known = !settings_.admits || settings_.admits(caller);
                     if (!known) unknown_.add();
                     return known;
                   },
               .on_handler_failure =
                   [this](std::string_view line, std::string_view what) {
                     log_.error("a review failed unexpectedly", {{"request", line}, {"error", what}});
                   }},
              [this](const ServerRequest& request, ServerResponse& response) { return handle(request, response); }) {}

void AdmissionServer::route(std::string path, Decision decision) {
  Route route{.decision = std::move(decision)};
  route.allowed = metrics_.counter(families::admissions, {{"path", path}, {"answer", "allowed"}});
  route.denied = metrics_.counter(families::admissions, {{"path", path}, {"answer", "denied"}});
  route.seconds = metrics_.histogram(families::admission_time, {{"path", path}}, kube::time_bounds());
  routes_.insert_or_assign(std::move(path), std::move(route));
}

asio::awaitable<void> AdmissionServer::handle(const ServerRequest& request, ServerResponse& response) {
  const auto found = routes_.find(kube::path_of(request.target));
  if (found == routes_.end()) co_return co_await send_text(response, 404, "no kind is reviewed at this path");
  if (request.method != "POST")
    co_return co_await send_text(response, 405, "an AdmissionReview is sent by POST", {{"allow", "POST"}});
  const kube::TimePoint began = clock_.now();
  const auto size = core::admission::review_size(request.body);
  if (size && !response.hold(*size)) co_return co_await send_text(response, 503, "too many reviews at once; try again");
  auto review = size ? core::admission::decode_review(request.body) : std::unexpected(size.error());
  if (!review) {
    unreadable_.add();
    co_return co_await send_text(response, 400, review.error().text());
  }
  if (!request.peer) review->caller = request.peer_address;
  review->bytes = request.body.size();
  const Hold hold = [&response](std::size_t bytes) { return response.hold(bytes); };
  const Answer answer = co_await decide(found->second, *review, hold);
  (answer.allowed ? found->second.allowed : found->second.denied).add();
  found->second.seconds.observe(std::chrono::duration<double>(clock_.now() - began).count());
  if (!answer.allowed) {
    log_refusal(found->first, *review, answer);
    if (settings_.on_refusal) settings_.on_refusal(*review, answer);
  }
  ServerResponse::Headers headers{{"content-type", "application/json"}};
  if (sends_away_) headers.emplace_back("connection", "close");
  static_cast<void>(
      co_await response.send(200, std::move(headers), core::admission::encode_review(review->uid, answer)));
}

void AdmissionServer::log_refusal(const std::string& path, const Request& review, const Answer& answer) {
  // A consumer that tries again and again must not fill the log, and part of a refusal's text comes from the consumer.
  const auto held_back = refusals_.note(path + " " + review.user.name, clock_.now());
  const std::string object = review.ns + "/" + review.name;
  if (!held_back) {
    log_.debug("refused", {{"path", path}, {"object", object}, {"reason", answer.message}});
  } else {
    log_.info("refused", {{"path", path},
                          {"object", object},
                          {"user", review.user.name},
                          {"reason", answer.message},
                          {"others_since", *held_back}});
  }
}

asio::awaitable<Answer> AdmissionServer::decide(const Route& route, const Request& request, const Hold& hold) {
  std::exception_ptr thrown;
  try {
    if (const auto* rule = std::get_if<Rule>(&route.decision)) co_return (*rule)(request);
    auto answer = co_await kube::async::with_timeout(clock_, std::get<Decide>(route.decision)(request, hold),
                                                     settings_.max_decision);
    if (answer) co_return std::move(*answer);
    co_return Answer::unavailable("Liqo could not decide in time; try again");
  } catch (...) {
    thrown = std::current_exception();
  }
  if (kube::async::is_cancellation(thrown)) std::rethrow_exception(thrown);
  log_.error("a decision failed unexpectedly",
             {{"object", request.ns + "/" + request.name}, {"error", kube::async::describe(thrown)}});
  Answer failed = Answer::unavailable("Liqo failed to decide; see its log");
  failed.code = 500;
  failed.reason = "InternalError";
  co_return failed;
}

}  // namespace liqo::webhook
