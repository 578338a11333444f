#include <arpa/inet.h>

#include "kube/telemetry/log.hpp"
#include "option_groups.hpp"

namespace liqod {
namespace {

kube::Result<void> check_ip(const std::string& text) {
  unsigned char bytes[16];
  const bool valid = inet_pton(AF_INET, text.c_str(), bytes) == 1 || inet_pton(AF_INET6, text.c_str(), bytes) == 1;
  if (!valid) return kube::fail(kube::Errc::invalid_input, "is not an IP address: " + text);
  return {};
}

}  // namespace

void add_cluster_options(cli::Command app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  app.option("--kubeconfig", options.kubeconfig,
             "Kubeconfig of the cluster to serve; in a pod none is needed, because its service account is used")
      .existing_file();
  app.option("--context", options.context, "Context of the kubeconfig; by default its current-context");
  app.option("--cluster-id", settings.cluster_id, "ID of the cluster to serve, as its peers know it")
      .required()
      .check(check_label);
  add_preset(app, "--liqo-namespace", settings.liqo_namespace, "Namespace of Liqo's own objects").check(check_label);
  app.option("--node-ip", settings.node_ip,
             "Address of the virtual nodes, at which the cluster's API server reaches this process")
      .required()
      .check(check_ip);
  app.number("--listen-port", settings.kubelet_ports.first, any_port, "Port of the kubelet API");
  app.number("--listen-port-count", settings.kubelet_ports.count, {.least = 1, .most = 4096},
             "Number of ports, from that one upwards, that are divided among the virtual nodes: each gets a port of "
             "its own, and if there are too few, the rest share the first; with 1 all nodes share one port");
  add_preset(app, "--metrics-address", options.metrics_address, "host:port of /metrics");
  app.flag("--metrics-secure", options.metrics_secure,
           "Serve /metrics over HTTPS, only to callers that the API server authenticates and authorises (default true; "
           "--metrics-secure=false is plain HTTP for everybody)");
  app.option("--metrics-cert-path", options.metrics_certificate_path,
             "Directory with the serving certificate of /metrics (tls.crt and tls.key), read again every 30 s; by "
             "default it is self-signed")
      .existing_directory();
  add_preset(app, "--health-probe-address", options.health_address, "host:port of /healthz and /readyz (HTTP)");
  app.flag("--metrics-hide-peers", texts.hides_peers, "Replace the names of peers by numbers in /metrics and /readyz");
}

void add_admission_options(cli::Command app, Options& options, Texts& texts) {
  app.option("--twin-names", texts.twin_names,
             "Names that new twin namespaces may have, PATTERN,... with * for any text, if the consumer's policy has "
             "no twinNames; by default names that end in -<consumer>")
      .delimiter(',');
  add_preset(
      app, "--cordon-silent-tenants-after", texts.silence,
      "Cordon a consumer that has sent a heartbeat before and then been silent for this long, e.g. 720h; 0 never does");
  add_preset(app, "--certificate-type", options.certificate_type,
             "Serving certificate of the kubelet API: kubelet (signed by the cluster) or self-signed")
      .member_of({"kubelet", "self-signed"});
  app.option("--kubelet-client-ca-file", options.kubelet_client_ca_file,
             "CA of the callers of the kubelet API; by default that of kube-system/extension-apiserver-authentication")
      .existing_file();
  app.number("--webhook-port", options.webhook_port, port_or_none,
             "Port of the admission webhooks; 0 switches them off, and with them the limits for tenants");
  app.option("--webhook-url", options.webhook_url,
             "https://host:port at which the API server reaches that port; by default through the Service "
             "liqo-webhook");
  add_preset(app, "--webhook-failure-policy", options.webhook_failure_policy,
             "What happens to requests while no replica answers: Fail (they are refused) or Ignore (they are admitted, "
             "even if they break the rules for tenants)")
      .member_of({"Fail", "Ignore"});
  const cli::Option webhook_ca =
      app.option("--webhook-client-ca-file", options.webhook_client_ca_file,
                 "CA of the API servers that may call the webhooks: others get 401, so the API server has to be "
                 "configured with a client certificate (docs/webhooks.md); by default everybody may call")
          .existing_file();
  app.list("--webhook-client-name", options.webhook_client_names,
           "Common name of a certificate of that CA that may call; may be given more than once; by default all")
      .needs(webhook_ca);
  add_preset(app, "--webhook-certificate-lifetime", texts.webhook_lifetime,
             "Validity of the serving certificate of the webhooks; it is renewed at 2/3 of that");
  app.number("--metric-agent-port", options.metric_agent_port, port_or_none,
             "Port at which API servers read the figures of consumers' pods (metrics.liqo.io); 0: consumers get none");
  add_preset(app, "--metric-agent-timeout", texts.figures_timeout,
             "Time that kubelets have to report these figures; later ones are left out");
  app.option("--kubelet-ca-file", options.kubelet_ca_file,
             "CA with which the kubelets are verified that report figures; by default the cluster's")
      .existing_file();
  app.flag("--enable-resource-enforcement,!--disable-resource-enforcement", options.settings.enforce_resources,
           "Consumers get no more than their quotas (default true; --enable-resource-enforcement=false switches it "
           "off)");
  app.flag("--enable-node-failure-controller", options.settings.node_failures,
           "Delete consumers' pods by force when their grace period is over and their node is not Ready, so that they "
           "can run elsewhere; they run twice if the node is only cut off");
  using liqo::core::Counting;
  app.choice(
         "--quota-counting", {{"exact", int(Counting::exact)}, {"containers", int(Counting::containers)}},
         [&options](int number) { options.ledger.counting = Counting(number); },
         "What a pod takes from its quota: exact, what the scheduler reserves for it (sidecars, overhead, limits that "
         "become requests, pods), or containers, only the requests of its containers, as Go Liqo counts")
      .type_name("ENUM:exact or containers")
      .preset("exact");
}

void add_process_options(cli::Command app, Options& options, Texts& texts) {
  app.flag("--leader-elect", options.leader_elect,
           "Run as one of several replicas: only the holder of the lease writes");
  add_preset(app, "--stop-delay", texts.stop_delay,
             "How long webhooks are still served after a signal to stop, while /readyz fails and the API server turns "
             "to another replica; 0: not at all");
  app.option("--identity", options.identity,
             "Name of this replica in the lease; by default $POD_NAME, or the host's name and the process ID");
  using kube::LogFormat, kube::LogLevel;
  app.choice(
      "--log-level",
      {{"debug", int(LogLevel::debug)},
       {"info", int(LogLevel::info)},
       {"warn", int(LogLevel::warn)},
       {"error", int(LogLevel::error)}},
      [&options](int number) { options.log_level = LogLevel(number); }, "debug, info (default), warn or error");
  app.choice(
      "--log-format", {{"text", int(LogFormat::text)}, {"json", int(LogFormat::json)}},
      [&options](int number) { options.log_format = LogFormat(number); }, "text (default) or json");
}

}  // namespace liqod
