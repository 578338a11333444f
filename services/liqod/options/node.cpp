#include "options/groups.hpp"

namespace liqod {

void add_node_options(cli::Command app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  add_preset(app, "--node-ping-interval", texts.ping_interval, "Time between two probes of a provider");
  add_preset(app, "--node-ping-timeout", texts.ping_timeout, "Time that a provider has to answer a probe");
  app.number("--node-ping-failures", settings.nodes.probe_failures, {.least = 1, .most = 100},
             "Number of probes in a row that must fail before a virtual node is not Ready");
  add_preset(app, "--node-lease-duration", texts.lease_duration, "Validity of the heartbeat of virtual nodes");
  app.option("--node-extra-labels", texts.extra_labels,
             "Labels of every virtual node, key=value,...; those of a VirtualNode override them")
      .delimiter(',');
  app.option("--node-extra-annotations", texts.extra_annotations, "Annotations of every virtual node, in the same form")
      .delimiter(',');
  app.option("--refused-node-labels", settings.nodes.refused_node_labels,
             "Labels that providers may not set on their virtual nodes: key,... or domain/*. They may never set labels "
             "of kubernetes.io and k8s.io domains, except region, zone, architecture and operating system")
      .delimiter(',');
  app.flag("--provider-zones", settings.nodes.takes_provider_zones,
           "Virtual nodes are in the zone and region that all nodes of their provider share (labels "
           "topology.kubernetes.io/zone and /region); without it they only show them as liqo.io/zone and /region");
  app.option("--offload-namespaces", texts.selection.selector,
             "Selector of namespaces that are offloaded when they are created, as in kubectl -l: team=ml,!private. A "
             "namespace that no longer matches is no longer offloaded");
  add_preset(app, "--offload-namespaces-pod-strategy", texts.selection.pod_strategy,
             "podOffloadingStrategy of those namespaces: LocalAndRemote, Remote or Local")
      .member_of({"LocalAndRemote", "Remote", "Local"});
  add_preset(app, "--offload-namespaces-mapping-strategy", texts.selection.mapping_strategy,
             "namespaceMappingStrategy of those namespaces: DefaultName or EnforceSameName")
      .member_of({"DefaultName", "EnforceSameName"});
  app.list("--offload-namespaces-to", texts.selection.clusters,
           "Selector of the virtual nodes to which those namespaces are offloaded; may be given more than once (a node "
           "has to match one of them); by default every virtual node");
  add_preset(app, "--namespace-withdrawal-grace", texts.withdrawal_grace,
             "How long the twin of a namespace stays after a change of labels, when its selector matches no virtual "
             "node any more");
}

}  // namespace liqod
