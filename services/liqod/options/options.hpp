// The command line of liqod.
#pragma once

#include <optional>
#include <string>

#include "controllers/common/settings.hpp"
#include "kube/telemetry/log.hpp"
#include "metrics/metrics_text.hpp"
#include "quota/quota_ledger.hpp"

namespace liqod {

struct Options {
  std::string kubeconfig;  ///< "" = the service account of the pod that this runs in
  std::string context;
  liqo::controllers::Settings settings;
  std::string metrics_address = "0.0.0.0:8082";   ///< host:port of /metrics
  bool metrics_secure = true;                     ///< HTTPS there, for callers with the right to read it
  std::string metrics_certificate_path;           ///< directory with tls.crt and tls.key; "" = one of its own
  std::string health_address = "0.0.0.0:8081";    ///< host:port of /healthz and /readyz
  PeerNames peer_names = PeerNames::shown;        ///< how those two ports name peers
  std::string certificate_type = "kubelet";       ///< or "self-signed"
  std::string kubelet_client_ca_file;             ///< "" = kube-system/extension-apiserver-authentication
  std::uint16_t webhook_port = 9443;              ///< 0 = no webhooks
  std::string webhook_url;                        ///< https://host[:port]; "" = by the Service liqo-webhook
  std::string webhook_failure_policy = "Fail";    ///< or Ignore
  std::string webhook_client_ca_file;             ///< "" = any caller may ask the webhooks
  std::vector<std::string> webhook_client_names;  ///< none = every certificate of that CA
  kube::Duration webhook_certificate_lifetime = std::chrono::hours(24 * 90);
  std::uint16_t metric_agent_port = 0;  ///< 0 = consumers get no resource usage
  kube::Duration metric_agent_timeout = std::chrono::seconds(5);
  std::string kubelet_ca_file;  ///< "" = the CA of the cluster
  liqo::quota::LedgerSettings ledger;
  std::string ca_override;  ///< base64 of PEM
  bool trusted_ca = false;  ///< consumers get no CA
  bool leader_elect = false;
  std::string identity;                                 ///< in the lease; "" = host name and process ID
  bool home_names = true;                               ///< pods of consumers may look up the names of their home
  kube::Duration stop_delay = std::chrono::seconds(5);  ///< webhooks are served so long after the signal to stop
  kube::LogLevel log_level = kube::LogLevel::info;
  kube::LogFormat log_format = kube::LogFormat::text;
};

/// The result of the command line: options to run with, or the exit code. That is 0 after --help, and 2 after a
/// mistake, which was printed in one line on standard error.
struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = 0;
};
ParsedOptions parse_options(int argc, char** argv);

}  // namespace liqod
