#include "model/info/local_info.hpp"

#include <map>

#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "model/info/peer_info.hpp"
#include "model/tenant/tenant_policy.hpp"
#include "text/box.hpp"
#include "text/shown.hpp"
#include "text/table.hpp"
#include "text/yaml.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;
using kube::array_at;
using kube::bool_at;
using kube::int_at;
using kube::object_at;
using kube::string_at;
using text::Section;
using text::shown;

/// The state of a pod that is not as it should be; no value for others.
std::optional<json::object> trouble(const kube::Object& pod) {
  const std::string_view phase = liqo::api::phase_of(pod);
  const json::array& containers = array_at(pod.status(), {"containerStatuses"});
  std::int64_t ready = 0, restarts = 0;
  for (const json::value& container : containers) {
    ready += bool_at(container, {"ready"});
    restarts += int_at(container, {"restartCount"});
  }
  const auto total = std::int64_t(array_at(pod.spec(), {"containers"}).size());
  if (phase == "Succeeded" || (phase == "Running" && ready == total)) return std::nullopt;
  return json::object{
      {"status", phase}, {"readyContainers", ready}, {"totalContainers", total}, {"restarts", restarts}};
}

/// A line in place of a part that cannot be read.
std::string unknown(std::string_view why, const text::Palette& palette) {
  return palette.warn("?") + "  unknown (" + kube::printable(why) + ")";
}

Section local_section(const json::value& local) {
  return {.title = "Local installation info",
          .fields = {{"Cluster ID", kube::printable(string_at(local, {"clusterID"}))},
                     {"Version", kube::printable(string_at(local, {"version"}))},
                     {"API server", kube::printable(string_at(local, {"APIServerAddr"}))}}};
}

Section health_section(const json::value& health, const text::Palette& palette) {
  Section out{.title = "Installation health"};
  const json::object& bad = object_at(health, {"unhealthyPods"});
  if (const auto why = string_at(health, {"unknown"}); !why.empty()) {
    out.lines.push_back(unknown(why, palette));
  } else if (const auto alert = string_at(health, {"liqod"}); !alert.empty()) {
    out.lines.push_back(palette.bad("✖") + "  liqod " + kube::printable(alert));
  } else if (int_at(health, {"pods"}) == 0) {
    out.lines.push_back(palette.faint("•") + "  no pods in Liqo's namespace: liqod runs elsewhere, or not at all");
  } else if (bad.empty()) {
    out.lines.push_back(palette.good("✔") + "  all pods of Liqo are up");
  } else {
    out.lines.push_back(palette.bad("✖") + "  pods of Liqo that are not up:");
    for (const auto& [name, pod] : bad)
      out.fields.emplace_back(name, kube::printable(string_at(pod, {"status"})) + ", " +
                                        std::to_string(int_at(pod, {"readyContainers"})) + " of " +
                                        std::to_string(int_at(pod, {"totalContainers"})) + " containers ready, " +
                                        std::to_string(int_at(pod, {"restarts"})) + " restarts");
  }
  return out;
}

Section peerings_section(const json::value& peerings, const text::Palette& palette) {
  Section out{.title = "Active peerings"};
  for (const json::value& peer : array_at(peerings, {"peers"})) {
    Section one{.title = kube::printable(string_at(peer, {"clusterID"}))};
    for (const json::value& alert : array_at(peer, {"alerts"}))
      if (const auto* words = alert.if_string())
        one.lines.push_back(palette.warn("!") + "  " + kube::printable(*words));
    one.fields = {{"Role", kube::printable(string_at(peer, {"role"}))},
                  {"Networking status", health_in_words(string_at(peer, {"networkingStatus"}), palette)},
                  {"Authentication status", health_in_words(string_at(peer, {"authenticationStatus"}), palette)}};
    // Nothing is offloaded to a consumer. Its line shows what it is lent instead.
    if (string_at(peer, {"role"}) != "Consumer")
      one.fields.emplace_back("Offloading status", health_in_words(string_at(peer, {"offloadingStatus"}), palette));
    if (const auto tenant = string_at(peer, {"tenantCondition"}); !tenant.empty()) {
      one.fields.emplace_back("Tenant", tenant == "Active" ? palette.good(tenant) : palette.warn(shown(tenant)));
      one.fields.emplace_back("Lent", shown(string_at(peer, {"lent"})));
    }
    out.sections.push_back(std::move(one));
  }
  if (const auto why = string_at(peerings, {"unknown"}); !why.empty()) out.lines.push_back(unknown(why, palette));
  if (out.sections.empty() && out.lines.empty()) out.lines.emplace_back("None");
  return out;
}

}  // namespace

json::object local_info(const LocalObjects& objects) {
  json::object unhealthy;
  for (const kube::Object& pod : objects.pods)
    if (auto found = trouble(pod)) unhealthy[pod.name()] = std::move(*found);
  std::map<std::string, json::object, std::less<>> peers;
  for (const kube::Object& peer : objects.foreign_clusters) {
    const std::string id(string_at(peer.spec(), {"clusterID"}));
    const json::value info = peer_info(objects_of(peer, objects.lending));
    peers[id] = {{"clusterID", id},
                 {"role", string_at(info, {"info", "role"})},
                 {"networkingStatus", string_at(info, {"network", "status"})},
                 {"authenticationStatus", string_at(info, {"authentication", "status"})},
                 {"offloadingStatus", string_at(info, {"offloading", "status"})}};
    json::array alerts;
    for (const kube::Object& tenant : objects.lending.tenants) {
      if (string_at(tenant.spec(), {"clusterID"}) != id) continue;
      peers[id]["tenantCondition"] = tenant_condition(tenant);
      peers[id]["lent"] = lent_to(id, objects.lending);
      if (const std::string alert = policy_alert(tenant); !alert.empty()) alerts.emplace_back(alert);
    }
    for (const std::string& alert : {server_alert(peer), silence_alert(peer), clock_alert(peer)})
      if (!alert.empty()) alerts.emplace_back(alert);
    for (const std::string& closing : closings_with(id, objects.lending)) alerts.emplace_back(closing);
    if (!alerts.empty()) peers[id]["alerts"] = std::move(alerts);
  }
  json::array list;
  for (auto& [id, peer] : peers) list.push_back(std::move(peer));
  const auto is_unknown = [&](std::string_view section) { return objects.unknown.contains(section); };
  json::object health{{"healthy", unhealthy.empty() && objects.daemon_alert.empty() && !is_unknown("health")},
                      {"pods", objects.pods.size()},
                      {"unhealthyPods", std::move(unhealthy)}};
  if (!objects.daemon_alert.empty()) health["liqod"] = objects.daemon_alert;
  json::object peerings{{"peers", std::move(list)}};
  for (auto& [section, into] : {std::pair<std::string_view, json::object&>{"health", health}, {"peerings", peerings}})
    if (const auto why = objects.unknown.find(section); why != objects.unknown.end()) into["unknown"] = why->second;
  return {{"local", json::object{{"clusterID", objects.cluster_id},
                                 {"version", objects.version.empty() ? "unknown" : objects.version},
                                 {"APIServerAddr", objects.server}}},
          {"health", std::move(health)},
          {"peerings", std::move(peerings)}};
}

std::string render_local(const json::value& part, std::string_view path, const text::Palette& palette) {
  std::string wanted = kube::lower_case(path);
  if (wanted.starts_with('.')) wanted.erase(0, 1);
  if (wanted.empty()) {
    static const json::value nothing;
    const auto section = [&](std::string_view name) -> const json::value& {
      const json::value* found = kube::find(part, {name});
      return found ? *found : nothing;
    };
    return text::render(local_section(section("local"))) + text::render(health_section(section("health"), palette)) +
           text::render(peerings_section(section("peerings"), palette));
  }
  if (wanted == "local") return text::render(local_section(part));
  if (wanted == "health") return text::render(health_section(part, palette));
  if (wanted == "peerings") return text::render(peerings_section(part, palette));
  if (const auto* words = part.if_string()) return kube::printable(*words) + "\n";
  return text::yaml(part);
}

}  // namespace liqoctl::model
