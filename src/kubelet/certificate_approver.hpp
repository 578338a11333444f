// Approves the signing requests for liqod's own serving certificates, and no others: Kubernetes itself approves none
// for kubelet-serving.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/client/own_user.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/telemetry/repeats.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

/// Whether a CertificateSigningRequest may be approved. It must be requested by `own_username`, for the signer
/// kubernetes.io/kubelet-serving, and be signed by its own key. Its subject must have O exactly `system:nodes` and CN
/// `system:node:<one of nodes>`, with `node_ip` as the only alternative name. Its usages must be "digital signature"
/// and "server auth"; only "key encipherment" may be added. Pure.
bool may_approve(const kube::Object& request, std::string_view own_username, std::span<const std::string> nodes,
                 std::string_view node_ip);

/// True once the request was approved, denied or has failed.
bool is_decided(const kube::Object& request);

/// The parts of the process that the CertificateApprover uses. All outlive it.
struct ApproverContext : kube::Environment {
  kube::InformerSet& home;
  kube::Api& leader_api;
  std::function<std::vector<std::string>()> nodes;  ///< names of the VirtualNodes that exist
  std::string node_ip;
};

/// Watches signing requests and approves ours; run() when this process leads. Ends when cancelled. One thread.
class CertificateApprover {
 public:
  explicit CertificateApprover(ApproverContext context);
  asio::awaitable<void> run() { return controller_.run(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);

  ApproverContext context_;
  kube::InformerHandle requests_;
  kube::Controller controller_;
  kube::OwnUser user_;
  kube::Repeats undecided_;  ///< the requests that were logged, by name: each is looked at repeatedly
  kube::Log log_;
};

}  // namespace liqo::kubelet
