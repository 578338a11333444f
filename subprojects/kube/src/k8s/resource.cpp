#include "kube/k8s/resource.hpp"

#include "kube/base/url.hpp"

namespace kube {

std::string Resource::api_version() const {
  if (group.empty()) return std::string(version);
  return std::string(group) + "/" + std::string(version);
}

std::string Resource::path(std::string_view ns) const {
  std::string out = group.empty() ? "/api/" : "/apis/";
  if (!group.empty()) out.append(group).append("/");
  out.append(version);
  if (namespaced && !ns.empty()) out.append("/namespaces/").append(percent_encode(ns));
  return out.append("/").append(plural);
}

std::string Resource::path(std::string_view ns, std::string_view name) const {
  return path(ns).append("/").append(percent_encode(name));
}

}  // namespace kube
