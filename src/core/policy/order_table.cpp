#include "core/policy/order_table.hpp"

#include <algorithm>
#include <span>

#include "core/common/names.hpp"
#include "core/policy/key_table.hpp"

namespace liqo::core {
namespace {

/// One key, or several, and who obeys it. "example.com/*" are the keys of that domain and of all below it,
/// "*/text" the names (what follows the domain) that match in any domain. Elsewhere "*" at an end stands for any text.
struct Order {
  std::string_view key;
  std::string_view obeyed_by;
};
using Orders = std::span<const Order>;

constexpr std::string_view copies_elsewhere = "a controller that copies objects into other namespaces";
constexpr std::string_view load_balancer = "the load balancer of a cloud";
constexpr std::string_view ingress_controller = "an Ingress controller";

/// Orders about a Secret or a ConfigMap, as labels or annotations.
constexpr Order of_contents[] = {
    {"reflector.v1.k8s.emberstack.com/*", "Reflector, which copies objects into other namespaces"},
    {"replicator.v1.mittwald.de/*", "kubernetes-replicator, which copies objects between namespaces"},
    {"kubed.appscode.com/*", "Config Syncer, which copies objects into other namespaces"},
    {"hnc.x-k8s.io/*", "Hierarchical Namespaces, which copies objects into other namespaces"},
    {"secretgen.carvel.dev/*", "secretgen-controller, which fills Secrets with those of other namespaces"},
    {"vault.security.banzaicloud.io/*", "Bank-Vaults, which reads secrets for it"},
    {"bank-vaults.io/*", "Bank-Vaults, which reads secrets for it"},
    {"cert-manager.io/allow-direct-injection", "cert-manager, which makes it a CA of webhooks"},
    {"argocd.argoproj.io/secret-type", "Argo CD"},
    {"istio/multiCluster", "Istio"},
    {"openpolicyagent.org/*", "Open Policy Agent, which loads policies from it"},
    {"grafana_*", "the sidecar of Grafana, which loads dashboards and data sources from it"},
    {"loki_rule", "the sidecar of Loki, which loads rules from it"},
    {"k8s-sidecar-target-directory", "a sidecar that writes it to files"},
    {"*/replicate-to*", copies_elsewhere},
    {"*/replicate-from", copies_elsewhere},
};

/// Orders about a claim, or the template of one.
constexpr Order of_claims[] = {
    {"nfs.io/*", "the NFS provisioner, which takes the path of a directory from it"},
    {"kubevirt.io/*", "KubeVirt's importer, which fetches or clones what it names"},
    {"k8s.io/CloneRequest", "KubeVirt's importer, which clones what it names"},
    {"k8s.io/CloneOf", "KubeVirt's importer, which clones what it names"},
    {"trident.netapp.io/*", "Trident, which imports or clones what it names"},
    {"csi.hpe.com/*", "HPE's CSI driver, which imports or clones what it names"},
    {"openebs.io/*", "OpenEBS"},
    {"longhorn.io/*", "Longhorn, which backs up or moves volumes by it"},
    {"px/*", "Portworx"},
    {"portworx.io/*", "Portworx"},
    {"openstorage.org/*", "Portworx"},
    {"stork.libopenstorage.org/*", "Stork"},
    {"everest.io/*", "Huawei's CSI driver"},
    {"ebs.csi.aws.com/*", "Amazon's CSI driver, which changes the volume by it"},
    {"juicefs/*", "JuiceFS"},
    {"juicefs.com/*", "JuiceFS"},
    {"volsync.backube/*", "VolSync"},
    {"k8up.io/*", "K8up"},
    {"kanister.io/*", "Kanister"},
    {"kasten.io/*", "Kasten"},
    {"stash.appscode.com/*", "Stash"},
    {"pv.kubernetes.io/*", "Kubernetes, which takes the claim for one that is bound"},
    {"volume.kubernetes.io/selected-node", "Kubernetes, which takes the node from it"},
    {"volume.alpha.kubernetes.io/selected-node", "Kubernetes, which takes the node from it"},
    {"volume.kubernetes.io/storage-provisioner", "Kubernetes, which takes the provisioner from it"},
    {"volume.beta.kubernetes.io/storage-provisioner", "Kubernetes, which takes the provisioner from it"},
};

/// Orders about how a Service or an Ingress is reached: load balancers, addresses, DNS names, certificates, meshes, and
/// checks that are run against it.
constexpr Order of_exposure[] = {
    {"cert-manager.io/*", "cert-manager"},
    {"cilium.io/*", "Cilium"},
    {"io.cilium/*", "Cilium"},
    {"cloud.google.com/*", "Google Cloud"},
    {"gke.io/*", "Google Cloud"},
    {"consul.hashicorp.com/*", "Consul"},
    {"digitalocean.com/*", "DigitalOcean"},
    {"getambassador.io/*", "Emissary"},
    {"hetzner.cloud/*", "Hetzner Cloud"},
    {"k8s.aws/*", "Amazon's load balancer controller"},
    {"konghq.com/*", "Kong"},
    {"kube-vip.io/*", "kube-vip"},
    {"kubesphere.io/*", "OpenELB"},
    {"linode.com/*", "Linode"},
    {"metallb.io/*", "MetalLB"},
    {"metallb.universe.tf/*", "MetalLB"},
    {"networking.istio.io/*", "Istio"},
    {"openstack.org/*", "OpenStack"},
    {"oraclecloud.com/*", "Oracle Cloud"},
    {"ovn.kubernetes.io/*", "Kube-OVN"},
    {"ovn.org/*", "OVN-Kubernetes"},
    {"projectcalico.org/*", "Calico"},
    {"purelb.io/*", "PureLB"},
    {"service.beta.kubernetes.io/*", load_balancer},
    {"service.beta.openshift.io/*", "OpenShift"},
    {"submariner.io/*", "Submariner"},
    {"tailscale.com/*", "Tailscale"},
    {"vultr.com/*", "Vultr"},
    {"kubernetes.io/elb.*", "Huawei Cloud"},
    {"service.kubernetes.io/tke-*", "Tencent Cloud"},
    {"service.kubernetes.io/qcloud-*", "Tencent Cloud"},
    {"service.kubernetes.io/ibm-*", "IBM Cloud"},
    {"cloud.tencent.com/*", "Tencent Cloud"},
    {"alibabacloud.com/*", "Alibaba Cloud"},
    {"antrea.io/*", "Antrea"},
    {"loxilb.io/*", "LoxiLB"},
    {"skupper.io/*", "Skupper"},
    {"gardener.cloud/*", "Gardener"},
    {"f5.com/*", "F5"},
    {"citrix.com/*", "NetScaler"},
    {"netscaler.com/*", "NetScaler"},
    {"ako.vmware.com/*", "Avi"},
    {"ncp/*", "NSX"},
    {"stackit.cloud/*", "STACKIT"},
    {"scaleway.com/*", "Scaleway"},
    {"scw.cloud/*", "Scaleway"},
    {"civo.com/*", "Civo"},
    {"metal.equinix.com/*", "Equinix"},
    {"ngrok.com/*", "ngrok"},
    {"netbird.io/*", "NetBird"},
    {"inlets.dev/*", "inlets"},
    {"svccontroller.k3s.cattle.io/*", "the load balancer of K3s"},
    {"multicluster.x-k8s.io/*", "Multi-Cluster Services"},
    {"mirror.linkerd.io/*", "Linkerd, which shows the Service to other clusters"},
    {"traefik.ingress.kubernetes.io/service.serverstransport", "Traefik"},
    {"ad.datadoghq.com/*", "Datadog, which runs checks by it"},
    {"co.elastic.*", "Elastic's agents, which run checks by it"},
    {"external-dns.*", "ExternalDNS"},
    {"*/*load-balancer*", load_balancer},
    {"*/*loadbalancer*", load_balancer},
};

/// Further orders of an Ingress: settings of a load balancer outside the cluster, and more than hosts and paths,
/// whichever the Ingress controller is.
constexpr Order of_ingresses[] = {
    {"alb.ingress.kubernetes.io/*", "Amazon's load balancer controller"},
    {"appgw.ingress.kubernetes.io/*", "Azure's application gateway"},
    {"ingress.gcp.kubernetes.io/*", "Google Cloud"},
    {"kubernetes.io/ingress.global-static-ip-name", "Google Cloud"},
    {"kubernetes.io/ingress.regional-static-ip-name", "Google Cloud"},
    {"kubernetes.io/ingress.qcloud-*", "Tencent Cloud"},
    {"mse.ingress.kubernetes.io/*", "Alibaba Cloud"},
    {"higress.io/*", "Higress"},
    {"bluemix.net/*", "IBM Cloud"},
    {"yandex.cloud/*", "Yandex Cloud"},
    {"traefik.ingress.kubernetes.io/router.entrypoints", "Traefik"},
    {"traefik.ingress.kubernetes.io/router.priority", "Traefik"},
    {"traefik.ingress.kubernetes.io/router.tls.*", "Traefik"},
    {"nginx.org/mergeable-ingress-type", "NGINX"},
    {"k8s.apisix.apache.org/*", "APISIX"},
    {"projectcontour.io/*", "Contour"},
    {"*/config-*", ingress_controller},
    {"*/*snippet*", ingress_controller},
    {"*/*server-alias*", ingress_controller},
    {"*/*canary*", ingress_controller},
    {"*/*auth-*", ingress_controller},
    {"*/*secret*", ingress_controller},
    {"*/*mirror*", ingress_controller},
    {"*/*scheme*", ingress_controller},
    {"*/*certificate*", ingress_controller},
    {"*/*-plugins", ingress_controller},
    {"*/*upstream-vhost*", ingress_controller},
    {"*/*middlewares*", ingress_controller},
    {"*/*tls-acme*", ingress_controller},
    {"*/*default-backend*", ingress_controller},
    {"*/*proxy-ssl*", ingress_controller},
};

/// Labels of Services and Ingresses. Other labels are what selectors of the consumer's own go by.
constexpr Order of_exposed_labels[] = {
    {"istio.io/use-waypoint*", "Istio"},
    {"istio.io/ingress-use-waypoint", "Istio"},
    {"istio.io/global", "Istio, which shows the Service to other clusters"},
    {"mirror.linkerd.io/*", "Linkerd, which shows the Service to other clusters"},
    {"svccontroller.k3s.cattle.io/*", "the load balancer of K3s"},
    {"submariner.io/*", "Submariner"},
    {"tailscale.com/*", "Tailscale"},
    {"multicluster.x-k8s.io/*", "Multi-Cluster Services"},
};

/// What load balancers and Ingress controllers note on an object for themselves, and read only where they wrote it.
constexpr std::string_view notes[] = {"metallb.io/ip-allocated-from-pool",
                                      "metallb.universe.tf/ip-allocated-from-pool",
                                      "kube-vip.io/vipHost",
                                      "kube-vip.io/hwaddr",
                                      "kube-vip.io/requestedIP",
                                      "loadbalancer.openstack.org/load-balancer-address",
                                      "loadbalancer.openstack.org/load-balancer-id",
                                      "load-balancer.hetzner.cloud/id",
                                      "load-balancer.hetzner.cloud/ipv4",
                                      "load-balancer.hetzner.cloud/ipv6",
                                      "kubernetes.digitalocean.com/load-balancer-id",
                                      "kubernetes.io/ingress.qcloud-loadbalance-id",
                                      "cloud.google.com/neg-status",
                                      "ingress.kubernetes.io/backends",
                                      "ingress.kubernetes.io/forwarding-rule",
                                      "ingress.kubernetes.io/target-proxy",
                                      "ingress.kubernetes.io/url-map"};

/// Annotations of a Service that hold for the traffic that an Ingress or a gateway sends to it, and labels by which
/// Istio has a waypoint look at its traffic.
constexpr std::string_view of_backends[] = {"istio.io/use-waypoint*",
                                            "istio.io/ingress-use-waypoint",
                                            "konghq.com/*",
                                            "getambassador.io/*",
                                            "*/backend-config",
                                            "traefik.ingress.kubernetes.io/service.serverstransport",
                                            "haproxy.org/*",
                                            "haproxy-ingress.github.io/*",
                                            "k8s.apisix.apache.org/*",
                                            "projectcontour.io/*",
                                            "nginx.org/*",
                                            "ingress.kubernetes.io/*",
                                            "*/*auth-*",
                                            "*/*allowlist*",
                                            "*/*whitelist*",
                                            "*/*middlewares*",
                                            "*/*plugins*"};

bool matches_text(std::string_view text, std::string_view pattern) {
  const bool open_front = pattern.starts_with('*'), open_end = pattern.ends_with('*');
  if (open_front) pattern.remove_prefix(1);
  if (open_end) pattern.remove_suffix(1);
  if (open_front && open_end) return text.contains(pattern);
  if (open_front) return text.ends_with(pattern);
  return open_end ? text.starts_with(pattern) : text == pattern;
}

std::string_view name_of(std::string_view key) { return key.substr(std::min(key.find('/') + 1, key.size())); }

bool matches(std::string_view key, std::string_view pattern) {
  if (pattern.starts_with("*/")) return matches_text(name_of(key), pattern.substr(2));
  if (pattern.ends_with("/*")) return is_below(domain_of(key), pattern.substr(0, pattern.size() - 2));
  return matches_text(key, pattern);
}

std::string_view find(Orders orders, std::string_view key) {
  const auto found = std::ranges::find_if(orders, [key](const Order& order) { return matches(key, order.key); });
  return found == orders.end() ? std::string_view() : found->obeyed_by;
}

}  // namespace

std::string_view who_obeys(TwinKind kind, Metadata part, std::string_view key) {
  switch (kind) {
    case TwinKind::secret:
    case TwinKind::config_map:
      return find(of_contents, key);
    case TwinKind::claim:
      return find(of_claims, key);
    case TwinKind::service:
      return find(part == Metadata::labels ? Orders(of_exposed_labels) : of_exposure, key);
    case TwinKind::ingress:
      if (part == Metadata::labels) return find(of_exposed_labels, key);
      if (const std::string_view found = find(of_exposure, key); !found.empty()) return found;
      return find(of_ingresses, key);
  }
  return {};
}

AllowedKeys allowed_keys(TwinKind kind, Metadata part, const PodPolicy& policy) {
  if (part == Metadata::labels) return {policy.object_labels, "objectLabels"};
  if (kind == TwinKind::service) return {policy.service_annotations, "serviceAnnotations"};
  if (kind == TwinKind::ingress) return {policy.ingress_annotations, "ingressAnnotations"};
  return {policy.object_annotations, "objectAnnotations"};
}

std::string why_refused(TwinKind kind, Metadata part, std::string_view key, const PodPolicy& policy) {
  if (const std::string_view obeyed_by = who_obeys(kind, part, key); !obeyed_by.empty())
    return "is an order to " + std::string(obeyed_by);
  if (policy.strict_metadata && !is_common_annotation(key) && !is_below(domain_of(key), "liqo.io"))
    return "is not known here, and strictMetadata of the policy refuses what is unknown";
  return {};
}

bool is_note(std::string_view key) { return std::ranges::find(notes, key) != std::ranges::end(notes); }

bool is_of_backends(std::string_view key) {
  return !is_note(key) &&
         std::ranges::any_of(of_backends, [key](std::string_view pattern) { return matches(key, pattern); });
}

}  // namespace liqo::core
