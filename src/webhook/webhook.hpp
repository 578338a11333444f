// Everything behind the webhook port of a process: the server, its rules, its certificates and its configurations.
// Tested by test/cluster/webhook/test_admission.py and test/cluster/webhook/test_webhook_callers.py.
#pragma once

#include <memory>

#include "kube/net/tls/server_identity.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/leadership.hpp"
#include "kube/runtime/watched_file.hpp"
#include "webhook/certificates.hpp"
#include "webhook/configurations.hpp"
#include "webhook/refusal_recorder.hpp"
#include "webhook/reviews.hpp"

namespace liqo::webhook {

/// The operator's settings.
struct WebhookSettings {
  std::uint16_t port = 9443;  ///< 0 in tests only: the system picks one
  std::string url;            ///< https://host[:port] by which API servers reach this process; "" = by the Service
  std::string ns = "liqo";    ///< of the Service and the Secret
  std::string failure_policy = "Fail";                   ///< of the configurations: Fail, or Ignore
  std::optional<std::vector<std::string>> twin_names{};  ///< see ReviewContext
  core::NamespaceSelection selected_namespaces{};        ///< see ReviewContext
  kube::Duration certificate_lifetime = std::chrono::hours(24 * 90);
  std::string client_ca_file;  ///< CA of the API servers that may call, read again every 30 s; "" = any caller
  std::vector<std::string> client_names;  ///< their common names; none = every certificate of that CA
};

/// The parts of the process that the Webhook uses. All of them outlive it.
struct WebhookContext : kube::Environment {
  kube::InformerSet& home;
  kube::Api& leader_api;   ///< for the configurations
  kube::Api& replica_api;  ///< for reviews and certificates, because every replica serves
  kube::Leadership& leadership;
  quota::QuotaLedger* ledger = nullptr;  ///< null = Quotas are not enforced
  Callers* callers = nullptr;            ///< null = certificates identify callers
};

/// Every replica serves; only the leader writes the configurations. Order of use: listen(), then run(), which ends only
/// by cancellation. One thread.
class Webhook {
 public:
  Webhook(WebhookContext context, WebhookSettings settings);

  /// Opens the port on every address and returns its number. Errors: Errc::connect ("address in use"), Errc::tls,
  /// Errc::invalid_input (an invalid URL), and those of WatchedFile::read() for the CA.
  kube::Result<std::uint16_t> listen();
  asio::awaitable<void> run();
  /// Ends in order: reviews are still answered for `delay`, each with the request to go elsewhere; then those under way
  /// are answered; then their refusals are written. Cancel run() after that.
  asio::awaitable<void> stop(kube::Duration delay);
  /// Why reviews cannot be answered yet, for /readyz; "" once they can.
  std::string waiting_for() const;
  /// The counters of the server; nothing before listen().
  kube::net::HttpServerCounters counters() const;

 private:
  void use(const CertificateState& state);
  void use_client_ca(std::string pem);

  WebhookContext context_;
  WebhookSettings settings_;
  kube::Log log_;
  kube::WatchedFile client_ca_file_;
  kube::net::ServerIdentity identity_;
  Reviews reviews_;
  RefusalRecorder refusals_;
  Configurations configurations_;
  std::unique_ptr<Certificates> certificates_;
  std::unique_ptr<AdmissionServer> server_;
};

}  // namespace liqo::webhook
