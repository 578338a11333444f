#include "model/advice.hpp"

#include <filesystem>

namespace liqoctl::model {

std::string advised(const kube::Failure& failure) {
  const std::string& said = failure.text();
  if (said.contains("failed calling webhook") && said.contains(".liqo.io"))
    return "liqod does not answer the API server, which asks it about every such change: liqoctl check says why there "
           "(" +
           said + ")";
  if (said.contains("liqoctl ")) return said;
  // A webhook that refuses says itself why, in other words than these.
  if (failure.is_forbidden() && said.contains(" cannot ") && said.contains(" in API group "))
    return said + "; give the kubeconfig of a user who may, or ask an administrator of that cluster for the right";
  // "page not found" means that the kind is unknown: otherwise the API server names the missing object.
  if (failure.is_not_found() && said.contains(".liqo.io/") && said.contains("page not found"))
    return said + "; is Liqo installed there? (liqoctl install --help)";
  return said;
}

std::string unreadable(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed) || failed ? path + " cannot be read" : "there is no file " + path;
}

}  // namespace liqoctl::model
