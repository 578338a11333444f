#include "core/slices/policy.hpp"
#include "kube/base/text.hpp"
#include "options/groups.hpp"

namespace liqod {

kube::Result<void> add_sharing_options(cli::Command app, Options& options) {
  auto& slices = options.settings.slices;
  // Each of these can also be a key of the ConfigMap liqo-sharing-policy, which takes precedence and is read while
  // liqod runs.
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
             "Percentage of the free resources that a slice of class share is granted (90), 0: none; the annotation "
             "liqo.io/sharing-percentage of a Tenant overrides it for one consumer");
  add_policy("cluster-labels", "Labels that the virtual nodes of this cluster's consumers get: name=value,...");
  add_policy("ingress-classes", "Ingress classes offered to consumers: \"name;default,name2\"");
  add_policy("load-balancer-classes", "Load balancer classes offered to consumers, in the same form");
  // The chart writes it with a value: --enable-storage=false.
  const auto read_storage = [&slices](const std::string& text) {
    return liqo::core::set_policy(slices, "enable-storage", text.empty() || text == "{}" ? "true" : text);
  };
  app.option("--enable-storage", read_storage, "Offer consumers the storage classes of this cluster")
      .allow_empty()
      .type_name("")
      .group("Sharing");
  add_policy("real-storage-class-name",
             "The storage class that consumers get by default; if not set, the cluster's default");
  return {};
}

}  // namespace liqod
