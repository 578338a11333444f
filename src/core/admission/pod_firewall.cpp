#include "core/admission/pod_firewall.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/admission/pod_firewall_table.hpp"
#include "kube/base/text.hpp"

namespace liqo::core::admission {
namespace json = kube::json;
namespace {

struct Type;
struct Field {
  std::string_view name;
  const Type* of = nullptr;  // null for a leaf
  const FirewallRow* row = nullptr;
};
struct Type {
  std::vector<Field> fields;
  const Field* find(std::string_view name) const {
    const auto found = std::ranges::find(fields, name, &Field::name);
    return found == fields.end() ? nullptr : &*found;
  }
};

/// The table with its type names resolved.
struct Schema {
  std::unordered_map<std::string_view, Type> types;

  Schema() {
    for (const FirewallRow& row : firewall_table()) types[row.type];
    for (const FirewallRow& row : firewall_table()) {
      const Type* of = row.of.empty() ? nullptr : &types.at(row.of);
      for (const std::string_view name : kube::split(row.fields, ' '))
        types.at(row.type).fields.push_back({name, of, &row});
    }
  }
};

const Schema& schema() {
  static const Schema made;
  return made;
}

/// Whether a leaf has only scalars, or lists and maps of scalars: no object can hide in one.
bool is_flat(const json::value& value) {
  const auto is_scalar = [](const json::value& entry) { return !entry.is_structured(); };
  if (const json::array* list = value.if_array()) return std::ranges::all_of(*list, is_scalar);
  if (const json::object* map = value.if_object())
    return std::ranges::all_of(*map, [&](const auto& entry) { return is_scalar(entry.value()); });
  return true;
}

class Walk {
 public:
  Walk(const PodPolicy& policy, std::size_t max_found) : policy_(policy), max_found_(max_found) {}

  void object(const json::object& object, const Type& type, const std::string& path) {
    for (const auto& [key, value] : object) {
      if (findings.size() >= max_found_) return;
      const std::string_view name = key;
      const Field* field = type.find(name);
      if (field)
        check(value, *field, path + "." + std::string(name));
      else
        report(path + "." + std::string(name.substr(0, 80)), "is not known to the pod firewall of this provider");
    }
  }

  std::vector<Finding> findings;

 private:
  void check(const json::value& value, const Field& field, const std::string& path) {
    if (value.is_null()) return;
    if (!field.row->rule(value, policy_)) return report(path, field.row->why);
    if (!field.of) {
      if (!is_flat(value)) report(path, malformed);
      return;
    }
    if (const json::object* nested = value.if_object()) return object(*nested, *field.of, path);
    const json::array* list = value.if_array();
    if (!list) return report(path, malformed);
    for (std::size_t i = 0; i < list->size() && findings.size() < max_found_; ++i) {
      const std::string entry = path + "[" + std::to_string(i) + "]";
      if (const json::object* nested = (*list)[i].if_object())
        object(*nested, *field.of, entry);
      else
        report(entry, malformed);
    }
  }

  void report(std::string path, std::string_view reason) {
    if (findings.size() < max_found_) findings.push_back({std::move(path), std::string(reason)});
  }

  static constexpr std::string_view malformed = "has not the form that Kubernetes gives it";
  const PodPolicy& policy_;
  std::size_t max_found_;
};

}  // namespace

std::vector<Finding> check_pod(const json::object& pod_spec, const PodPolicy& policy, std::size_t max_found) {
  Walk walk(policy, max_found);
  walk.object(pod_spec, schema().types.at("PodSpec"), "spec");
  return std::move(walk.findings);
}

std::vector<Finding> check_claim_fields(const json::object& claim_spec, const PodPolicy& policy,
                                        const std::string& path, std::size_t max_found) {
  Walk walk(policy, max_found);
  walk.object(claim_spec, schema().types.at("PersistentVolumeClaimSpec"), path);
  return std::move(walk.findings);
}

void keep_new(std::vector<Finding>& found, std::vector<Finding> known) {
  std::ranges::sort(known);
  std::erase_if(found, [&known](const Finding& finding) { return std::ranges::binary_search(known, finding); });
}

std::string describe(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings.first(std::min(findings.size(), max_findings))) {
    if (!text.empty()) text += "; ";
    text += finding.path + " " + finding.reason;
  }
  if (findings.size() >= max_findings) text += "; and perhaps more";
  return text;
}

}  // namespace liqo::core::admission
