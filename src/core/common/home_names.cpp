#include "core/common/home_names.hpp"

#include "kube/base/printable.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

constexpr std::size_t max_words = 200;
constexpr std::string_view unresolved = "do not resolve names";

}  // namespace

std::string default_twin_name(std::string_view ns, std::string_view consumer) {
  return std::string(ns).append("-").append(consumer);
}

bool knows_names_of_home(const kube::json::object& node_labels) {
  return kube::string_at(node_labels, {api::labels::home_names}) == "true";
}

std::string names_not_resolved(const TwinAtProvider& twin) {
  if (twin.twin.empty() || twin.twin == twin.ns) return {};
  const std::string ns(twin.ns), provider(twin.provider);
  const std::string pods = "pods in cluster " + provider + " ";
  if (!twin.knows_names)
    return pods + std::string(unresolved) + " with the namespace in them, such as db." + ns + " or db." + ns +
           ".svc.cluster.local, because it is called " + std::string(twin.twin) +
           " there: its administrator can run \"liqoctl enable home-names\" there, or allow the name (liqoctl peer "
           "--allow-twin-names) for the strategy EnforceSameName";
  if (twin.twin != default_twin_name(twin.ns, twin.home))
    return pods + std::string(unresolved) + " such as db." + ns + ", because it is called " + std::string(twin.twin) +
           " there and not " + default_twin_name(twin.ns, twin.home) + ": use the strategy DefaultName";
  if (twin.words.empty()) return {};
  return pods + "find another Service by names such as db." + ns + ": " + kube::one_line(twin.words, max_words);
}

bool says_unresolved(std::string_view words) { return words.contains(unresolved); }

std::string names_resolved_now(std::string_view ns, std::string_view twin, std::string_view provider) {
  const std::string name(ns), there(twin);
  return "pods that are made in cluster " + std::string(provider) + " from now on resolve names such as db." + name +
         ", and read " + name + " as their namespace, not " + there +
         ": a program that keeps its own name in its data, as clusters of brokers do, would begin anew there; the "
         "annotation liqo.io/downward-api=provider on its pods keeps " +
         there;
}

std::string names_found_first(std::string_view ns, std::string_view provider) {
  const std::string name(ns);
  return "cluster " + std::string(provider) + " has a namespace " + name + " of its own, whose Services answer to db." +
         name + " and db." + name + ".svc.cluster.local first; give the namespace at home another name";
}

}  // namespace liqo::core
