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

std::string joined(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) out += (out.empty() ? "" : ",") + value;
  return out;
}

}  // namespace

void add_node_options(cli::Command app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  add_preset(app, "--node-ping-interval", texts.ping_interval, "Time between two probes of a provider");
  add_preset(app, "--node-ping-timeout", texts.ping_timeout, "Time that a provider has to answer a probe");
  app.number("--node-ping-failures", settings.probe_failures, {.least = 1, .most = 100},
             "Probes that must fail in a row until a virtual node is not Ready");
  add_preset(app, "--node-lease-duration", texts.lease_duration, "Validity of the heartbeat of virtual nodes");
  app.option("--node-extra-labels", texts.extra_labels,
             "Labels of every virtual node, key=value,...; those of a VirtualNode win over them")
      .delimiter(',');
  app.option("--node-extra-annotations", texts.extra_annotations, "Annotations of every virtual node, likewise")
      .delimiter(',');
  app.option(
         "--refused-node-labels", settings.refused_node_labels,
         "Labels that providers may not set on their virtual nodes: key,... or domain/*; those of kubernetes.io and "
         "k8s.io domains never are theirs, but for region, zone and architecture")
      .delimiter(',');
  app.option("--offload-namespaces", texts.selection.selector,
             "Labels of namespaces that are offloaded as they are made, as kubectl -l has them: team=ml,!private. A "
             "namespace that loses them is offloaded no longer");
  add_preset(app, "--offload-namespaces-pod-strategy", texts.selection.pod_strategy,
             "podOffloadingStrategy of those namespaces: LocalAndRemote, Remote or Local")
      .member_of({"LocalAndRemote", "Remote", "Local"});
  add_preset(app, "--offload-namespaces-mapping-strategy", texts.selection.mapping_strategy,
             "namespaceMappingStrategy of those namespaces: DefaultName or EnforceSameName")
      .member_of({"DefaultName", "EnforceSameName"});
  app.list("--offload-namespaces-to", texts.selection.clusters,
           "Labels of the virtual nodes that those namespaces are offloaded to, likewise; may be given more than once "
           "(one is enough), by default every virtual node");
  add_preset(app, "--namespace-withdrawal-grace", texts.withdrawal_grace,
             "How long the twin of a namespace stays when its selector matches no virtual node since labels have "
             "changed");
}

void add_provider_options(cli::Command app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  add_preset(app, "--foreign-cluster-ping-interval", texts.peer_interval,
             "Time between two probes of a peer's API server, whose result its ForeignCluster shows; 0 turns them off");
  add_preset(app, "--foreign-cluster-ping-timeout", texts.peer_timeout, "Time that a peer has to answer such a probe");
  app.number("--pod-reflection-workers", settings.pod_workers, {.least = 1, .most = 1024},
             "Pods worked on at a time, per provider");
  add_reflection_options(app, settings);
  app.number("--provider-cache-mib", settings.provider_cache_mib, {.least = 1, .most = 1 << 20},
             "MiB of objects that are held of one provider; one that shows more has no session until it shows less");
  app.number("--provider-cache-objects", settings.provider_cache_objects, {.least = 1, .most = 100'000'000},
             "Objects, likewise");
  app.number("--provider-writes-per-second", settings.provider_writes_per_second, {.least = 1, .most = 100'000},
             "Writes in this cluster that one provider may cause by what it reports, after a burst of 5000");
  app.flag("--disable-ip-reflection{false}", settings.reflect_ips,
           "Pods at home show no addresses, and no endpoints are reflected");
  app.flag("--deny-direct-connections", settings.denies_direct_connections,
           "Endpoints of consumers' Services that are in a third cluster, as a consumer says, are left out");
  const auto read_pod_ranges = [&settings](const std::vector<std::string>& values) -> kube::Result<void> {
    auto ranges = liqo::core::parse_ranges(joined(values));
    if (!ranges) return std::unexpected(ranges.error());
    settings.pod_cidrs = liqo::core::in_words(*ranges);
    return {};
  };
  app.list("--pod-cidr", read_pod_ranges,
           "Range of the addresses of this cluster's pods, as peers are told (in ConfigMap liqo-clusterid-configmap); "
           "may "
           "be given again")
      .type_name("");
  app.option(
         "--virtual-storage-class-name", settings.storage_class,
         "StorageClass whose claims get volumes where their pods run, here or in other clusters; its provisioner is "
         "liqo.io/storage. Without it there are no such volumes")
      .check(check_storage_class);
  add_preset(app, "--storage-namespace", settings.storage_namespace,
             "Namespace of the claims that hold the data of those volumes of that class which are in this cluster")
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
         "Which offloaded pods get service-account tokens for the API server of this cluster: those that run as a "
         "service "
         "account of their own or are annotated liqo.io/api-server-support=home, where --home-api-server-host says its "
         "address (needed), all, or none")
      .type_name("ENUM:never, needed or always")
      .preset("needed");
  app.flag("--enable-apiserver-support", texts.all_tokens,
           "As --apiserver-support=always, or, with =false, never; must not say another thing than that");
  app.option("--home-api-server-host", settings.api_server_host,
             "Host by which offloaded pods reach that API server; without it nobody knows, and with always they ask "
             "kubernetes.default");
  app.option("--home-api-server-port", settings.api_server_port, "Port of that API server");

  app.option("--api-server-address-override", settings.api_server_override,
             "Host, host:port or URL by which consumers reach this API server; by default that of a control-plane "
             "node, port 6443, or else the server of the kubeconfig");
  app.option("--ca-override", options.ca_override,
             "CA (base64 of PEM) by which consumers check this API server; by default that of the cluster");
  app.flag("--trusted-ca", options.trusted_ca,
           "Consumers check this API server by the authorities that their system trusts");
  add_preset(app, "--identity-certificate-duration", texts.certificate_validity,
             "Validity that consumers' certificates are asked for; the cluster may give less");
  app.flag("--tls-compatibility-mode", settings.rsa_keys,
           "The key of the cluster, where none is there yet, is RSA-2048 instead of Ed25519");
}

kube::Result<void> add_sharing_options(cli::Command app, Options& options) {
  auto& slices = options.settings.slices;
  // Each of these can also be a key of the ConfigMap liqo-sharing-policy, which wins and is read while liqod runs.
  const auto add_policy = [app, &slices](const char* name, const char* what) {
    const auto read = [&slices, name](const std::vector<std::string>& values) {
      return liqo::core::set_policy(slices, name, joined(values));
    };
    app.list(std::string("--") + name, read, what).type_name("").group("Sharing");
  };
  if (auto usual =
          liqo::core::set_policy(slices, "default-node-resources", "cpu=4,memory=8Gi,pods=110,ephemeral-storage=20Gi");
      !usual)
    return usual;
  add_policy("default-node-resources",
             "What a slice of class default is granted where it does not ask: name=quantity,... (cpu=4,memory=8Gi,"
             "pods=110,ephemeral-storage=20Gi)");
  add_policy("default-limits-enforcement",
             "What Quotas demand of pods: None (the default), Soft (requests) or Hard (limits equal to requests)");
  add_policy("default-resource-slice-class-enabled", "Whether slices of class default are served (true)");
  add_policy("share-resource-slice-class-enabled",
             "Whether slices of class share are served; by default, whether those of class default are");
  add_policy("sharing-percentage",
             "Part of the free resources that a slice of class share is granted (90); the annotation "
             "liqo.io/sharing-percentage of a Tenant says otherwise for one consumer");
  add_policy("cluster-labels", "Labels that the virtual nodes of this cluster's consumers get: name=value,...");
  add_policy("ingress-classes", "Ingress classes that consumers are offered: \"name;default,name2\"");
  add_policy("load-balancer-classes", "Load balancer classes that consumers are offered, likewise");
  // The chart writes it with a value: --enable-storage=false.
  const auto read_storage = [&slices](const std::string& text) {
    return liqo::core::set_policy(slices, "enable-storage", text.empty() || text == "{}" ? "true" : text);
  };
  app.option("--enable-storage", read_storage, "Offer consumers the storage classes of this cluster")
      .may_be_empty()
      .type_name("")
      .group("Sharing");
  add_policy("real-storage-class-name", "The storage class that consumers get by default; else the cluster's default");
  return {};
}

}  // namespace liqod
