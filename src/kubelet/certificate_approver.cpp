#include "kubelet/certificate_approver.hpp"

#include <algorithm>

#include "core/peering/forge.hpp"
#include "kube/base/base64.hpp"
#include "kube/net/tls/x509.hpp"
#include "kubelet/serving_certificate.hpp"

namespace liqo::kubelet {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

constexpr kube::Resource requests = kube::resources::certificate_signing_requests;
// VirtualNodes may become known after the request for one of them.
constexpr kube::Duration look_again = 10s;

bool has_right_usages(const kube::Object& request) {
  bool signature = false;
  bool server = false;
  for (const json::value& usage : kube::array_at(request.spec(), {"usages"})) {
    if (!usage.is_string()) return false;
    const std::string_view name = usage.get_string();
    signature = signature || name == "digital signature";
    server = server || name == "server auth";
    if (name != "digital signature" && name != "server auth" && name != "key encipherment") return false;
  }
  return signature && server;
}

}  // namespace

bool may_approve(const kube::Object& request, std::string_view own_username, std::span<const std::string> nodes,
                 std::string_view node_ip) {
  if (own_username.empty() || kube::string_at(request.spec(), {"username"}) != own_username) return false;
  if (kube::string_at(request.spec(), {"signerName"}) != serving_signer) return false;
  if (!has_right_usages(request)) return false;
  const auto pem = kube::decode_base64(kube::string_at(request.spec(), {"request"}));
  if (!pem) return false;
  const auto info = kube::net::read_certificate_request(*pem);
  if (!info || info->has_other_names) return false;
  return std::any_of(nodes.begin(), nodes.end(), [&info, node_ip](const std::string& node) {
    return info->subject == serving_subject(node, node_ip);
  });
}

bool is_decided(const kube::Object& request) {
  return !kube::array_at(request.status(), {"conditions"}).empty() ||
         !kube::string_at(request.status(), {"certificate"}).empty();
}

CertificateApprover::CertificateApprover(ApproverContext context)
    : context_(std::move(context)),
      requests_(context_.home.acquire(
          {.resource = requests, .selection = {.field_selector = "spec.signerName=" + std::string(serving_signer)}})),
      controller_(context_, {.name = "certificate-approver"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      user_(context_.leader_api),
      log_("certificate-approver") {
  controller_.watch(requests_);
}

asio::awaitable<kube::Outcome> CertificateApprover::reconcile(kube::WorkKey key) {
  const auto request = requests_->find(key.object);
  if (!request || is_decided(*request)) co_return kube::Outcome::done();
  KUBE_CO_TRY(username, co_await user_.name());
  if (kube::string_at(request->spec(), {"username"}) != username) co_return kube::Outcome::done();
  const std::vector<std::string> nodes = context_.nodes();
  if (!may_approve(*request, username, nodes, context_.node_ip)) {
    if (const auto held_back = undecided_.note(request->name(), context_.clock.now()))
      log_.warn("left a signing request of ours undecided: it is not for a virtual node of this process",
                {{"name", request->name()}, {"others_since", *held_back}});
    co_return kube::Outcome::again_after(look_again);
  }
  kube::Object approved = *request;
  approved.mutable_status() =
      core::approval_status("LiqoApproval", "the request is liqod's own, for the kubelet API of its virtual nodes");
  KUBE_CO_TRYV(co_await context_.leader_api.replace(requests, approved, {.subresource = "approval"}),
               "approving a signing request");
  log_.info("approved the signing request of a serving certificate", {{"name", request->name()}});
  co_return kube::Outcome::done();
}

}  // namespace liqo::kubelet
