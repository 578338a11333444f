#include "kube/base/text.hpp"
#include "liqo/core/addresses/ip.hpp"
#include "liqo/core/names.hpp"
#include "liqo/core/slices/policy.hpp"
#include "option_groups.hpp"

namespace liqod {
namespace {

kube::Result<void> check_storage_class(const std::string& text) {
  if (liqo::core::is_dns_subdomain(text)) return {};
  return kube::fail(kube::Errc::invalid_input, "is not the name of a StorageClass: " + text);
}

}  // namespace

void add_node_options(cli::Command app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  add_preset(app, "--node-ping-interval", texts.ping_interval, "Time between two probes of a provider");
  add_preset(app, "--node-ping-timeout", texts.ping_timeout, "Time that a provider has to answer a probe");
  app.number("--node-ping-failures", settings.probe_failures, {.least = 1, .most = 100},
             "Number of probes in a row that must fail before a virtual node is not Ready");
  add_preset(app, "--node-lease-duration", texts.lease_duration, "Validity of the heartbeat of virtual nodes");
  app.option("--node-extra-labels", texts.extra_labels,
             "Labels of every virtual node, key=value,...; those of a VirtualNode override them")
      .delimiter(',');
  app.option("--node-extra-annotations", texts.extra_annotations, "Annotations of every virtual node, in the same form")
      .delimiter(',');
  app.option("--refused-node-labels", settings.refused_node_labels,
             "Labels that providers may not set on their virtual nodes: key,... or domain/*. They may never set labels "
             "of kubernetes.io and k8s.io domains, except region, zone and architecture")
      .delimiter(',');
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

void add_provider_options(cli::Command app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  add_preset(app, "--foreign-cluster-ping-interval", texts.peer_interval,
             "Time between two probes of a peer's API server; its ForeignCluster shows the result; 0 turns them off");
  add_preset(app, "--foreign-cluster-ping-timeout", texts.peer_timeout, "Time that a peer has to answer such a probe");
  app.number("--pod-reflection-workers", settings.pod_workers, {.least = 1, .most = 1024},
             "Pods worked on at a time, per provider");
  add_reflection_options(app, settings);
  app.number("--provider-cache-mib", settings.provider_cache_mib, {.least = 1, .most = 1 << 20},
             "Memory in MiB for the objects of one provider; a provider with more has no session until it has fewer");
  app.number("--provider-cache-objects", settings.provider_cache_objects, {.least = 1, .most = 100'000'000},
             "Number of objects of one provider; a provider with more has no session until it has fewer");
  app.number("--provider-writes-per-second", settings.provider_writes_per_second, {.least = 1, .most = 100'000},
             "Writes per second in this cluster that the reports of one provider may cause, after a burst of 5000");
  app.flag("--disable-ip-reflection{false}", settings.reflect_ips,
           "Pods at home show no addresses, and no endpoints are reflected");
  app.flag("--deny-direct-connections", settings.denies_direct_connections,
           "Leave out endpoints of consumers' Services that a consumer marks as being in a third cluster");
  const auto read_pod_ranges = [&settings](const std::vector<std::string>& values) -> kube::Result<void> {
    auto ranges = liqo::core::parse_ranges(kube::join(values, ","));
    if (!ranges) return std::unexpected(ranges.error());
    settings.pod_cidrs = liqo::core::in_words(*ranges);
    return {};
  };
  app.list("--pod-cidr", read_pod_ranges,
           "Range of the addresses of this cluster's pods, as published to peers (in ConfigMap "
           "liqo-clusterid-configmap); may be given more than once")
      .type_name("");
  app.option("--virtual-storage-class-name", settings.storage_class,
             "StorageClass whose claims get their volumes where the pods run, here or in another cluster; its "
             "provisioner is liqo.io/storage. Without it there are no such volumes")
      .check(check_storage_class);
  add_preset(app, "--storage-namespace", settings.storage_namespace,
             "Namespace of the claims that hold the data of that class's volumes in this cluster")
      .check(check_label);
}

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
  app.flag("--enable-apiserver-support", texts.all_tokens,
           "Same as --apiserver-support=always or, with =false, never; refused if it contradicts that flag");
  app.option("--home-api-server-host", settings.api_server_host,
             "Host by which offloaded pods reach that API server; without it the host is unknown, and with always pods "
             "use kubernetes.default");
  app.number(
      "--home-api-server-port", [&settings](int port) { settings.api_server_port = std::to_string(port); }, any_port,
      "Port of that API server");
  app.option("--api-server-address-override", settings.api_server_override,
             "Host, host:port or URL by which consumers reach this API server; by default that of a control-plane "
             "node, port 6443, or else the server of the kubeconfig");
  app.option("--ca-override", options.ca_override,
             "CA (base64 of PEM) with which consumers verify this API server; by default the cluster's");
  app.flag("--trusted-ca", options.trusted_ca,
           "Consumers verify this API server with the CAs that their system trusts");
  add_preset(app, "--identity-certificate-duration", texts.certificate_validity,
             "Requested validity of consumers' certificates; the cluster may sign for less");
  app.flag("--tls-compatibility-mode", settings.rsa_keys,
           "Make an RSA-2048 key for the cluster instead of Ed25519, if it has no key yet");
}

kube::Result<void> add_sharing_options(cli::Command app, Options& options) {
  auto& slices = options.settings.slices;
  // Each of these can also be a key of the ConfigMap liqo-sharing-policy, which wins and is read while liqod runs.
  const auto add_policy = [app, &slices](const char* name, const char* what) {
    const auto read = [&slices, name](const std::vector<std::string>& values) {
      return liqo::core::set_policy(slices, name, kube::join(values, ","));
    };
    app.list(std::string("--") + name, read, what).type_name("").group("Sharing");
  };
  if (auto usual =
          liqo::core::set_policy(slices, "default-node-resources", "cpu=4,memory=8Gi,pods=110,ephemeral-storage=20Gi");
      !usual)
    return usual;
  add_policy("default-node-resources",
             "What a slice of class default is granted for resources that it does not request: name=quantity,... "
             "(cpu=4,memory=8Gi,pods=110,ephemeral-storage=20Gi)");
  add_policy("default-limits-enforcement",
             "What pods must set: None (the default), Soft (requests) or Hard (limits equal to requests)");
  add_policy("default-resource-slice-class-enabled", "Whether slices of class default are served (true)");
  add_policy("share-resource-slice-class-enabled",
             "Whether slices of class share are served; by default as for class default");
  add_policy("sharing-percentage",
             "Percentage of the free resources that a slice of class share is granted (90); the annotation "
             "liqo.io/sharing-percentage of a Tenant overrides it for one consumer");
  add_policy("cluster-labels", "Labels that the virtual nodes of this cluster's consumers get: name=value,...");
  add_policy("ingress-classes", "Ingress classes offered to consumers: \"name;default,name2\"");
  add_policy("load-balancer-classes", "Load balancer classes offered to consumers, in the same form");
  // The chart writes it with a value: --enable-storage=false.
  const auto read_storage = [&slices](const std::string& text) {
    return liqo::core::set_policy(slices, "enable-storage", text.empty() || text == "{}" ? "true" : text);
  };
  app.option("--enable-storage", read_storage, "Offer consumers the storage classes of this cluster")
      .may_be_empty()
      .type_name("")
      .group("Sharing");
  add_policy("real-storage-class-name",
             "The storage class that consumers get by default; if not set, the cluster's default");
  return {};
}

}  // namespace liqod
