#include "core/reflection/references.hpp"

#include <set>
#include <string_view>

namespace liqo::core::reflection {
namespace {

namespace json = kube::json;
using kube::string_at;

class Names {
 public:
  void add(std::string_view name) {
    if (!name.empty() && names_.size() < max_references) names_.emplace(name);
  }
  void add_each(const json::array& references, std::initializer_list<std::string_view> path) {
    for (const json::value& reference : references) add(string_at(reference, path));
  }
  std::vector<std::string> take() { return {names_.begin(), names_.end()}; }

 private:
  std::set<std::string, std::less<>> names_;
};

/// Volume sources that name a Secret by `secretRef`.
constexpr std::string_view with_secret_ref[] = {"cephfs", "cinder",  "flexVolume", "iscsi",
                                                "rbd",    "scaleIO", "storageos"};

void add_volume(const json::value& volume, Names& names) {
  names.add(string_at(volume, {"secret", "secretName"}));
  names.add_each(kube::array_at(volume, {"projected", "sources"}), {"secret", "name"});
  names.add(string_at(volume, {"csi", "nodePublishSecretRef", "name"}));
  names.add(string_at(volume, {"azureFile", "secretName"}));
  for (std::string_view kind : with_secret_ref) names.add(string_at(volume, {kind, "secretRef", "name"}));
}

void add_container(const json::value& container, Names& names) {
  names.add_each(kube::array_at(container, {"env"}), {"valueFrom", "secretKeyRef", "name"});
  names.add_each(kube::array_at(container, {"envFrom"}), {"secretRef", "name"});
}

}  // namespace

std::vector<std::string> secrets_of_pod(const kube::Object& pod) {
  Names names;
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"})
    for (const json::value& container : kube::array_at(pod.spec(), {list})) add_container(container, names);
  for (const json::value& volume : kube::array_at(pod.spec(), {"volumes"})) add_volume(volume, names);
  names.add_each(kube::array_at(pod.spec(), {"imagePullSecrets"}), {"name"});
  return names.take();
}

std::vector<std::string> secrets_of_ingress(const kube::Object& ingress) {
  Names names;
  names.add_each(kube::array_at(ingress.spec(), {"tls"}), {"secretName"});
  return names.take();
}

std::vector<std::string> pull_secrets_of(const kube::Object& service_account) {
  Names names;
  names.add_each(kube::array_at(service_account.tree(), {"imagePullSecrets"}), {"name"});
  return names.take();
}

}  // namespace liqo::core::reflection
