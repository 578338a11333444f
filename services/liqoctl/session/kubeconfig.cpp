#include "session/kubeconfig.hpp"

#include "kube/base/printable.hpp"
#include "kube/net/auth/infer_config.hpp"
#include "kube/net/read_file.hpp"
#include "kube/net/tls/x509.hpp"
#include "text/duration.hpp"

namespace liqoctl {
namespace {

using kube::Errc;
using kube::Result;
using kube::wire::ClusterConfig;

Result<ClusterConfig> find_config(const ConnectionFlags& flags, Side side) {
  // The kubeconfig found below belongs to the cluster at home. No other server may see its credentials.
  if (side == Side::remote && flags.is_server_alone()) return ClusterConfig{};
  const kube::net::ConfigChoice choice{.context = flags.context, .cluster = flags.cluster, .user = flags.user};
  if (!flags.kubeconfig.empty()) return kube::net::read_kubeconfig(flags.kubeconfig, choice);
  auto found = kube::net::infer_config(choice);
  if (found || found.error().code() != Errc::missing) return found;
  if (!flags.server.empty()) return ClusterConfig{};
  return kube::fail(Errc::missing,
                    found.error().text() + ", or give " + (side == Side::remote ? "--remote-" : "--") + "kubeconfig");
}

}  // namespace

Result<ClusterConfig> find_cluster(const ConnectionFlags& flags, Side side) {
  auto config = find_config(flags, side);
  if (!config) return config;
  if (!flags.server.empty()) {
    KUBE_TRY(url, kube::wire::parse_server_url(flags.server), side == Side::remote ? "--remote-server" : "--server");
    config->server = std::move(url);
    if (config->cluster.empty()) config->cluster = flags.server;
  }
  if (!flags.token.empty()) {
    config->token = flags.token;
    config->token_file.clear();
    config->exec.reset();
  }
  if (!flags.certificate_authority.empty()) {
    config->ca_file = flags.certificate_authority;
    config->ca_pem.clear();
  }
  if (!flags.tls_server_name.empty()) config->tls_server_name = flags.tls_server_name;
  if (flags.insecure_skip_tls_verify) {
    config->insecure_skip_tls_verify = true;
    config->ca_pem.clear();
    config->ca_file.clear();
  }
  return config;
}

std::string describe_expiry(const ClusterConfig& config, kube::WallTime now) {
  std::string pem = config.client_certificate_pem;
  if (pem.empty() && !config.client_certificate_file.empty())
    pem = kube::net::read_file(config.client_certificate_file).value_or("");
  if (pem.empty()) return {};
  const auto certificate = kube::net::read_certificate(pem);
  if (!certificate || now < certificate->not_after) return {};
  return "the client certificate of user " + kube::in_quotes(config.user) + " expired at " +
         kube::format_time(certificate->not_after) + " (" + text::age(now - certificate->not_after) +
         " ago): a new kubeconfig is needed";
}

}  // namespace liqoctl
