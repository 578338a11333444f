#include "model/info/peer_info.hpp"

#include <algorithm>

#include "core/offloading/waiting.hpp"
#include "core/peering/clock_skew.hpp"
#include "core/peering/offloading_part.hpp"
#include "core/peering/silence.hpp"
#include "core/slices/grant.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "model/info/answers.hpp"
#include "model/resources.hpp"
#include "model/tenant/tenant_policy.hpp"
#include "text/box.hpp"
#include "text/shown.hpp"
#include "text/yaml.hpp"

namespace liqoctl::model {
namespace {

namespace labels = liqo::api::labels;
using kube::array_at;
using kube::bool_at;
using kube::object_at;
using kube::string_at;
using text::Section;
using text::shown;

/// The longest policy that is shown.
constexpr std::size_t max_policy = 160;

/// Reason of the condition of a slice whose grant stands but takes no new pods.
constexpr std::string_view cordoned = liqo::core::slice_reasons::cordoned;

/// "Type is status: message", for each condition that is not as it should be. `slice`: the owner of the conditions, if
/// it is a slice.
json::array alerts(const json::array& conditions, bool (*well)(std::string_view), const kube::Object* slice = nullptr) {
  json::array out;
  for (const json::value& condition : conditions) {
    if (well(string_at(condition, {"status"}))) continue;
    std::string message(string_at(condition, {"message"}));
    if (slice) message = answer_in_words(*slice, message);
    out.emplace_back(shown(string_at(condition, {"type"})) + " is " + shown(string_at(condition, {"status"})) +
                     (message.empty() ? "" : ": " + shown(message)));
  }
  return out;
}

json::object ordered(const json::object& resources) {
  json::object out;
  for (auto& [key, amount] : in_order(resources)) out[key] = amount;
  return out;
}

json::object slice_info(const kube::Object& slice) {
  const json::array& conditions = array_at(slice.status(), {"conditions"});
  const auto accepted = [](std::string_view status) { return status == "Accepted"; };
  json::array told = alerts(conditions, accepted, &slice);
  const bool all_accepted = !conditions.empty() && told.empty();
  for (const json::value& condition : conditions)
    if (accepted(string_at(condition, {"status"})) && string_at(condition, {"reason"}) == cordoned)
      told.emplace_back("Cordoned: " + shown(answer_in_words(slice, string_at(condition, {"message"}))));
  // A slice of a class of the provider's own shows this by the marks alone.
  if (const std::string_view closing = closing_of(slice); !closing.empty() && told.empty())
    told.emplace_back(std::string(closing) +
                      (closing == "Drained" ? ": its pods end" : ": new pods are refused, those that run stay"));
  return {{"name", slice.name()},
          {"action", slice.label(labels::replicated) == "true" ? "Providing" : "Consuming"},
          {"class", string_at(slice.spec(), {"class"})},
          {"state", state_of_slice(slice)},
          {"accepted", all_accepted},
          {"answered", !conditions.empty()},
          {"drained", closing_of(slice) == "Drained"},
          {"alerts", std::move(told)},
          {"resources", ordered(object_at(slice.status(), {"resources"}))}};
}

/// The Node of a VirtualNode; null if there is none, or if it belongs to another VirtualNode of the same name.
const kube::Object* find_node(const std::vector<kube::Object>& nodes, const kube::Object& virtual_node) {
  const auto found =
      std::ranges::find(nodes, virtual_node.name(), [](const kube::Object& node) { return node.name(); });
  if (found == nodes.end()) return nullptr;
  const std::string_view cluster = found->label(labels::remote_cluster_id);
  return cluster.empty() || cluster == string_at(virtual_node.spec(), {"clusterID"}) ? &*found : nullptr;
}

/// Whether the virtual node is being deleted, by itself or with its slice.
bool is_ending(const kube::Object& virtual_node, const std::vector<kube::Object>& slices) {
  const std::string_view slice = virtual_node.label(labels::resource_slice_name);
  return virtual_node.is_deleting() || std::ranges::any_of(slices, [&](const kube::Object& one) {
           return one.is_deleting() && one.name() == slice && one.ns() == virtual_node.ns();
         });
}

/// Whether virtual nodes that are being deleted are the only trouble. An operator wants it so.
bool is_only_ending(const PeerObjects& objects) {
  bool ends = false;
  for (const kube::Object& one : objects.virtual_nodes) {
    if (is_ending(one, objects.slices)) {
      ends = true;
      continue;
    }
    const liqo::core::OffloadingPart part = liqo::core::part_of_virtual_node(one);
    const kube::Object* node = find_node(objects.nodes, one);
    if (!part.is_well || (part.has_node && !(node && liqo::core::part_of_node(*node).is_well))) return false;
  }
  return ends;
}

json::object node_info(const kube::Object& node, const PeerObjects& objects) {
  const std::vector<kube::Object>& nodes = objects.nodes;
  const bool wants_node = bool_at(node.tree(), {"spec", "createNode"}, true);
  const kube::Object* shown_node = find_node(nodes, node);
  const bool ready = shown_node && kube::has_condition(*shown_node, "Ready");
  bool healthy = !wants_node || ready;
  json::array told;
  for (const json::value& condition : array_at(node.status(), {"conditions"})) {
    const std::string_view status = string_at(condition, {"status"}), message = string_at(condition, {"message"});
    // None is the wanted state, unless the Node's condition has a reason why there is no Node.
    const bool is_missed = status == "None" && !message.empty() && string_at(condition, {"type"}) == "Node";
    if (status == "Running" || status.empty() || (status == "None" && !is_missed)) continue;
    healthy = false;
    told.emplace_back(shown(string_at(condition, {"type"})) + " is " + shown(status) +
                      (message.empty() ? "" : ": " + shown(message)));
  }
  if (wants_node && !ready) {
    const std::string why = shown_node ? node_message(*shown_node) : "it is not there";
    told.emplace_back("the Node is not Ready" + (why.empty() ? "" : ": " + why));
  }
  const std::string closed = shown_node ? shown(liqo::core::closed_word_of(*shown_node), 63) : "";
  if (!closed.empty())
    told.emplace_back("the Node takes no new pods: " +
                      liqo::core::why_in_words({.name = std::string(shown_node->name()),
                                                .cluster = std::string(string_at(node.spec(), {"clusterID"})),
                                                .why = std::string(liqo::core::closed_word_of(*shown_node))}));
  return {{"name", node.name()},
          {"status", is_ending(node, objects.slices) ? "Deleting"
                     : healthy                       ? "Healthy"
                                                     : "Unhealthy"},
          {"closed", closed},
          {"alerts", std::move(told)},
          {"secret", string_at(node.spec(), {"kubeconfigSecretRef", "name"})},
          {"resourceSlice", node.label(labels::resource_slice_name)},
          {"resources", ordered(object_at(node.spec(), {"resourceQuota", "hard"}))}};
}

json::object quota_info(const kube::Object& quota, const std::vector<kube::Object>& tenants) {
  json::object out{{"name", quota.name()},
                   {"enforcement", string_at(quota.spec(), {"limitsEnforcement"})},
                   {"cordoned", bool_at(quota.tree(), {"spec", "cordoned"})},
                   {"drained", is_quota_drained(quota, tenants)},
                   {"resources", ordered(object_at(quota.spec(), {"resources"}))}};
  if (const auto used = counted_use(quota.status()); !used.empty()) out["used"] = ordered(used);
  return out;
}

template <class Describe>
json::array each(const std::vector<kube::Object>& objects, Describe describe) {
  std::vector<const kube::Object*> sorted;
  sorted.reserve(objects.size());
  for (const kube::Object& object : objects) sorted.push_back(&object);
  std::sort(sorted.begin(), sorted.end(), [](auto* left, auto* right) { return left->name() < right->name(); });
  json::array out;
  for (const kube::Object* object : sorted) out.push_back(describe(*object));
  return out;
}

Section resources_section(const json::object& resources, std::string title = "Resources") {
  Section out{.title = std::move(title)};
  for (const auto& [key, amount] : in_order(resources)) out.fields.emplace_back(shown(key), readable(amount));
  return out;
}

void add_alerts(Section& section, const json::value& of, const text::Palette& palette) {
  for (const json::value& alert : array_at(of, {"alerts"}))
    if (const auto* words = alert.if_string()) section.lines.push_back(palette.warn("!") + "  " + shown(*words));
}

Section slice_section(const json::value& slice, const text::Palette& palette) {
  Section out{.title = shown(string_at(slice, {"name"}))};
  const std::string_view state = string_at(slice, {"state"});
  if (state == "Deleting") {
    out.lines.push_back(palette.faint("•") + "  Resource slice is being deleted");
  } else if (state == "Drained" || (state == "Cordoned" && !bool_at(slice, {"accepted"}))) {
    // An operator wants it so.
    out.lines.push_back(palette.faint("•") + "  Resource slice is " + std::string(state));
  } else if (bool_at(slice, {"accepted"})) {
    out.lines.push_back(palette.good("✔") + "  Resource slice accepted");
  } else if (bool_at(slice, {"answered"})) {
    out.lines.push_back(palette.bad("✖") + "  Resource slice not accepted");
  } else {
    out.lines.push_back(palette.warn("…") + "  Resource slice not answered yet");
  }
  add_alerts(out, slice, palette);
  out.lines.push_back("Action: " + shown(string_at(slice, {"action"})));
  if (const auto& resources = object_at(slice, {"resources"}); !resources.empty() && !bool_at(slice, {"drained"}))
    out.sections.push_back(resources_section(resources));
  return out;
}

Section node_section(const json::value& node, const text::Palette& palette) {
  Section out{.title = shown(string_at(node, {"name"}))};
  add_alerts(out, node, palette);
  out.fields = {{"Status", health_in_words(string_at(node, {"status"}), palette)},
                {"Secret", shown(string_at(node, {"secret"}))},
                {"Resource slice", shown(string_at(node, {"resourceSlice"}))}};
  out.sections.push_back(resources_section(object_at(node, {"resources"})));
  return out;
}

Section quota_section(const json::value& quota, const text::Palette& palette) {
  Section out{.title = shown(string_at(quota, {"name"}))};
  const bool is_drained = bool_at(quota, {"drained"});
  if (is_drained) {
    out.lines.push_back(palette.warn("!") + "  Drained: nothing is granted, new pods are refused");
  } else if (bool_at(quota, {"cordoned"})) {
    out.lines.push_back(palette.warn("!") + "  Cordoned: new pods are refused");
  }
  out.fields = {{"Enforcement", shown(string_at(quota, {"enforcement"}))}};
  if (!is_drained) out.sections.push_back(resources_section(object_at(quota, {"resources"}), "Granted"));
  if (const auto& used = object_at(quota, {"used"}); !used.empty())
    out.sections.push_back(resources_section(used, "Used"));
  return out;
}

Section list_section(std::string title, const json::value& list,
                     Section (*each_one)(const json::value&, const text::Palette&), const text::Palette& palette) {
  Section out{.title = std::move(title)};
  if (const auto* items = list.if_array())
    for (const json::value& item : *items) out.sections.push_back(each_one(item, palette));
  if (out.sections.empty()) out.lines.emplace_back("None");
  return out;
}

Section slices_section(const json::value& list, const text::Palette& palette) {
  return list_section("Resource slices", list, slice_section, palette);
}
Section nodes_section(const json::value& list, const text::Palette& palette) {
  return list_section("Virtual nodes", list, node_section, palette);
}
Section quotas_section(const json::value& list, const text::Palette& palette) {
  return list_section("Quotas", list, quota_section, palette);
}

Section module_section(std::string title, const json::value& module, const text::Palette& palette) {
  Section out{.title = std::move(title)};
  add_alerts(out, module, palette);
  out.fields.emplace_back("Status", health_in_words(string_at(module, {"status"}), palette));
  return out;
}

Section info_section(const json::value& info, const text::Palette&) {
  return {
      .title = "Peer cluster info",
      .fields = {{"Cluster ID", shown(string_at(info, {"clusterID"}))}, {"Role", shown(string_at(info, {"role"}))}}};
}

Section network_section(const json::value& network, const text::Palette& palette) {
  return module_section("Network", network, palette);
}

Section authentication_section(const json::value& authentication, const text::Palette& palette) {
  Section out = module_section("Authentication", authentication, palette);
  if (const auto address = string_at(authentication, {"APIServerAddr"}); !address.empty())
    out.fields.emplace_back("API server", shown(address));
  if (const auto condition = string_at(authentication, {"tenantCondition"}); !condition.empty())
    out.fields.emplace_back("Tenant", shown(condition));
  if (const auto policy = string_at(authentication, {"policy"}); !policy.empty())
    out.fields.emplace_back("Policy", shown(policy));
  out.sections.push_back(slices_section(array_at(authentication, {"resourceSlices"}), palette));
  return out;
}

Section offloading_section(const json::value& offloading, const text::Palette& palette) {
  Section out = module_section("Offloading", offloading, palette);
  out.sections.push_back(nodes_section(array_at(offloading, {"virtualNodes"}), palette));
  if (const auto& quotas = array_at(offloading, {"quotas"}); !quotas.empty())
    out.sections.push_back(quotas_section(quotas, palette));
  return out;
}

/// The sections that `--get` can pick, in lower case. The first four together are the whole.
struct Known {
  std::string_view path;
  Section (*section)(const json::value&, const text::Palette&);
};
constexpr Known known_sections[] = {
    {"info", info_section},
    {"network", network_section},
    {"authentication", authentication_section},
    {"offloading", offloading_section},
    {"authentication.resourceslices", slices_section},
    {"offloading.virtualnodes", nodes_section},
    {"offloading.quotas", quotas_section},
};

}  // namespace

std::string health_in_words(std::string_view status, const text::Palette& palette) {
  if (status == "Healthy") return palette.good(status);
  if (status == "Unhealthy") return palette.bad(status);
  return palette.faint(shown(status));
}

bool is_well(std::string_view status) { return status == "Ready" || status == "Established"; }

std::string module_status(const kube::Object& foreign_cluster, std::string_view module) {
  const json::value* found = kube::find(foreign_cluster.status(), {"modules", module});
  if (!found || !bool_at(*found, {"enabled"})) return "Disabled";
  const json::array& conditions = array_at(*found, {"conditions"});
  if (conditions.empty()) return "Pending";
  return alerts(conditions, is_well).empty() ? "Healthy" : "Unhealthy";
}

std::string server_alert(const kube::Object& foreign_cluster) {
  const json::object* server = kube::find_condition(foreign_cluster.status(), "APIServerStatus");
  if (!server || string_at(*server, {"status"}) != "Error") return {};
  return shown(string_at(foreign_cluster.spec(), {"clusterID"})) + " does not answer since " +
         shown(string_at(*server, {"lastTransitionTime"}));
}

std::string silence_alert(const kube::Object& foreign_cluster) {
  return shown(liqo::core::silence_note(foreign_cluster).words);
}

std::string clock_alert(const kube::Object& foreign_cluster) {
  for (const json::value& condition : array_at(foreign_cluster.status(), {"conditions"}))
    if (const auto note = liqo::core::clock_note(string_at(condition, {"message"})); !note.empty())
      return "API server: " + shown(note);
  return {};
}

PeerObjects objects_of(const kube::Object& foreign_cluster, const ClosingObjects& all) {
  const std::string_view id = string_at(foreign_cluster.spec(), {"clusterID"});
  PeerObjects out{.foreign_cluster = foreign_cluster};
  const auto take = [](const std::vector<kube::Object>& from, std::vector<kube::Object>& into, const auto& is_its) {
    for (const kube::Object& object : from)
      if (is_its(object)) into.push_back(object);
  };
  take(all.slices, out.slices, [id](const kube::Object& one) { return one.label(labels::remote_cluster_id) == id; });
  take(all.virtual_nodes, out.virtual_nodes,
       [id](const kube::Object& one) { return string_at(one.spec(), {"clusterID"}) == id; });
  take(all.nodes, out.nodes, [&out](const kube::Object& one) {
    return std::ranges::any_of(out.virtual_nodes, [&one](const kube::Object& it) { return it.name() == one.name(); });
  });
  return out;
}

json::object peer_info(const PeerObjects& objects) {
  const kube::Object& peer = objects.foreign_cluster;
  const auto module_alerts = [&](std::string_view module) {
    return alerts(array_at(peer.status(), {"modules", module, "conditions"}), is_well);
  };
  const std::string_view role = string_at(peer.status(), {"role"});
  json::object authentication{{"status", module_status(peer, "authentication")},
                              {"alerts", module_alerts("authentication")}};
  if (const std::string note = server_alert(peer); !note.empty()) {
    authentication["status"] = "Unhealthy";
    authentication["alerts"].get_array().emplace_back(note);
  }
  if (const std::string note = clock_alert(peer); !note.empty())
    authentication["alerts"].get_array().emplace_back(note);
  const std::string_view proxy = string_at(peer.status(), {"foreignProxyUrl"});
  const std::string_view server = string_at(peer.status(), {"apiServerUrl"});
  if (!proxy.empty() || !server.empty()) authentication["APIServerAddr"] = proxy.empty() ? server : proxy;
  if (!objects.tenants.empty()) {
    const kube::Object& tenant = objects.tenants.front();
    authentication["tenantCondition"] = tenant_condition(tenant);
    const std::string_view key = liqo::api::annotations::pod_policy;
    if (tenant.has_annotation(key)) authentication["policy"] = policy_in_words(tenant.annotation(key), max_policy);
  }
  authentication["resourceSlices"] = each(objects.slices, slice_info);

  const auto node_of = [&](const kube::Object& one) { return node_info(one, objects); };
  json::array nodes = each(objects.virtual_nodes, node_of);
  json::object module{{"status", module_status(peer, "offloading")}, {"alerts", module_alerts("offloading")}};
  if (is_only_ending(objects)) {
    module["status"] = "Healthy";
    module["alerts"] = json::array();
  }
  const bool has_trouble =
      std::ranges::any_of(nodes, [](const json::value& node) { return string_at(node, {"status"}) == "Unhealthy"; });
  if (has_trouble) module["status"] = "Unhealthy";
  // Its API server accepts our identity, but what it should do for us does not happen.
  if (const std::string note = silence_alert(peer); !note.empty()) {
    module["status"] = "Unhealthy";
    module["alerts"].get_array().emplace_back(note);
  }
  module["virtualNodes"] = std::move(nodes);
  const auto quota_of = [&](const kube::Object& quota) { return quota_info(quota, objects.tenants); };
  if (!objects.quotas.empty()) module["quotas"] = each(objects.quotas, quota_of);

  return {
      {"info",
       json::object{{"clusterID", string_at(peer.spec(), {"clusterID"})}, {"role", role.empty() ? "Unknown" : role}}},
      {"network", json::object{{"status", module_status(peer, "networking")}, {"alerts", module_alerts("networking")}}},
      {"authentication", std::move(authentication)},
      {"offloading", std::move(module)}};
}

std::string render_peer(const json::value& part, std::string_view path, const text::Palette& palette) {
  if (path.empty()) {
    std::string out;
    for (const Known& known : {known_sections[0], known_sections[1], known_sections[2], known_sections[3]})
      if (const json::value* found = kube::find(part, {known.path}))
        out += text::render(known.section(*found, palette));
    return out;
  }
  std::string wanted = kube::lower_case(path);
  if (wanted.starts_with('.')) wanted.erase(0, 1);
  for (const Known& known : known_sections)
    if (known.path == wanted) return text::render(known.section(part, palette));
  if (const auto* words = part.if_string()) return kube::printable(*words) + "\n";
  return text::yaml(part);
}

}  // namespace liqoctl::model
