#include "core/namespaces/remote_name.hpp"

#include <algorithm>

#include "core/common/names.hpp"
#include "core/common/peer_names.hpp"
#include "kube/base/printable.hpp"

namespace liqo::core {
namespace {

constexpr std::size_t max_name = 63;

}  // namespace

kube::Result<std::string> remote_namespace_name(const api::NamespaceOffloading& offloading,
                                                std::string_view local_cluster) {
  using api::NamespaceMappingStrategy;
  std::string name(offloading.ns());
  switch (offloading.mapping_strategy()) {
    case NamespaceMappingStrategy::enforce_same_name:
      break;
    case NamespaceMappingStrategy::default_name:
      name += "-" + std::string(local_cluster);
      if (name.size() > max_name)
        return kube::fail(kube::Errc::invalid_input,
                          "the strategy DefaultName makes the name " + name + " of " + std::to_string(name.size()) +
                              " characters, and a namespace may have 63; delete the NamespaceOffloading and create it "
                              "with SelectedName or EnforceSameName");
      break;
    case NamespaceMappingStrategy::selected_name:
      name = offloading.remote_namespace_name();
      if (name.empty())
        return kube::fail(kube::Errc::invalid_input,
                          "the strategy SelectedName needs a remoteNamespaceName; delete the NamespaceOffloading and "
                          "create it with one");
      break;
  }
  if (!is_dns_label(name))
    return kube::fail(kube::Errc::invalid_input,
                      kube::in_quotes(name) +
                          " cannot be the name of a namespace, which has at most 63 characters of a-z, 0-9 and '-' "
                          "and begins and ends with a letter or digit");
  // Admission on both sides refuses a whole map for one such name, which would hold up the twins of all other
  // namespaces.
  if (name.starts_with(kubernetes_prefix))
    return kube::fail(
        kube::Errc::invalid_input,
        name + " begins with " + std::string(kubernetes_prefix) +
            " as Kubernetes' own namespaces do; choose another name: delete the NamespaceOffloading and " +
            "create it with SelectedName");
  return name;
}

std::string refuse_twin_name(std::string_view name, std::string_view liqo_namespace,
                             std::string_view storage_namespace) {
  if (!is_dns_label(name)) return "the wanted name cannot be the name of a namespace";
  if (name == "default" || std::ranges::find(kubernetes_namespaces, name) != std::end(kubernetes_namespaces))
    return std::string(name) + " is a system namespace of the provider; choose another name";
  if (name == liqo_namespace)
    return std::string(name) + " is Liqo's own namespace at the provider; choose another name";
  // The twin's consumer would own all data of volumes there.
  if (name == storage_namespace)
    return std::string(name) + " is the namespace in which the provider has its own volumes; choose another name";
  // A twin could take the name of a tenant namespace to come.
  if (name.starts_with(tenant_namespace_prefix))
    return std::string(name) + " has the form of a tenant namespace, which begins with " +
           std::string(tenant_namespace_prefix) + "; choose another name";
  return {};
}

}  // namespace liqo::core
