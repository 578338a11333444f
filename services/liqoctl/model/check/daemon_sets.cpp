#include "model/check/daemon_sets.hpp"

#include <algorithm>
#include <ranges>

#include "core/offloading/daemon_sets.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "model/findings.hpp"
#include "model/resources.hpp"
#include "text/yaml.hpp"

namespace liqoctl::model {
namespace {

namespace core = liqo::core;
namespace json = kube::json;
namespace labels = liqo::api::labels;

constexpr std::size_t max_named = 8;
constexpr std::string_view stalls =
    " never become ready, so updates of these DaemonSets stall; `liqoctl exclude daemonsets` keeps them off";

bool is_virtual(const kube::Object& node) { return node.label(labels::type) == labels::type_virtual_node; }

std::vector<std::string> lines_of(const kube::Object& set) {
  const json::value* affinity = kube::find(
      set.spec(), {"template", "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (!affinity) return {};
  std::vector<std::string> lines;
  for (const std::string_view line : kube::split(text::yaml(*affinity), '\n'))
    if (!line.empty()) lines.emplace_back(line);
  return lines;
}

}  // namespace

std::vector<kube::Object> sitting_daemon_sets(const std::vector<kube::Object>& sets,
                                              const std::vector<kube::Object>& nodes,
                                              const std::set<std::string, std::less<>>& offloaded) {
  const json::object usual{
      {labels::type, labels::type_virtual_node}, {"kubernetes.io/os", "linux"}, {"kubernetes.io/arch", "amd64"}};
  const bool has_virtual = std::ranges::any_of(nodes, is_virtual);
  std::vector<kube::Object> sitting;
  for (const kube::Object& set : sets) {
    if (offloaded.contains(set.ns())) continue;
    const bool sits =
        has_virtual ? std::ranges::any_of(nodes,
                                          [&set](const kube::Object& node) {
                                            return is_virtual(node) && core::sits_on(set, node.name(), node.labels());
                                          })
                    : core::sits_on(set, "", usual);
    if (sits) sitting.push_back(set);
  }
  return sitting;
}

std::vector<kube::Object> elsewhere_daemon_sets(const std::vector<kube::Object>& sets,
                                                const std::vector<kube::Object>& nodes,
                                                const std::vector<kube::Object>& offloadings) {
  std::set<std::string, std::less<>> namespaces;
  for (const kube::Object& offloading : offloadings)
    if (liqo::api::NamespaceOffloading(offloading).pod_strategy() != liqo::api::PodOffloadingStrategy::remote)
      namespaces.emplace(offloading.ns());
  std::vector<kube::Object> of_them;
  for (const kube::Object& set : sets)
    if (namespaces.contains(set.ns())) of_them.push_back(set);
  return sitting_daemon_sets(of_them, nodes, {});
}

std::optional<Finding> judge_elsewhere_daemon_sets(const std::vector<kube::Object>& elsewhere,
                                                   const std::vector<kube::Object>& nodes) {
  if (elsewhere.empty() || std::ranges::none_of(nodes, is_virtual)) return std::nullopt;
  return open("daemonsets", warn_of_elsewhere(elsewhere));
}

std::string warn_of_elsewhere(const std::vector<kube::Object>& elsewhere) {
  std::string named;
  for (const kube::Object& set : elsewhere | std::views::take(max_named)) named += " " + set.key().text();
  return "DaemonSets of offloaded namespaces have one pod on each virtual node, not on each node of the other "
         "cluster: " +
         daemon_sets_in_words(elsewhere) + "; keep them off with: liqoctl exclude daemonsets" + named;
}

std::string daemon_sets_in_words(const std::vector<kube::Object>& sets) {
  std::vector<std::string> names;
  for (const kube::Object& set : sets) {
    core::Resources booked = core::books(set);
    core::drop_zeros(booked);
    const std::string amounts = booked.empty() ? "" : " (" + in_words(core::write_resources(booked)) + ")";
    names.push_back(set.key().text() + amounts);
  }
  return kube::join_some(names, max_named);
}

std::optional<Finding> judge_daemon_sets(const std::vector<kube::Object>& sitting,
                                         const std::vector<kube::Object>& nodes) {
  if (sitting.empty() || std::ranges::none_of(nodes, is_virtual)) return std::nullopt;
  return bad("daemonsets", "pods on virtual nodes of " + daemon_sets_in_words(sitting) + std::string(stalls));
}

std::string roll_in_words(const kube::Object& set) {
  const json::value* most = kube::find(set.spec(), {"updateStrategy", "rollingUpdate", "maxUnavailable"});
  if (kube::string_at(set.spec(), {"updateStrategy", "type"}) == "OnDelete")
    return "its pods on virtual nodes go, the others stay until somebody deletes them (OnDelete)";
  const std::string amount = !most ? "1" : most->is_string() ? std::string(most->get_string()) : json::serialize(*most);
  return "its pods on virtual nodes go, and every other one is replaced (maxUnavailable " + amount + ")";
}

std::string affinity_diff(const kube::Object& before, const kube::Object& after) {
  const std::vector<std::string> old = lines_of(before), now = lines_of(after);
  // One side is the other one with lines inserted, so shared lines come in the same order.
  const auto is_longer = now.size() >= old.size();
  const std::vector<std::string>&shorter = is_longer ? old : now, &longer = is_longer ? now : old;
  std::string out = "  spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution:\n";
  std::size_t at = 0;
  for (const std::string& line : longer) {
    const bool is_shared = at < shorter.size() && shorter[at] == line;
    at += is_shared;
    out += (is_shared ? "    " : is_longer ? "  + " : "  - ") + kube::printable(line) + "\n";
  }
  return out;
}

}  // namespace liqoctl::model
