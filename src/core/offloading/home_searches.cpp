#include "core/offloading/home_searches.hpp"

#include <algorithm>

#include "core/common/home_names.hpp"
#include "core/offloading/left_out.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// What the API server and kubelets take.
constexpr std::size_t max_searches = 32, max_characters = 2048;
/// A kubelet puts `<namespace>.svc.<domain>`, `svc.<domain>` and `<domain>` before the pod's own, and then those of its
/// node. Neither is known here: there is room for a domain of this length and for so many of the node's.
constexpr std::size_t max_domain = 64, searches_of_kubelet = 3, searches_of_node = 6, characters_of_node = 256;

bool asks_the_cluster(const json::object& spec) {
  const std::string_view policy = kube::string_at(spec, {"dnsPolicy"});
  return (policy.empty() || policy == "ClusterFirst") && !kube::bool_at(spec, {"hostNetwork"});
}

bool has_room(const json::array& searches, std::string_view ns) {
  std::size_t characters = ns.size() + 3 * max_domain + characters_of_node;
  for (const json::value& search : searches) characters += (search.is_string() ? search.get_string().size() : 0) + 1;
  return searches.size() + searches_of_kubelet + searches_of_node <= max_searches && characters <= max_characters;
}

}  // namespace

std::string add_home_searches(json::object& spec, std::string_view ns, std::string_view consumer) {
  if (consumer.empty() || !asks_the_cluster(spec)) return {};
  const std::string zone = std::string(consumer).append(".").append(home_zone);
  json::array searches = kube::array_at(spec, {"dnsConfig", "searches"});
  for (const std::string& search : {"svc." + zone, zone})
    if (std::ranges::find(searches, json::value(search)) == searches.end()) searches.emplace_back(search);
  if (!has_room(searches, ns)) return left_out_names();
  json::array options = kube::array_at(spec, {"dnsConfig", "options"});
  const bool sets_dots = std::ranges::any_of(
      options, [](const json::value& option) { return kube::string_at(option, {"name"}) == "ndots"; });
  if (!sets_dots) options.push_back(json::object{{"name", "ndots"}, {"value", std::to_string(home_ndots)}});
  json::object& config = kube::ensure_object(spec, "dnsConfig");
  config["searches"] = std::move(searches);
  config["options"] = std::move(options);
  return {};
}

}  // namespace liqo::core
