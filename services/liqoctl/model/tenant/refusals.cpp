#include "model/tenant/refusals.hpp"

#include <algorithm>
#include <map>

#include "core/namespaces/belonging.hpp"
#include "core/slices/provider_words.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "model/install/daemon_arguments.hpp"
#include "text/duration.hpp"
#include "text/shown.hpp"
#include "text/table.hpp"
#include "text/wrap.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;
using liqo::core::admission::RefusalRing;
using liqo::core::admission::RefusedObject;

/// A sentence in the last column of a table is wrapped at this many columns.
constexpr std::size_t max_columns = 72;

}  // namespace

std::vector<ConsumerRefusal> refusals_since(const std::vector<kube::Object>& tenant_namespaces,
                                            const std::vector<kube::Object>& config_maps, kube::WallTime since) {
  std::map<std::string, std::string, std::less<>> consumers;
  for (const kube::Object& ns : tenant_namespaces)
    if (liqo::core::is_tenant_namespace(ns))
      consumers.emplace(ns.name(), text::shown(ns.label(liqo::api::labels::remote_cluster_id)));
  std::vector<ConsumerRefusal> all;
  for (const kube::Object& map : config_maps) {
    const auto consumer = consumers.find(map.ns());
    if (consumer == consumers.end() || map.name() != liqo::core::admission::refusals_config_map) continue;
    for (RefusedObject& refused : RefusalRing::read(map).newest_first())
      if (refused.last >= since) {
        // The answer to a slice was written for the consumer.
        if (refused.kind == liqo::api::kinds::resource_slices.kind)
          refused.reason = liqo::core::in_provider_words(refused.reason, consumer->second);
        all.push_back({.consumer = consumer->second, .refused = std::move(refused)});
      }
  }
  std::ranges::sort(all, [](const ConsumerRefusal& one, const ConsumerRefusal& other) {
    return std::tie(other.refused.last, one.consumer, one.refused.name, one.refused.reason) <
           std::tie(one.refused.last, other.consumer, other.refused.name, other.refused.reason);
  });
  return all;
}

std::string no_refusals(const kube::Object* deployment) {
  if (argument(deployment, "--webhook-port=") == "0")
    return "nothing is recorded: the webhooks, which refuse and record, are switched off (value webhook.port)";
  return "nothing was refused";
}

std::string refusal_table(const std::vector<ConsumerRefusal>& refusals, kube::WallTime now) {
  std::vector<text::Row> rows;
  for (const auto& [consumer, refused] : refusals) {
    const std::string name = refused.ns.empty() ? refused.name : refused.ns + "/" + refused.name;
    text::Row row{text::age(now - refused.last), std::to_string(refused.count), consumer, refused.kind, name, ""};
    for (const std::string& line : text::wrapped(refused.reason, max_columns)) {
      row.back() = line;
      rows.push_back(row);
      row = text::Row(row.size());
    }
  }
  return text::table({"LAST", "COUNT", "CLUSTER", "KIND", "NAME", "REASON"}, rows);
}

json::array refusal_list(const std::vector<ConsumerRefusal>& refusals) {
  json::array list;
  for (const auto& [consumer, refused] : refusals)
    list.push_back(json::object{{"cluster", consumer},
                                {"kind", refused.kind},
                                {"namespace", refused.ns},
                                {"name", refused.name},
                                {"reason", refused.reason},
                                {"count", refused.count},
                                {"firstTime", kube::format_time(refused.first)},
                                {"lastTime", kube::format_time(refused.last)}});
  return list;
}

}  // namespace liqoctl::model
