#include "core/common/node_labels.hpp"

#include <algorithm>

#include "core/common/names.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

/// Architectures that container images are built for. Others would mislead.
constexpr std::string_view architectures[] = {"amd64", "arm64", "arm", "ppc64le", "s390x", "riscv64", "386"};
constexpr std::string_view operating_systems[] = {"linux", "windows"};

}  // namespace

bool is_reserved_node_label(std::string_view name, std::string_view value, std::span<const std::string> refused) {
  if (name == api::labels::type || name == api::labels::remote_cluster_id) return true;
  if (name == "kubernetes.io/arch") return std::ranges::find(architectures, value) == std::end(architectures);
  if (name == "kubernetes.io/os") return std::ranges::find(operating_systems, value) == std::end(operating_systems);
  const bool is_place = name == "topology.kubernetes.io/region" || name == "topology.kubernetes.io/zone";
  const std::string_view domain = domain_of(name);
  const bool has_domain = domain.size() < name.size();
  if (!is_place && has_domain && (is_below(domain, "kubernetes.io") || is_below(domain, "k8s.io"))) return true;
  return std::ranges::any_of(refused, [&](std::string_view entry) {
    return entry == name || (has_domain && entry.ends_with("/*") && entry.substr(0, entry.size() - 2) == domain);
  });
}

}  // namespace liqo::core
