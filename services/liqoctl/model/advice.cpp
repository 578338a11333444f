#include "model/advice.hpp"

#include <filesystem>

#include "kube/base/printable.hpp"

namespace liqoctl::model {
namespace {

constexpr std::size_t max_cause = 200;

}  // namespace

std::optional<std::string> why_unreviewed(const kube::Failure& failure) {
  const std::string_view said = failure.text();
  const std::size_t at = said.find("failed calling webhook \"");
  if (at == std::string_view::npos || !said.substr(at).contains(".liqo.io\"")) return std::nullopt;
  // Behind the quoted name comes what was tried, with a quoted URL, and then what came of it.
  return kube::printable(said.substr(said.rfind("\": ") + 3).substr(0, max_cause));
}

std::string unreviewed(std::string_view who, std::string_view ns, std::string_view alert, std::string_view cause) {
  std::string line = "liqod of " + std::string(who) + ", which reviews this request, does not answer";
  if (!alert.empty()) return line + ": it " + std::string(alert);
  return line + " (" + std::string(cause) + "): kubectl get pods -n " + std::string(ns) +
         " shows whether it runs there, and liqoctl check what is wrong";
}

std::string advised(const kube::Failure& failure) {
  const std::string& said = failure.text();
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
