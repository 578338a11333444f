#include "model/get/listing.hpp"

#include <algorithm>

#include "core/policy/pod_policy.hpp"
#include "core/reflection/remote_addresses.hpp"
#include "core/slices/request.hpp"
#include "kube/base/text.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/resource_slice.hpp"
#include "model/events.hpp"
#include "model/resources.hpp"
#include "model/tenant/closings.hpp"
#include "model/tenant/tenant_policy.hpp"
#include "text/box.hpp"
#include "text/duration.hpp"
#include "text/shown.hpp"

namespace liqoctl::model {
namespace {

namespace kinds = liqo::api::kinds;
namespace labels = liqo::api::labels;
using kube::array_at;
using kube::Object;
using kube::object_at;
using kube::string_at;

constexpr std::size_t max_value = 160, max_policy = 60;

std::string shown(std::string_view words) { return text::shown(words, max_value); }

/// The status of the condition of that type, "" if there is none.
std::string condition(const Object& object, std::string_view type) {
  const json::object* found = kube::find_condition(object.status(), type);
  return found ? shown(string_at(*found, {"status"})) : std::string();
}

std::string peer_of(const Object& object) { return shown(object.label(labels::remote_cluster_id)); }

std::string or_default(std::string_view value, std::string_view fallback) {
  return shown(value.empty() ? fallback : value);
}

/// Amounts as a cell. A peer may have named as many as its object holds.
std::string amounts(const json::object& resources) { return shown(in_words(resources)); }

/// The policy that add_policies() has put on a Tenant.
std::string policy_of(const Object& tenant) {
  const std::string_view key = liqo::api::annotations::pod_policy;
  return tenant.has_annotation(key) ? policy_in_words(tenant.annotation(key), max_policy) : "?";
}

/// The free resources of a Quota for new pods; one that is closed takes none.
std::string free_in_words(const Object& quota) {
  const liqo::api::Quota view(quota);
  if (view.is_drained()) return "nothing";
  return view.is_cordoned() ? "nothing (cordoned)" : amounts(free_of(quota));
}

liqo::core::reflection::RemoteAddresses addresses_at_providers(const Object& object) {
  return liqo::core::reflection::RemoteAddresses::read(object.annotation(liqo::api::annotations::remote_addresses));
}

/// "milan: 198.51.100.9, turin: lb.example.org".
std::string addresses_in_words(const Object& object) {
  std::vector<std::string> words;
  const auto all = addresses_at_providers(object);
  for (const auto& [cluster, addresses] : all.entries()) words.push_back(cluster + ": " + kube::join(addresses, " "));
  return shown(kube::join(words, ", "));
}

struct Column {
  std::string title;
  std::string (*cell)(const Object&);
  bool wide = false;
};

std::vector<Column> columns(const kube::Resource& resource) {
  if (resource == kinds::resource_slices)
    return {{"PEER", peer_of},
            {"ACTION",
             [](const Object& o) {
               return std::string(o.label(labels::replicated) == "true" ? "Providing" : "Consuming");
             }},
            {"CLASS",
             [](const Object& o) { return or_default(string_at(o.spec(), {"class"}), liqo::core::default_class); }},
            {"STATE", [](const Object& o) { return std::string(state_of_slice(o)); }},
            {"REQUESTED", [](const Object& o) { return amounts(object_at(o.spec(), {"resources"})); }},
            {"GRANTED", [](const Object& o) { return amounts(granted_now(o)); }},
            {"AUTHENTICATION",
             [](const Object& o) { return condition(o, liqo::api::slice_conditions::authentication); }, true}};
  if (resource == kinds::virtual_nodes)
    return {
        {"PEER", [](const Object& o) { return shown(string_at(o.spec(), {"clusterID"})); }},
        {"SLICE", [](const Object& o) { return shown(o.label(labels::resource_slice_name)); }},
        {"NODE", [](const Object& o) { return condition(o, "Node"); }},
        {"RESOURCES", [](const Object& o) { return amounts(object_at(o.spec(), {"resourceQuota", "hard"})); }, true},
        {"SECRET", [](const Object& o) { return shown(string_at(o.spec(), {"kubeconfigSecretRef", "name"})); }, true}};
  if (resource == kinds::tenants)
    return {{"CONSUMER", [](const Object& o) { return shown(string_at(o.spec(), {"clusterID"})); }},
            {"CONDITION", tenant_condition},
            {"POLICY", policy_of},
            {"AUTHORIZATION",
             [](const Object& o) { return or_default(string_at(o.spec(), {"authzPolicy"}), "KeysExchange"); }, true}};
  if (resource == kinds::identities)
    return {{"PROVIDER", [](const Object& o) { return shown(string_at(o.spec(), {"clusterID"})); }},
            {"TYPE", [](const Object& o) { return shown(string_at(o.spec(), {"type"})); }},
            {"SECRET", [](const Object& o) { return shown(string_at(o.status(), {"kubeconfigSecretRef", "name"})); },
             true}};
  if (resource == kinds::quotas)
    return {{"CONSUMER", peer_of},
            {"ENFORCEMENT", [](const Object& o) { return shown(string_at(o.spec(), {"limitsEnforcement"})); }},
            {"CORDONED",
             [](const Object& o) { return std::string(kube::bool_at(o.tree(), {"spec", "cordoned"}) ? "true" : ""); }},
            {"GRANTED",
             [](const Object& o) {
               return liqo::api::Quota(o).is_drained() ? "nothing (drained)" : amounts(liqo::api::Quota(o).resources());
             }},
            {"USED", [](const Object& o) { return amounts(counted_use(o.status())); }},
            {"FREE", free_in_words}};
  if (resource == kinds::namespace_offloadings)
    return {{"STRATEGY", [](const Object& o) { return shown(string_at(o.spec(), {"podOffloadingStrategy"})); }},
            {"MAPPING", [](const Object& o) { return shown(string_at(o.spec(), {"namespaceMappingStrategy"})); }},
            {"PHASE", [](const Object& o) { return shown(string_at(o.status(), {"offloadingPhase"})); }}};
  if (resource == kube::resources::services)
    return {{"TYPE", [](const Object& o) { return or_default(string_at(o.spec(), {"type"}), "ClusterIP"); }},
            {"ADDRESSES AT PROVIDERS", addresses_in_words}};
  if (resource == kinds::ingresses)
    return {{"CLASS", [](const Object& o) { return shown(string_at(o.spec(), {"ingressClassName"})); }},
            {"ADDRESSES AT PROVIDERS", addresses_in_words}};
  if (resource == kinds::foreign_clusters)
    return {{"ROLE", [](const Object& o) { return or_default(string_at(o.status(), {"role"}), "Unknown"); }},
            {"APISERVER", [](const Object& o) { return shown(string_at(o.status(), {"apiServerUrl"})); }, true}};
  return {};
}

/// Whether a field holds a key, a certificate or a request, which people do not read.
bool is_opaque(std::string_view key) {
  for (const std::string_view known : {"csr", "publicKey", "signature", "signedCRT", "ca", "nonce"})
    if (key == known) return true;
  return false;
}

void flatten(const json::value& value, const std::string& path, std::string_view key,
             std::vector<std::pair<std::string, std::string>>& out) {
  if (const auto* object = value.if_object()) {
    const bool resources = key == "resources" || key == "hard" || key == "used" || key == "reserved";
    if (resources) {
      out.emplace_back(path, in_words(*object));
      return;
    }
    for (const auto& [name, inner] : *object) {
      if (path.empty() && name == "conditions") continue;
      flatten(inner, (path.empty() ? "" : path + ".") + kube::printable(name), name, out);
    }
    if (object->empty() && !path.empty()) out.emplace_back(path, "{}");
  } else if (const auto* list = value.if_array()) {
    std::size_t index = 0;
    for (const json::value& item : *list) flatten(item, path + "[" + std::to_string(index++) + "]", key, out);
    if (list->empty()) out.emplace_back(path, "[]");
  } else if (const auto* words = value.if_string()) {
    out.emplace_back(path,
                     is_opaque(key) ? "(" + std::to_string(words->size()) + " characters)" : kube::printable(*words));
  } else {
    out.emplace_back(path, json::serialize(value));
  }
}

text::Section fields(std::string title, const json::object& object) {
  text::Section out{.title = std::move(title)};
  flatten(json::value(object), "", "", out.fields);
  if (out.fields.empty()) out.lines.emplace_back("None");
  return out;
}

/// The addresses that providers gave to the copies of an object.
text::Section addresses_section(const Object& object) {
  text::Section out{.title = "Addresses at providers"};
  const auto all = addresses_at_providers(object);
  for (const auto& [cluster, addresses] : all.entries()) out.fields.emplace_back(cluster, kube::join(addresses, ", "));
  return out;
}

/// What add_policies() has put on a Tenant, key by key.
text::Section policy_section(const Object& tenant, const text::Palette& palette) {
  text::Section out{.title = "Policy"};
  const std::string_view key = liqo::api::annotations::pod_policy, policy = tenant.annotation(key);
  if (!tenant.has_annotation(key)) {
    out.lines.emplace_back("unknown: its namespace cannot be read, or is not a tenant namespace of this cluster ID");
  } else if (const auto read = liqo::core::read_pod_policy(policy); !read) {
    out.lines.push_back(palette.bad("✖") +
                        "  cannot be read, so nothing new is admitted: " + text::shown(read.error().text()));
  } else if (const auto keys = kube::parse_json(policy.empty() ? "{}" : policy); keys && keys->is_object()) {
    out.fields = policy_fields(keys->get_object());
    if (out.fields.empty()) out.lines.emplace_back("default");
  }
  return out;
}

std::vector<const Object*> in_time_order(const std::vector<Object>& events) {
  std::vector<const Object*> sorted;
  sorted.reserve(events.size());
  for (const Object& event : events) sorted.push_back(&event);
  std::ranges::sort(sorted, {}, [](const Object* event) { return last_seen(*event); });
  return sorted;
}

std::string indented(const std::string& table) {
  std::string out;
  std::size_t start = 0;
  while (start < table.size()) {
    const std::size_t end = std::min(table.find('\n', start), table.size() - 1);
    out += "  " + table.substr(start, end - start + 1);
    start = end + 1;
  }
  return out;
}

}  // namespace

const std::vector<ListedKind>& listed_kinds() {
  static const std::vector<ListedKind> all{
      {kinds::resource_slices,
       "resourceslice",
       {"rs", "resourceslices"},
       "slices: capacity asked for or granted",
       "resource slices"},
      {kinds::virtual_nodes,
       "virtualnode",
       {"vn", "virtualnodes"},
       "virtual nodes: capacity of providers",
       "virtual nodes"},
      {kinds::tenants, "tenant", {"tenants"}, "tenants: consumers of this cluster", "tenants"},
      {kinds::identities, "identity", {"identities"}, "identities: credentials at providers", "identities"},
      {kinds::quotas, "quota", {"quotas"}, "quotas: what consumers may have here, and what they use", "quotas"},
      {kinds::namespace_offloadings,
       "offloading",
       {"offloadings", "nsoff"},
       "namespaces that are offloaded",
       "offloaded namespaces"},
      {kube::resources::services,
       "service",
       {"services", "svc"},
       "Services, with the addresses that providers gave to their copies",
       "Services"},
      {kinds::ingresses,
       "ingress",
       {"ingresses", "ing"},
       "Ingresses, with the addresses that providers gave to their copies",
       "Ingresses"},
      {kinds::foreign_clusters,
       "peer",
       {"peers", "fc", "foreigncluster", "foreignclusters"},
       "peers of this cluster",
       "peers"},
  };
  return all;
}

void add_consumers(std::vector<Object>& quotas, const std::vector<Object>& tenants) {
  for (Object& quota : quotas) {
    const auto found = std::ranges::find(tenants, quota.ns(), [](const Object& tenant) { return tenant.ns(); });
    if (found != tenants.end()) quota.set_label(labels::remote_cluster_id, string_at(found->spec(), {"clusterID"}));
    if (is_quota_drained(quota, tenants)) quota.set_annotation(liqo::api::annotations::drained, "true");
  }
}

std::string listing(const ListedKind& kind, const std::vector<Object>& objects, bool wide, kube::WallTime now) {
  std::vector<const Object*> sorted;
  sorted.reserve(objects.size());
  for (const Object& object : objects) sorted.push_back(&object);
  std::sort(sorted.begin(), sorted.end(), [](auto* left, auto* right) { return left->key() < right->key(); });
  const std::vector<Column> all = columns(kind.resource);
  text::Row header;
  if (kind.resource.namespaced) header.emplace_back("NAMESPACE");
  header.emplace_back("NAME");
  for (const Column& column : all)
    if (wide || !column.wide) header.push_back(column.title);
  header.emplace_back("AGE");
  std::vector<text::Row> rows;
  for (const Object* object : sorted) {
    text::Row row;
    if (kind.resource.namespaced) row.emplace_back(object->ns());
    row.emplace_back(object->name());
    for (const Column& column : all)
      if (wide || !column.wide) row.push_back(column.cell(*object));
    row.push_back(text::age_of(object->creation_timestamp(), now));
    rows.push_back(std::move(row));
  }
  return text::table(header, rows);
}

std::string description(const Object& object, const std::vector<Object>& events, kube::WallTime now,
                        const text::Palette& palette) {
  text::Section head{.title = std::string(object.kind()) + " " + object.key().text()};
  head.fields.emplace_back("Age", text::age_of(object.creation_timestamp(), now));
  if (object.is_deleting()) head.lines.push_back(palette.warn("!") + "  is being deleted");
  head.sections.push_back(fields("Labels", object.labels()));
  const bool has_policy = object.kind() == kinds::tenants.kind;
  json::object annotations = object.annotations();
  if (has_policy) annotations.erase(liqo::api::annotations::pod_policy);
  const bool has_addresses = !addresses_at_providers(object).entries().empty();
  if (has_addresses) annotations.erase(liqo::api::annotations::remote_addresses);
  if (!annotations.empty()) head.sections.push_back(fields("Annotations", annotations));
  if (has_policy) head.sections.push_back(policy_section(object, palette));
  head.sections.push_back(fields("Spec", object.spec()));
  head.sections.push_back(fields("Status", object.status()));
  if (has_addresses) head.sections.push_back(addresses_section(object));
  std::string out = text::render(head);

  // Text of others is not cut here, because this command shows the object in full.
  const auto whole = [](std::string_view words) { return kube::printable(words); };
  std::vector<text::Row> rows;
  for (const json::value& condition : array_at(object.status(), {"conditions"}))
    rows.push_back(
        {whole(string_at(condition, {"type"})), whole(string_at(condition, {"status"})),
         whole(string_at(condition, {"reason"})), text::age_of(string_at(condition, {"lastTransitionTime"}), now),
         whole(object.kind() == kinds::resource_slices.kind ? answer_in_words(object, string_at(condition, {"message"}))
                                                            : std::string(string_at(condition, {"message"})))});
  if (!rows.empty())
    out += text::render({.title = "Conditions"}) +
           indented(text::table({"TYPE", "STATUS", "REASON", "AGE", "MESSAGE"}, rows));

  rows.clear();
  for (const Object* event : in_time_order(events))
    rows.push_back({text::age_of(last_seen(*event), now), whole(string_at(event->tree(), {"type"})),
                    whole(string_at(event->tree(), {"reason"})), whole(string_at(event->tree(), {"message"}))});
  out += text::render({.title = "Events"});
  out += rows.empty() ? "  None\n" : indented(text::table({"AGE", "TYPE", "REASON", "MESSAGE"}, rows));
  return out;
}

json::object forge_description(const Object& object, const std::vector<Object>& events, std::string_view policy) {
  json::array told;
  for (const Object* event : in_time_order(events)) told.push_back(event->tree());
  json::object out{{"object", object.tree()}, {"events", std::move(told)}};
  if (!policy.empty()) out["policy"] = policy;
  return out;
}

}  // namespace liqoctl::model
