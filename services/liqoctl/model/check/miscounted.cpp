#include "model/check/miscounted.hpp"

#include <algorithm>

#include "core/offloading/miscounted.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/labels.hpp"

namespace liqoctl::model {
namespace {

namespace labels = liqo::api::labels;

constexpr std::size_t max_named = 8;

bool is_virtual(const kube::Object& node) { return node.label(labels::type) == labels::type_virtual_node; }

/// Whether the node alone is a place by that key, besides other virtual nodes. Without any machine that has the key the
/// pods find no place at home either.
bool adds_place(const kube::Object& node, std::string_view key, const std::vector<kube::Object>& nodes) {
  bool has_machine = false;
  for (const kube::Object& other : nodes) {
    if (is_virtual(other) || !other.has_label(key)) continue;
    if (other.label(key) == node.label(key)) return false;
    has_machine = true;
  }
  return has_machine;
}

/// The first key by which a virtual node is counted wrongly; "" = none.
std::string key_of(const kube::Object& workload, const std::vector<kube::Object>& nodes) {
  const kube::json::object& pod_template = kube::object_at(workload.spec(), {"template"});
  for (const kube::Object& node : nodes) {
    if (!is_virtual(node)) continue;
    for (std::string& key : liqo::core::miscounted_keys(pod_template, node))
      if (adds_place(node, key, nodes)) return std::move(key);
  }
  return {};
}

}  // namespace

std::string miscounts_in_words(const std::vector<kube::Object>& workloads, const std::vector<kube::Object>& nodes,
                               const std::set<std::string, std::less<>>& offloaded) {
  std::vector<std::string> named;
  for (const kube::Object& workload : workloads) {
    if (offloaded.contains(workload.ns())) continue;
    if (const std::string key = key_of(workload, nodes); !key.empty())
      named.push_back(workload.key().text() + " (" + key + ")");
  }
  if (named.empty()) return {};
  return "pods of " + kube::join_some(named, max_named) +
         " may stay Pending: they are spread over virtual nodes, too (DoNotSchedule), and may not run there; set "
         "nodeTaintsPolicy: Honor in these constraints";
}

}  // namespace liqoctl::model
