#include "controllers/peering/certificate_issuer.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "core/common/control_plane.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/api_server_address.hpp"
#include "core/peering/csr.hpp"
#include "core/peering/forge.hpp"
#include "kube/base/base64.hpp"
#include "kube/runtime/remove_object.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace action = core::certificate_action;

constexpr kube::Resource requests = kube::resources::certificate_signing_requests;
/// A consumer that repeats the peering a few times has a new key each time.
constexpr TokenBucket::Rate changes_rate{.per_second = 1.0 / 60, .burst = 5};
constexpr kube::Duration max_signing_time = 20s, first_look = 10ms, max_pause = 1s;

}  // namespace

CertificateIssuer::CertificateIssuer(Context context) : context_(std::move(context)) {
  if (!context_.settings.peering.api_server_override.empty()) return;
  for (std::string_view label : core::control_plane_labels)
    control_plane_nodes_.push_back(context_.home.acquire(
        {.resource = kube::resources::nodes, .selection = {.label_selector = std::string(label)}}));
}

void CertificateIssuer::on_address_change(std::function<void()> handler) {
  for (kube::InformerHandle& nodes : control_plane_nodes_)
    nodes.subscribe([handler](const kube::ObjectKey&) { handler(); }, handler);
}

kube::Result<std::string> CertificateIssuer::api_server() const {
  const Settings& settings = context_.settings;
  if (!settings.peering.api_server_override.empty()) return core::api_server_url(settings.peering.api_server_override);
  std::vector<kube::Object> nodes;
  for (const kube::InformerHandle& labelled : control_plane_nodes_) {
    if (!labelled->has_synced()) return kube::fail(kube::Errc::missing, "the control-plane nodes are not known yet");
    for (kube::Object& node : labelled->objects()) nodes.push_back(std::move(node));
    if (!nodes.empty()) break;
  }
  if (auto address = core::control_plane_address(nodes)) return core::api_server_url(*address + ":6443");
  if (!settings.peering.api_server_fallback.empty()) return settings.peering.api_server_fallback;
  return kube::fail(kube::Errc::missing,
                    "no control-plane node has the address of the API server: set --api-server-address-override");
}

asio::awaitable<kube::Result<IssuedParams>> CertificateIssuer::auth_params(CertificateOrder order) {
  const core::CertificateName name = order.slice_name.empty()
                                         ? core::control_plane_name(order.consumer_cluster_id)
                                         : core::slice_name(order.slice_name, order.consumer_cluster_id);
  KUBE_CO_TRYV(core::check_signing_request(order.csr_pem, name, nullptr));
  const auto request = core::read_signing_request(order.csr_pem);
  KUBE_CO_TRY(server, api_server());

  kube::Api& home = context_.home.api();
  std::optional<kube::Object> secret;
  auto found = co_await home.get(kube::resources::secrets,
                                 {order.tenant_namespace, core::certificate_secret_name(order.slice_name)});
  if (found) {
    secret = std::move(*found);
  } else if (!found.error().is_not_found()) {
    co_return kube::fail(std::move(found.error()), "reading the certificate");
  }
  std::optional<core::StoredCertificate> stored;
  if (secret) stored = core::read_stored_certificate(*secret, *request);
  if (secret && !stored && !may_change(secret->key()))
    co_return kube::fail(kube::Errc::missing,
                         "the consumer keeps asking for certificates of new keys; one a minute is signed");

  api::AuthParams params{
      .ca_pem = context_.settings.peering.ca_pem, .api_server = std::move(server), .proxy_url = order.proxy_url};
  core::CertificateSight sight{.stored = stored ? &*stored : nullptr, .now = context_.clock.wall()};
  core::CertificatePlan plan = core::plan_certificate(sight);
  if (std::holds_alternative<action::Sign>(plan)) {
    auto made = co_await issue(order, *request, std::move(secret), sight.now);
    if (made) {
      log_.info("certificate issued", {{"cluster", order.consumer_cluster_id},
                                       {"slice", order.slice_name},
                                       {"renewal", kube::format_time(made->renew_at)}});
      params.certificate_pem = std::move(made->pem);
      co_return IssuedParams{
          .auth_params = api::write_auth_params(params), .renew_at = made->renew_at, .renewed = true};
    }
    sight.has_failed = true;
    plan = core::plan_certificate(sight);
    if (!std::holds_alternative<action::UseStored>(plan)) co_return std::unexpected(std::move(made.error()));
    log_.warn("a certificate could not be renewed; the old one still holds",
              {{"namespace", order.tenant_namespace}, {"slice", order.slice_name}, {"error", made.error()}});
  }
  params.certificate_pem = std::move(stored->pem);
  co_return IssuedParams{.auth_params = api::write_auth_params(params),
                         .renew_at = std::get<action::UseStored>(plan).renew_at};
}

bool CertificateIssuer::may_change(const kube::ObjectKey& secret) {
  std::erase_if(changes_, [&](const auto& entry) { return entry.first != secret && entry.second.is_full(); });
  return changes_.try_emplace(secret, context_.clock, changes_rate).first->second.try_take();
}

asio::awaitable<kube::Result<core::StoredCertificate>> CertificateIssuer::issue(const CertificateOrder& order,
                                                                                const core::SigningRequest& request,
                                                                                std::optional<kube::Object> stored,
                                                                                kube::WallTime received) {
  KUBE_CO_TRY(pem, co_await sign(order.csr_pem));
  // A stored certificate for another name or key would not be recognised, and the next look would have another one
  // signed.
  KUBE_CO_TRY(read, core::read_signed_certificate(pem, request));
  KUBE_CO_TRYV(co_await store(order, std::move(stored), pem));
  co_return core::StoredCertificate{
      .pem = std::move(pem), .renew_at = core::renewal_time(read, received), .not_after = read.not_after};
}

asio::awaitable<kube::Result<void>> CertificateIssuer::store(const CertificateOrder& order,
                                                             std::optional<kube::Object> stored,
                                                             std::string certificate_pem) {
  kube::Object wanted = core::forge_certificate_secret({.tenant_namespace = order.tenant_namespace,
                                                        .consumer = order.consumer_cluster_id,
                                                        .slice = order.slice_name,
                                                        .csr_pem = order.csr_pem,
                                                        .certificate_pem = std::move(certificate_pem),
                                                        .received = context_.clock.wall(),
                                                        .owner = order.owner});
  if (stored) {
    wanted.mutable_metadata()["resourceVersion"] = kube::json::string(stored->resource_version());
    wanted.mutable_metadata()["uid"] = kube::json::string(stored->uid());
  }
  kube::Api& home = context_.home.api();
  KUBE_CO_TRYV(stored ? co_await home.replace(kube::resources::secrets, wanted)
                      : co_await home.create(kube::resources::secrets, wanted),
               "keeping the certificate");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::string>> CertificateIssuer::sign(std::string csr_pem) {
  kube::Api& home = context_.home.api();
  const std::int64_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(context_.settings.peering.certificate_validity).count();
  const kube::Object wanted = core::forge_certificate_request(csr_pem, seconds);
  KUBE_CO_TRY(created, co_await home.create(requests, wanted), "asking the cluster for a certificate");
  const kube::ObjectKey key = created.key();
  auto certificate = co_await approve(std::move(created));
  // A request that was used, or was not signed in time, is not needed any more.
  auto removed = co_await kube::remove_object(home, requests, key, {.phase = "removing the request"});
  if (!removed)
    log_.debug("a request for a certificate stays behind", {{"name", key.name}, {"error", removed.error()}});
  co_return certificate;
}

asio::awaitable<kube::Result<std::string>> CertificateIssuer::approve(kube::Object request) {
  request.mutable_status() = core::approval_status();
  KUBE_CO_TRY(approved, co_await context_.home.api().replace(requests, request, {.subresource = "approval"}),
              "approving the request for a certificate");
  co_return co_await wait_for_certificate(std::move(approved));
}

asio::awaitable<kube::Result<std::string>> CertificateIssuer::wait_for_certificate(kube::Object request) {
  kube::async::Clock& clock = context_.clock;
  const kube::TimePoint end = clock.now() + max_signing_time;
  const kube::ObjectKey key = request.key();
  kube::Duration pause = first_look;
  for (;;) {
    if (auto refused = core::refusal_of(request)) co_return std::unexpected(std::move(*refused));
    const std::string_view encoded = kube::string_at(request.tree(), {"status", "certificate"});
    if (!encoded.empty()) co_return kube::decode_base64(encoded);
    if (clock.now() >= end)
      co_return kube::fail(kube::Errc::timeout, "the cluster did not sign the request " + key.name + " in time");
    co_await clock.sleep(pause);
    pause = std::min(pause * 5 / 4, max_pause);
    auto live = co_await context_.home.api().get(requests, key);
    if (live) request = std::move(*live);
    // Other failures may be temporary; a request that is gone stays gone.
    if (!live && live.error().is_not_found()) co_return std::unexpected(std::move(live.error()));
  }
}

}  // namespace liqo::controllers
