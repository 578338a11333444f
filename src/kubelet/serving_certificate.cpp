#include "kubelet/serving_certificate.hpp"

#include <algorithm>

#include "core/peering/forge.hpp"
#include "core/peering/renewal.hpp"
#include "kube/base/base64.hpp"

namespace liqo::kubelet {
namespace {

using namespace std::chrono_literals;

constexpr kube::Resource requests = kube::resources::certificate_signing_requests;
constexpr kube::Duration self_signed_validity = 24h * 365;
// Sleeps are cut into pieces: the monotonic clock stands still while a machine is suspended, but certificates age.
constexpr kube::Duration max_sleep = 1h;

/// A certificate for a node that its own key signs.
kube::Result<kube::net::KeyAndCertificate> make_self_signed_for(std::string_view node, std::string_view node_ip,
                                                                kube::WallTime now) {
  kube::net::CertificateSubject subject = serving_subject(node, node_ip);
  // The name must not look like one of the cluster's.
  subject.organizations = {"liqo.io"};
  return kube::net::make_self_signed(subject, now, self_signed_validity);
}

}  // namespace

kube::net::CertificateSubject serving_subject(std::string_view node, std::string_view node_ip) {
  return {.common_name = "system:node:" + std::string(node),
          .organizations = {"system:nodes"},
          .ip_addresses = {std::string(node_ip)}};
}

kube::Object forge_serving_request(std::string_view request_pem) {
  // An ECDSA key encrypts nothing, so the optional "key encipherment" is left out.
  return core::forge_signing_request(request_pem, {.name_prefix = "liqo-kubelet-serving-",
                                                   .signer = serving_signer,
                                                   .usages = {"digital signature", "server auth"}});
}

kube::Result<kube::net::KeyAndCertificate> make_temporary_certificate(std::string_view node_ip, kube::WallTime now) {
  return make_self_signed_for("liqo", node_ip, now);
}

asio::awaitable<void> ServingCertificate::run() {
  bool has_one = false;
  while (true) {
    if (!may_ask()) co_await settings_.leadership->wait_leading();
    const std::string node = co_await wait_for_node();
    // Another replica may lead by now.
    if (!may_ask()) continue;
    const kube::TimePoint tried = replica_api_.clock().now();
    const kube::Result<Issued> pair =
        settings_.self_signed
            ? kube::Result<Issued>(make_self_signed_for(node, settings_.node_ip, replica_api_.clock().wall()))
            : co_await request(node);
    // The leadership or the node was lost meanwhile, which is not a failure: the next leader, perhaps this replica,
    // sends a request at once.
    if (pair && !*pair) continue;
    const auto info = pair ? kube::net::read_certificate((*pair)->certificate_pem) : std::unexpected(pair.error());
    if (!info) {
      log_.warn(has_one ? "the serving certificate for the kubelet API cannot be renewed, and stays in use meanwhile"
                        : "no serving certificate for the kubelet API yet",
                {{"node", node}, {"error", info.error()}});
    } else {
      settings_.use(**pair);
      const kube::WallTime now = replica_api_.clock().wall();
      const kube::WallTime renewal = core::renewal_time(now, info->not_after, now);
      log_.info(
          "the kubelet API has a serving certificate",
          {{"node", node}, {"until", kube::format_time(info->not_after)}, {"renewal", kube::format_time(renewal)}});
      has_one = true;
      co_await wait_until(renewal);
    }
    co_await replica_api_.clock().sleep_until(tried + settings_.retry);
  }
}

asio::awaitable<std::string> ServingCertificate::wait_for_node() {
  while (true) {
    std::vector<std::string> nodes = settings_.nodes();
    if (!nodes.empty()) co_return std::move(nodes.front());
    co_await replica_api_.clock().sleep(settings_.look_for_node);
  }
}

bool ServingCertificate::is_ours(const std::string& node) const {
  const std::vector<std::string> nodes = settings_.nodes();
  return std::ranges::find(nodes, node) != nodes.end();
}

asio::awaitable<void> ServingCertificate::wait_until(kube::WallTime time) {
  while (true) {
    const auto left = time - replica_api_.clock().wall();
    if (left <= kube::WallTime::duration::zero()) co_return;
    co_await replica_api_.clock().sleep(std::min<kube::Duration>(left, max_sleep));
  }
}

asio::awaitable<kube::Result<ServingCertificate::Issued>> ServingCertificate::request(std::string node) {
  KUBE_CO_TRY(key, kube::net::make_key());
  const kube::net::CertificateSubject subject = serving_subject(node, settings_.node_ip);
  KUBE_CO_TRY(pem, kube::net::make_certificate_request(key, subject));
  const kube::Object wanted = forge_serving_request(pem);
  KUBE_CO_TRY(created, co_await replica_api_.create(requests, wanted));
  auto certificate = co_await wait_for_issuance(created.key(), std::move(node));
  // A request that was used is deleted, and so is one without an answer: each try makes another, and they would pile
  // up. A denied one stays, because it shows an operator the reason.
  if (certificate || certificate.error().code() == kube::Errc::timeout)
    static_cast<void>(co_await replica_api_.remove(requests, created.key(), {.uid = std::string(created.uid())}));
  if (!certificate) co_return std::unexpected(std::move(certificate.error()));
  if (!*certificate) co_return std::nullopt;
  const auto ours = kube::net::key_matches(key, **certificate);
  if (!ours || !*ours) co_return kube::fail(kube::Errc::tls, "the issued certificate is not for our key");
  co_return kube::net::KeyAndCertificate{.key_pem = std::move(key), .certificate_pem = std::move(**certificate)};
}

asio::awaitable<kube::Result<std::optional<std::string>>> ServingCertificate::wait_for_issuance(kube::ObjectKey key,
                                                                                                std::string node) {
  const kube::TimePoint end = replica_api_.clock().now() + settings_.max_issuance;
  while (replica_api_.clock().now() < end) {
    if (!may_ask() || !is_ours(node)) co_return std::nullopt;
    co_await replica_api_.clock().sleep(settings_.poll);
    auto request = co_await replica_api_.get(requests, key);
    if (!request) {
      // Other failures may be temporary; an object that is gone will not come back.
      if (request.error().is_not_found()) co_return std::unexpected(std::move(request.error()));
      continue;
    }
    if (auto refused = core::refusal_of(*request)) co_return std::unexpected(std::move(*refused));
    const std::string_view encoded = kube::string_at(request->tree(), {"status", "certificate"});
    if (!encoded.empty()) co_return kube::decode_base64(encoded);
  }
  co_return kube::fail(kube::Errc::timeout, "the request " + key.name + " was not approved or not signed in time");
}

}  // namespace liqo::kubelet
