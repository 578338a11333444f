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

std::optional<ObjectKey> ObjectKey::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  const std::string_view name = text.substr(slash + 1);
  if (name.empty() || name.contains('/')) return std::nullopt;
  return ObjectKey{std::string(text.substr(0, slash)), std::string(name)};
}

}  // namespace kube
