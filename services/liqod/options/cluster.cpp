#include "core/common/ip.hpp"
#include "options/groups.hpp"

namespace liqod {
namespace {

kube::Result<void> check_ip(const std::string& text) {
  if (liqo::core::IpAddress::parse(text)) return {};
  return kube::fail(kube::Errc::invalid_input, "is not an IP address: " + text);
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
  app.option("--node-ip", settings.nodes.node_ip,
             "Address of the virtual nodes, at which the cluster's API server reaches this process")
      .required()
      .check(check_ip);
  app.number("--listen-port", settings.nodes.kubelet_ports.first, any_port, "Port of the kubelet API");
  app.number("--listen-port-count", settings.nodes.kubelet_ports.count, {.least = 1, .most = 4096},
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
  app.flag("--metrics-hide-peers", texts.hides_peers,
           "Replace the names of peers by numbers in /metrics, and leave the reason out of /readyz");
}

}  // namespace liqod
