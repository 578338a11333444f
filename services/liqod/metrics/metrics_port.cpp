#include "metrics_port.hpp"

#include "core/common/names.hpp"
#include "core/peering/renewal.hpp"
#include "kube/async/task_group.hpp"
#include "kube/base/url.hpp"
#include "kube/net/http/plain_text.hpp"
#include "kube/runtime/watched_file.hpp"
#include "liqo/api/names.hpp"
#include "telemetry/serving_certificate.hpp"

namespace liqod {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using kube::net::KeyAndCertificate;
using kube::net::ServerRequest;
using kube::net::ServerResponse;

constexpr std::string_view path = "/metrics";
constexpr kube::Duration validity = 24h * 365;
constexpr kube::Duration pause = 30s;
/// While the files of a certificate are being replaced, one may be missing. This is logged after so many looks.
constexpr int max_failed_looks = 10;

bool is_same(const KeyAndCertificate& one, const KeyAndCertificate& other) {
  return one.key_pem == other.key_pem && one.certificate_pem == other.certificate_pem;
}

}  // namespace

MetricsPort::MetricsPort(const kube::Environment& environment, kube::Api& replica_api, std::function<void()> refresh,
                         MetricsPortSettings settings)
    : executor_(environment.executor),
      clock_(environment.clock),
      metrics_(environment.metrics),
      settings_(std::move(settings)),
      text_(metrics_, std::move(refresh), settings_.names),
      authorizer_(replica_api, metrics_.counter(liqo::families::metrics_tokens_refused)),
      identity_([this](kube::net::TlsContext tls) { server_->replace_tls(std::move(tls)); }) {}

kube::Result<KeyAndCertificate> MetricsPort::read_certificate() const {
  KUBE_TRY(certificate, kube::WatchedFile(clock_, settings_.certificate_path + "/tls.crt").read());
  KUBE_TRY(key, kube::WatchedFile(clock_, settings_.certificate_path + "/tls.key").read());
  return KeyAndCertificate{.key_pem = std::move(key), .certificate_pem = std::move(certificate)};
}

kube::Result<KeyAndCertificate> MetricsPort::make_certificate() const {
  kube::net::CertificateSubject subject{
      .common_name = std::string(liqo::api::metrics_service),
      .organizations = {"liqo.io"},
      .dns_names = liqo::core::service_names(liqo::api::metrics_service, settings_.ns)};
  subject.ip_addresses.push_back(settings_.node_ip);
  return kube::net::make_self_signed(subject, clock_.wall(), validity);
}

void MetricsPort::show(const KeyAndCertificate& pair) {
  const auto info = kube::net::read_certificate(pair.certificate_pem);
  if (!info) return;
  renewal_ = liqo::core::renewal_time(clock_.wall(), info->not_after, clock_.wall());
  liqo::show_serving_certificate(metrics_, "metrics", info->not_before, info->not_after);
}

kube::Result<std::uint16_t> MetricsPort::listen() {
  // Requests are GETs. An answer takes some hundred KiB until the client has fetched it.
  kube::net::HttpServerOptions options{.address = settings_.address,
                                       .port = settings_.port,
                                       .max_connections = 64,
                                       .max_body = 16U << 10,
                                       .max_held = 1U << 20,
                                       .on_handler_failure = [this](std::string_view line, std::string_view what) {
                                         log_.error("a request failed unexpectedly",
                                                    {{"request", line}, {"error", what}});
                                       }};
  if (settings_.secure) {
    KUBE_TRY(pair, settings_.certificate_path.empty() ? make_certificate() : read_certificate(),
             "certificate of the metrics");
    pair_ = pair;
    KUBE_TRY(tls, identity_.begin(std::move(pair)), "certificate of the metrics");
    show(pair_);
    options.tls = std::move(tls);
  }
  server_.emplace(executor_, clock_, std::move(options),
                  [this](const ServerRequest& request, ServerResponse& response) { return handle(request, response); });
  return server_->listen();
}

kube::net::HttpServerCounters MetricsPort::counters() const {
  return server_ ? server_->counters() : kube::net::HttpServerCounters{};
}

asio::awaitable<void> MetricsPort::run() {
  kube::async::TaskGroup group(executor_);
  group.spawn(server_->serve());
  if (settings_.secure) group.spawn(keep_certificate());
  co_await group.join();
}

asio::awaitable<void> MetricsPort::keep_certificate() {
  int failed_looks = 0;
  while (true) {
    co_await clock_.sleep(pause);
    if (settings_.certificate_path.empty() && clock_.wall() < renewal_) continue;
    auto pair = settings_.certificate_path.empty() ? make_certificate() : read_certificate();
    if (!pair) {
      if (++failed_looks == max_failed_looks)
        log_.warn("the certificate of the metrics cannot be renewed", {{"error", pair.error()}});
      continue;
    }
    failed_looks = 0;
    if (is_same(*pair, pair_)) continue;
    // Files that are being replaced may not match each other.
    pair_ = std::move(*pair);
    if (const auto used = identity_.use_certificate(pair_); !used) {
      log_.warn("a new certificate of the metrics cannot be used", {{"error", used.error()}});
      continue;
    }
    show(pair_);
    log_.info("the metrics have a new certificate");
  }
}

asio::awaitable<std::expected<void, liqo::kubelet::Refusal>> MetricsPort::admit(const ServerRequest& request) {
  KUBE_CO_TRY(caller, co_await authorizer_.authenticate(request));
  co_return co_await authorizer_.authorize(caller, liqo::kubelet::PathAccess{.verb = "get", .path = path});
}

asio::awaitable<void> MetricsPort::handle(const ServerRequest& request, ServerResponse& response) {
  ServerResponse::Headers more;
  std::optional<Refusal> refusal;
  if (kube::path_of(request.target) != path) {
    refusal = Refusal{404, "not found; there is /metrics"};
  } else if (request.method != "GET" && request.method != "HEAD") {
    refusal = Refusal{405, "only GET is served here"};
    more.emplace_back("allow", "GET, HEAD");
  } else if (settings_.secure) {
    if (auto admitted = co_await admit(request); !admitted) {
      refusal = std::move(admitted.error());
      // Callers without rights can cause any number of refusals.
      if (const auto held_back = refusals_.note(refusal->sentence, clock_.now()))
        log_.warn("refused a request for metrics", {{"address", request.peer_address},
                                                    {"status", refusal->status},
                                                    {"reason", refusal->sentence},
                                                    {"others_since", *held_back}});
      if (refusal->status == 401) more.emplace_back("www-authenticate", "Bearer");
    }
  }
  if (refusal) co_return co_await kube::net::send_text(response, refusal->status, refusal->sentence, std::move(more));
  // A client that has gone needs no response.
  static_cast<void>(co_await response.send(200, {{"content-type", kube::net::metrics_text_type}},
                                           std::string(text_.read(clock_.now()))));
}

}  // namespace liqod
