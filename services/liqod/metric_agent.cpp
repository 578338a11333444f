#include "metric_agent.hpp"

namespace liqod {

MetricAgent make_metric_agent(liqo::controllers::Process& process, const kube::wire::ClusterConfig& home,
                              const Options& options) {
  if (options.metric_agent_port == 0) return {};
  MetricAgent made;
  made.pods = std::make_unique<liqo::controllers::ConsumerPods>(process.home());
  liqo::usage::KubeletAuthority kubelets{.ca_pem = home.ca_pem, .ca_file = home.ca_file};
  if (!options.kubelet_ca_file.empty()) kubelets = {.ca_pem = {}, .ca_file = options.kubelet_ca_file};
  made.agent = std::make_unique<liqo::usage::MetricAgent>(
      liqo::usage::MetricAgentContext{
          process.context().environment(), process.home(), process.leader_api(), process.replica_api(),
          process.leadership(), process.events(), [&process] { return process.waiting_for().empty(); },
          [&pods = *made.pods](std::string_view consumer) { return pods.nodes_of(consumer); }, std::move(kubelets)},
      liqo::usage::MetricAgentSettings{.port = options.metric_agent_port,
                                       .ns = options.settings.liqo_namespace,
                                       .certificate_lifetime = options.webhook_certificate_lifetime,
                                       .scrapes = {.timeout = options.metric_agent_timeout}});
  return made;
}

}  // namespace liqod
