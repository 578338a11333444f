#include "options/groups.hpp"

namespace liqod {

void add_identity_options(cli::Command app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  using liqo::core::ApiServerMode;
  app.choice(
         "--apiserver-support",
         {{"never", int(ApiServerMode::never)},
          {"needed", int(ApiServerMode::needed)},
          {"always", int(ApiServerMode::always)}},
         [&texts](int number) { texts.tokens = ApiServerMode(number); },
         "Which offloaded pods get service-account tokens for the API server of this cluster: if "
         "--home-api-server-host is set, those that run as a service account of their own or are annotated "
         "liqo.io/api-server-support=home (needed); all (always); or none (never)")
      .type_name("ENUM:never, needed or always")
      .preset("needed");
  using liqo::core::AudienceTokens;
  app.choice(
         "--audience-tokens", {{"always", int(AudienceTokens::always)}, {"never", int(AudienceTokens::never)}},
         [&settings](int number) { settings.offloading.audience_tokens = AudienceTokens(number); },
         "Whether projected tokens that name an audience other than the API server of this cluster (Vault, a cloud) "
         "come from this cluster, for offloaded pods of every service account, whatever --apiserver-support says")
      .type_name("ENUM:always or never")
      .preset("always");
  using liqo::core::TrustBundles;
  app.choice(
         "--trust-bundles", {{"home", int(TrustBundles::home)}, {"provider", int(TrustBundles::provider)}},
         [&settings](int number) { settings.offloading.trust_bundles = TrustBundles(number); },
         "Which cluster's trust bundles (ClusterTrustBundles) offloaded pods mount: those of this cluster (home) or of "
         "the one that they run in (provider)")
      .type_name("ENUM:home or provider")
      .preset("home");
  using liqo::core::PodCertificates;
  app.choice(
         "--pod-certificates", {{"home", int(PodCertificates::home)}, {"provider", int(PodCertificates::provider)}},
         [&settings](int number) { settings.offloading.pod_certificates = PodCertificates(number); },
         "Which cluster's signers make the certificates of offloaded pods (PodCertificateRequests): those of this "
         "cluster (home) or of the one that they run in (provider)")
      .type_name("ENUM:home or provider")
      .preset("home");
  app.flag("--enable-apiserver-support", texts.all_tokens,
           "Same as --apiserver-support=always or, with =false, never; refused if it contradicts that flag");
  app.option("--home-api-server-host", settings.offloading.api_server_host,
             "Host by which offloaded pods reach that API server; without it the host is unknown, and with always pods "
             "use kubernetes.default");
  app.number(
      "--home-api-server-port", [&settings](int port) { settings.offloading.api_server_port = std::to_string(port); },
      any_port, "Port of that API server");
  app.option("--api-server-address-override", settings.peering.api_server_override,
             "Host, host:port or URL by which consumers reach this API server; by default that of a control-plane "
             "node, port 6443, or else the server of the kubeconfig");
  app.option("--ca-override", options.ca_override,
             "CA (base64 of PEM) with which consumers verify this API server; by default the cluster's");
  app.flag("--trusted-ca", options.trusted_ca,
           "Consumers verify this API server with the CAs that their system trusts");
  add_preset(app, "--identity-certificate-duration", texts.certificate_validity,
             "Requested validity of consumers' certificates; the cluster may sign for less");
  app.flag("--tls-compatibility-mode", settings.peering.rsa_keys,
           "Make an RSA-2048 key for the cluster instead of Ed25519, if it has no key yet");
}

}  // namespace liqod
