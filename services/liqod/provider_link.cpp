#include "provider_link.hpp"

#include "client_gauges.hpp"
#include "kube/base/base64.hpp"
#include "kube/net/http_client.hpp"
#include "kube/net/x509.hpp"

namespace liqod {
namespace {

class NetworkLink final : public liqo::controllers::ProviderLink {
 public:
  NetworkLink(const kube::Environment& environment, const std::string& cluster,
              std::shared_ptr<kube::net::Credentials> credentials,
              std::optional<kube::net::CertificateInfo> certificate)
      : client_(environment.executor, environment.clock, std::move(credentials),
                {.user_agent = "liqod/" LIQOD_VERSION}),
        gauges_(environment.metrics, cluster, client_),
        certificate_(std::move(certificate)) {}

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
  boost::asio::awaitable<void> stop() override { co_await client_.stop(); }

 private:
  kube::net::HttpClient client_;
  ClientGauges gauges_;
  std::optional<kube::net::CertificateInfo> certificate_;  // of the client, where it has one
};

}  // namespace

liqo::controllers::ConnectProvider connect_over_network(const kube::Environment& environment) {
  using Link = std::unique_ptr<liqo::controllers::ProviderLink>;
  return [environment](const std::string& cluster, const kube::Object& secret) -> kube::Result<Link> {
    const std::string_view encoded = kube::string_at(secret.tree(), {"data", "kubeconfig"});
    if (encoded.empty()) return kube::fail(kube::Errc::missing, "it has no key \"kubeconfig\"");
    auto text = kube::decode_base64(encoded);
    if (!text) return kube::fail(std::move(text.error()), "key \"kubeconfig\"");
    auto config = kube::wire::parse_kubeconfig(*text, {.origin = kube::wire::KubeconfigOrigin::secret});
    if (!config) return kube::fail(std::move(config.error()), "key \"kubeconfig\"");
    std::optional<kube::net::CertificateInfo> certificate;
    if (auto read = kube::net::read_certificate(config->client_certificate_pem)) certificate = std::move(*read);
    auto credentials = kube::net::Credentials::make(std::move(*config), environment.clock);
    if (!credentials) return kube::fail(std::move(credentials.error()), "key \"kubeconfig\"");
    return std::make_unique<NetworkLink>(environment, cluster, std::move(*credentials), std::move(certificate));
  };
}

}  // namespace liqod
