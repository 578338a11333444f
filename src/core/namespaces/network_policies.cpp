#include "core/namespaces/network_policies.hpp"

#include "core/common/names.hpp"
#include "kube/base/text.hpp"

namespace liqo::core {
namespace {

/// A longer annotation is not ours: it lists the providers of one namespace.
constexpr std::size_t max_text = 16'384;

}  // namespace

void FoundPolicies::add(std::string_view name) {
  ++count;
  if (names.size() < max_named) names.emplace_back(name);
}

std::string describe_policies_at_home(const FoundPolicies& policies, std::string_view cluster, std::string_view twin) {
  std::string named = kube::join(policies.names, ", ");
  if (policies.count > policies.names.size())
    named += " and " + std::to_string(policies.count - policies.names.size()) + " more";
  const bool is_one = policies.count == 1;
  const std::string where(cluster);
  return (is_one ? "a NetworkPolicy" : std::to_string(policies.count) + " NetworkPolicies") + " of this namespace (" +
         named + (is_one ? ") does" : ") do") + " not hold in cluster " + where + ": keep pods that need " +
         (is_one ? "it" : "them") + " away from " + where + ", or ask its administrator for policies in namespace " +
         std::string(twin) + " there";
}

std::set<std::string, std::less<>> read_clusters(std::string_view text) {
  std::set<std::string, std::less<>> clusters;
  if (text.size() > max_text) return clusters;
  for (const std::string_view cluster : kube::split(text, ' '))
    if (is_dns_label(cluster)) clusters.emplace(cluster);
  return clusters;
}

std::string list_clusters(const std::set<std::string, std::less<>>& clusters) { return kube::join(clusters, " "); }

}  // namespace liqo::core
