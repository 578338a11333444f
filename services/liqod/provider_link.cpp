#include "provider_link.hpp"

#include "kube/base/base64.hpp"
#include "kube/net/http/http_client.hpp"
#include "kube/net/tls/x509.hpp"
#include "metrics/client_gauges.hpp"

namespace liqod {
namespace {

/// The configuration in a kubeconfig Secret. Failures: one sentence.
kube::Result<kube::wire::ClusterConfig> read_config(const kube::Object& secret) {
  const std::string_view encoded = kube::string_at(secret.tree(), {"data", "kubeconfig"});
  if (encoded.empty()) return kube::fail(kube::Errc::missing, "it has no key \"kubeconfig\"");
  KUBE_TRY(text, kube::decode_base64(encoded), "key \"kubeconfig\"");
  KUBE_TRY(config, kube::wire::parse_kubeconfig(text, {.origin = kube::wire::KubeconfigOrigin::secret}),
           "key \"kubeconfig\"");
  return std::move(config);
}

/// The client's certificate, if it has one.
std::optional<kube::net::CertificateInfo> certificate_of(const kube::wire::ClusterConfig& config) {
  auto read = kube::net::read_certificate(config.client_certificate_pem);
  return read ? std::optional(std::move(*read)) : std::nullopt;
}

class NetworkLink final : public liqo::controllers::ProviderLink {
 public:
  NetworkLink(const kube::Environment& environment, const std::string& cluster,
              std::shared_ptr<kube::net::Credentials> credentials)
      : credentials_(std::move(credentials)),
        client_(environment.executor, environment.clock, credentials_, {.user_agent = "liqod/" LIQOD_VERSION}),
        gauges_(environment.metrics, cluster, client_),
        certificate_(certificate_of(credentials_->config())) {}

  kube::net::Transport& transport() override { return client_; }
  kube::net::Upgrader* upgrader() override { return &client_; }
  std::string credentials_trouble(kube::WallTime now) const override {
    if (!certificate_) return {};
    if (now >= certificate_->not_after)
      return "the client certificate of its kubeconfig has expired at " + kube::format_time(certificate_->not_after);
    if (now < certificate_->not_before)
      return "the client certificate of its kubeconfig is not valid before " +
             kube::format_time(certificate_->not_before) + ": compare the clocks of the two clusters";
    return {};
  }
  bool renew(const kube::Object& secret) override {
    auto config = read_config(secret);
    const kube::wire::ClusterConfig& now = credentials_->config();
    // Another server name or CA may belong to another cluster.
    if (!config || config->server != now.server || config->tls_server_name != now.tls_server_name ||
        config->insecure_skip_tls_verify != now.insecure_skip_tls_verify || config->ca_pem != now.ca_pem)
      return false;
    auto certificate = certificate_of(*config);
    if (!credentials_->replace(std::move(*config))) return false;
    certificate_ = std::move(certificate);
    return true;
  }
  boost::asio::awaitable<void> stop() override { co_await client_.stop(); }

 private:
  std::shared_ptr<kube::net::Credentials> credentials_;
  kube::net::HttpClient client_;
  ClientGauges gauges_;
  std::optional<kube::net::CertificateInfo> certificate_;  // of the client, if it has one
};

}  // namespace

liqo::controllers::ConnectProvider connect_over_network(const kube::Environment& environment) {
  using Link = std::unique_ptr<liqo::controllers::ProviderLink>;
  return [environment](const std::string& cluster, const kube::Object& secret) -> kube::Result<Link> {
    KUBE_TRY(config, read_config(secret));
    KUBE_TRY(credentials, kube::net::Credentials::make(std::move(config), environment.clock), "key \"kubeconfig\"");
    return std::make_unique<NetworkLink>(environment, cluster, std::move(credentials));
  };
}

}  // namespace liqod
