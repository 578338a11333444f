#include "controllers/peering/certificate_issuer.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "kube/base/base64.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/peering/api_server_address.hpp"
#include "liqo/core/peering/csr.hpp"
#include "liqo/core/peering/forge.hpp"
#include "liqo/core/peering/names.hpp"
#include "liqo/core/peering/renewal.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

constexpr kube::Resource requests = kube::resources::certificate_signing_requests;
constexpr kube::Duration max_signing_time = 20s, first_look = 10ms, max_pause = 1s;
constexpr kube::WallTime::duration failed_renewal_pause = 1min;

/// What is known of a stored certificate that may be handed out for the order.
struct Stored {
  std::string certificate_pem;
  kube::WallTime renew_at, not_after;
};

bool is_for(const core::IssuedCertificate& certificate, const core::CertificateName& name, const core::PublicKey& key) {
  return certificate.name == name && certificate.key == key;
}

std::optional<Stored> read_stored(const kube::Object& secret, const CertificateOrder& order,
                                  const core::CertificateName& name, const core::PublicKey& key) {
  std::string pem = core::secret_bytes(secret, "certificate");
  if (!core::is_same_request(core::secret_bytes(secret, "csr"), order.csr_pem)) return std::nullopt;
  const auto certificate = core::read_certificate(pem);
  if (!certificate || !is_for(*certificate, name, key)) return std::nullopt;
  const auto received = kube::parse_time(secret.annotation(api::annotations::certificate_received));
  return Stored{.certificate_pem = std::move(pem),
                .renew_at = core::renewal_time(*certificate, received ? std::optional(*received) : std::nullopt),
                .not_after = certificate->not_after};
}

std::optional<kube::Failure> refusal_of(const kube::Object& request) {
  for (const std::string_view type : {"Denied", "Failed"})
    if (const kube::json::object* condition = kube::find_condition(request.status(), type))
      return kube::Failure(kube::Errc::unsupported, "the cluster did not sign it (" + std::string(type) +
                                                        "): " + std::string(kube::string_at(*condition, {"message"})));
  return std::nullopt;
}

}  // namespace

CertificateIssuer::CertificateIssuer(Context context) : context_(std::move(context)) {
  if (!context_.settings.api_server_override.empty()) return;
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
  if (!settings.api_server_override.empty()) return core::api_server_url(settings.api_server_override);
  std::vector<kube::Object> nodes;
  for (const kube::InformerHandle& labelled : control_plane_nodes_) {
    if (!labelled->has_synced()) return kube::fail(kube::Errc::missing, "the control-plane nodes are not known yet");
    for (kube::Object& node : labelled->objects()) nodes.push_back(std::move(node));
    if (!nodes.empty()) break;
  }
  if (auto address = core::control_plane_address(nodes)) return core::api_server_url(*address + ":6443");
  if (!settings.api_server_fallback.empty()) return settings.api_server_fallback;
  return kube::fail(kube::Errc::missing,
                    "no control-plane node tells the address of the API server: set --api-server-address-override");
}

asio::awaitable<kube::Result<IssuedParams>> CertificateIssuer::auth_params(CertificateOrder order) {
  const core::CertificateName name = order.slice_name.empty()
                                         ? core::control_plane_name(order.consumer_cluster_id)
                                         : core::slice_name(order.slice_name, order.consumer_cluster_id);
  auto checked = core::check_signing_request(order.csr_pem, name, nullptr);
  if (!checked) co_return std::unexpected(std::move(checked.error()));
  const auto request = core::read_signing_request(order.csr_pem);
  auto server = api_server();
  if (!server) co_return std::unexpected(std::move(server.error()));

  kube::Api& home = context_.home.api();
  std::optional<kube::Object> secret;
  auto found = co_await home.get(kube::resources::secrets,
                                 {order.tenant_namespace, core::certificate_secret_name(order.slice_name)});
  if (found) {
    secret = std::move(*found);
  } else if (!found.error().is_not_found()) {
    co_return kube::fail(std::move(found.error()), "reading the certificate");
  }
  std::optional<Stored> stored;
  if (secret) stored = read_stored(*secret, order, name, request->key);

  IssuedParams issued;
  api::AuthParams params{
      .ca_pem = context_.settings.ca_pem, .api_server = std::move(*server), .proxy_url = order.proxy_url};
  const kube::WallTime now = context_.clock.wall();
  if (stored && !order.renew && now < stored->renew_at) {
    params.certificate_pem = stored->certificate_pem;
    issued.renew_at = stored->renew_at;
  } else {
    auto certificate = co_await sign(order.csr_pem);
    const auto read = certificate ? core::read_certificate(*certificate) : std::unexpected(certificate.error());
    // A stored one would not be recognised, and the next look would have another one signed.
    if (certificate && !read)
      certificate = kube::fail(read.error(), "reading what the cluster signed");
    else if (certificate && !is_for(*read, name, request->key))
      certificate = kube::fail(kube::Errc::unsupported,
                               "the cluster signed a certificate of another name or key than it was asked for");
    kube::Result<void> kept;
    if (certificate) kept = co_await store(order, std::move(secret), *certificate);
    const kube::Failure* failure = !certificate ? &certificate.error() : !kept ? &kept.error() : nullptr;
    if (failure && (!stored || now >= stored->not_after)) co_return std::unexpected(*failure);
    if (failure) {
      log_.warn("a certificate could not be renewed; the old one still holds",
                {{"namespace", order.tenant_namespace}, {"slice", order.slice_name}, {"error", *failure}});
      params.certificate_pem = stored->certificate_pem;
      issued.renew_at = now + failed_renewal_pause;
    } else {
      params.certificate_pem = std::move(*certificate);
      issued.renew_at = core::renewal_time(*read, now);
      issued.renewed = true;
      log_.info("certificate issued", {{"cluster", order.consumer_cluster_id},
                                       {"slice", order.slice_name},
                                       {"renewal", kube::format_time(issued.renew_at)}});
    }
  }
  issued.auth_params = api::write_auth_params(params);
  co_return issued;
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
  kube::Result<kube::Object> written = kube::fail(kube::Errc::missing, "");
  if (stored) {
    wanted.mutable_metadata()["resourceVersion"] = kube::json::string(stored->resource_version());
    wanted.mutable_metadata()["uid"] = kube::json::string(stored->uid());
    written = co_await context_.home.api().replace(kube::resources::secrets, wanted);
  } else {
    written = co_await context_.home.api().create(kube::resources::secrets, wanted);
  }
  if (!written) co_return kube::fail(std::move(written.error()), "keeping the certificate");
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::string>> CertificateIssuer::sign(std::string csr_pem) {
  kube::Api& home = context_.home.api();
  const std::int64_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(context_.settings.certificate_validity).count();
  const kube::Object wanted = core::forge_certificate_request(csr_pem, seconds);
  auto created = co_await home.create(requests, wanted);
  if (!created) co_return kube::fail(std::move(created.error()), "asking the cluster for a certificate");
  const kube::ObjectKey key = created->key();

  kube::Result<std::string> certificate = kube::fail(kube::Errc::missing, "");
  kube::Object approved = std::move(*created);
  approved.mutable_status() = core::approval_status();
  auto written = co_await home.replace(requests, approved, {.subresource = "approval"});
  if (!written) {
    certificate = kube::fail(std::move(written.error()), "approving the request for a certificate");
  } else {
    certificate = co_await wait_for_certificate(std::move(*written));
  }
  // A request that has served, or was not signed in time, would only lie about.
  auto removed = co_await home.remove(requests, key);
  if (!removed && !removed.error().is_not_found())
    log_.debug("a request for a certificate stays behind", {{"name", key.name}, {"error", removed.error()}});
  co_return certificate;
}

asio::awaitable<kube::Result<std::string>> CertificateIssuer::wait_for_certificate(kube::Object request) {
  kube::async::Clock& clock = context_.clock;
  const kube::TimePoint end = clock.now() + max_signing_time;
  const kube::ObjectKey key = request.key();
  kube::Duration pause = first_look;
  for (;;) {
    if (auto refused = refusal_of(request)) co_return std::unexpected(std::move(*refused));
    const std::string_view encoded = kube::string_at(request.tree(), {"status", "certificate"});
    if (!encoded.empty()) co_return kube::decode_base64(encoded);
    if (clock.now() >= end)
      co_return kube::fail(kube::Errc::timeout, "the cluster did not sign the request " + key.name + " in time");
    co_await clock.sleep(pause);
    pause = std::min(pause * 5 / 4, max_pause);
    auto live = co_await context_.home.api().get(requests, key);
    if (live) request = std::move(*live);
    // Other failures may pass; what is gone stays so.
    if (!live && live.error().is_not_found()) co_return std::unexpected(std::move(live.error()));
  }
}

}  // namespace liqo::controllers
