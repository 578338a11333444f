#include "core/common/ip.hpp"
#include "core/common/names.hpp"
#include "kube/base/text.hpp"
#include "options/groups.hpp"

namespace liqod {
namespace {

kube::Result<void> check_storage_class(const std::string& text) {
  if (liqo::core::is_dns_subdomain(text)) return {};
  return kube::fail(kube::Errc::invalid_input, "is not the name of a StorageClass: " + text);
}

}  // namespace

void add_provider_options(cli::Command app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  add_preset(app, "--foreign-cluster-ping-interval", texts.peer_interval,
             "Time between two probes of a peer's API server; its ForeignCluster shows the result; 0 turns them off");
  add_preset(app, "--foreign-cluster-ping-timeout", texts.peer_timeout, "Time that a peer has to answer such a probe");
  app.number("--pod-reflection-workers", settings.offloading.pod_workers, {.least = 1, .most = 1024},
             "Pods worked on at a time, per virtual node");
  add_reflection_options(app, settings);
  app.number("--provider-cache-mib", settings.links.provider_cache_mib, {.least = 1, .most = 1 << 20},
             "Memory in MiB for the objects of one provider; a provider with more has no session until it has fewer");
  app.number("--provider-cache-objects", settings.links.provider_cache_objects, {.least = 1, .most = 100'000'000},
             "Number of objects of one provider; a provider with more has no session until it has fewer");
  app.number("--provider-writes-per-second", settings.links.provider_writes_per_second, {.least = 1, .most = 100'000},
             "Writes per second in this cluster that the reports of one provider may cause, after a burst of 5000");
  app.flag("--disable-ip-reflection{false}", settings.offloading.reflect_ips,
           "Pods at home show no addresses, and no endpoints are reflected");
  app.flag("--deny-direct-connections", settings.reflection.denies_direct_connections,
           "Leave out endpoints of consumers' Services that a consumer marks as being in a third cluster");
  const auto read_pod_ranges = [&settings](const std::vector<std::string>& values) -> kube::Result<void> {
    KUBE_TRY(ranges, liqo::core::parse_ranges(kube::join(values, ",")));
    settings.peering.pod_cidrs = liqo::core::in_words(ranges);
    return {};
  };
  app.list("--pod-cidr", read_pod_ranges,
           "Range of the addresses of this cluster's pods, as published to peers (in ConfigMap "
           "liqo-clusterid-configmap); may be given more than once")
      .type_name("");
  app.option("--virtual-storage-class-name", settings.storage.storage_class,
             "StorageClass whose claims get their volumes where the pods run, here or in another cluster; its "
             "provisioner is liqo.io/storage. Without it there are no such volumes")
      .check(check_storage_class);
  add_preset(app, "--storage-namespace", settings.storage.storage_namespace,
             "Namespace of the claims that hold the data of that class's volumes in this cluster")
      .check(check_label);
}

}  // namespace liqod
