// Strategic merge patch and server-side apply: merging trees whose lists have keys.
#include <algorithm>
#include <map>

#include "patch.hpp"

namespace kube::testing {

namespace {

/// Field names that have one meaning in all built-in kinds that the simulations use.
const std::map<std::string_view, std::string_view>& merge_keys() {
  static const std::map<std::string_view, std::string_view> keys{
      {"containers", "name"},
      {"initContainers", "name"},
      {"ephemeralContainers", "name"},
      {"env", "name"},
      {"volumes", "name"},
      {"volumeMounts", "mountPath"},
      {"volumeDevices", "devicePath"},
      {"imagePullSecrets", "name"},
      {"hostAliases", "ip"},
      {"conditions", "type"},
      {"podIPs", "ip"},
      {"hostIPs", "ip"},
      {"ownerReferences", "uid"},
      {"finalizers", "."},
      {"topologySpreadConstraints", "topologyKey"},
      {"resourceClaims", "name"},
      {"podCIDRs", "."},
      {"secrets", "name"},
      {"schedulingGates", "name"},
  };
  return keys;
}

const json::value* element_key(const json::value& element, std::string_view key) {
  const json::object* object = element.if_object();
  return object ? object->if_contains(key) : nullptr;
}

json::array::iterator find_element(json::array& list, std::string_view key, const json::value& wanted) {
  return std::ranges::find_if(list, [&](const json::value& element) {
    if (key == ".") return element == wanted;
    const json::value* have = element_key(element, key);
    return have && *have == wanted;
  });
}

void strategic(json::object& target, const json::object& patch, std::string_view parent);

void strategic_list(json::array& target, const json::array& patch, std::string_view key, std::string_view field) {
  // {"$patch": "replace"} anywhere in the list replaces it by the other elements.
  for (const json::value& element : patch) {
    if (string_at(element, {"$patch"}) != "replace") continue;
    json::array replaced;
    for (const json::value& kept : patch)
      if (string_at(kept, {"$patch"}) != "replace") replaced.push_back(kept);
    target = std::move(replaced);
    return;
  }
  for (const json::value& element : patch) {
    const json::value* wanted = key == "." ? &element : element_key(element, key);
    if (!wanted) continue;
    const auto found = find_element(target, key, *wanted);
    if (string_at(element, {"$patch"}) == "delete") {
      if (found != target.end()) target.erase(found);
    } else if (found == target.end()) {
      target.push_back(element);
    } else if (found->is_object() && element.is_object()) {
      strategic(found->get_object(), element.get_object(), field);
    }
  }
}

void strategic(json::object& target, const json::object& patch, std::string_view parent) {
  const std::string_view directive = string_at(patch, {"$patch"});
  if (directive == "replace" || directive == "delete") target.clear();
  if (directive == "delete") return;
  if (const json::value* retained = patch.if_contains("$retainKeys"); retained && retained->is_array()) {
    json::object kept;
    for (const json::value& key : retained->get_array())
      if (key.is_string())
        if (const json::value* value = target.if_contains(key.get_string())) kept[key.get_string()] = *value;
    target = std::move(kept);
  }
  for (const auto& [name, value] : patch) {
    const std::string_view field = name;
    if (constexpr std::string_view prefix = "$deleteFromPrimitiveList/"; field.starts_with(prefix)) {
      json::value* list = target.if_contains(field.substr(prefix.size()));
      if (list && list->is_array() && value.is_array())
        for (const json::value& gone : value.get_array()) {
          json::array& array = list->get_array();
          const auto at = std::ranges::find(array, gone);
          if (at != array.end()) array.erase(at);
        }
      continue;
    }
    if (field.starts_with("$")) continue;
    if (value.is_null()) {
      target.erase(field);
    } else if (value.is_object()) {
      strategic(ensure_object(target, field), value.get_object(), field);
    } else if (value.is_array() && !merge_key(parent, field).empty()) {
      strategic_list(ensure_array(target, field), value.get_array(), merge_key(parent, field), field);
    } else {
      target[field] = value;
    }
  }
}

/// Where a tree stands in an object.
struct Place {
  bool built_in = false;  ///< the object's kind is one of Kubernetes' own: lists merge by their keys
  std::string_view parent = {};

  Place inside(std::string_view field) const { return {built_in, field}; }
  /// The key by which the elements of that list are distinguished; "" = it is replaced as a whole.
  std::string_view key_of(std::string_view field, const json::value& value) const {
    return built_in && value.is_array() ? merge_key(parent, field) : "";
  }
};

struct KeyedList {
  std::string_view key;
  std::string_view field;  ///< whose value it is
};

void apply(json::object& target, const json::object& config, const json::object& previous, const Place& place);

void apply_list(json::array& target, const json::array& config, const json::array& previous, const KeyedList& list) {
  const std::string_view key = list.key;
  static const json::object nothing;
  for (const json::value& old : previous) {
    const json::value* gone = key == "." ? &old : element_key(old, key);
    if (!gone) continue;
    json::array copy = config;
    if (find_element(copy, key, *gone) != copy.end()) continue;
    if (const auto found = find_element(target, key, *gone); found != target.end()) target.erase(found);
  }
  for (const json::value& element : config) {
    const json::value* wanted = key == "." ? &element : element_key(element, key);
    if (!wanted) continue;
    const auto found = find_element(target, key, *wanted);
    if (found == target.end()) {
      target.push_back(element);
    } else if (found->is_object() && element.is_object()) {
      const json::object* before = &nothing;
      json::array copy = previous;
      const auto old = find_element(copy, key, *wanted);
      if (old != copy.end() && old->is_object()) before = &old->get_object();
      apply(found->get_object(), element.get_object(), *before, {.built_in = true, .parent = list.field});
    }
  }
}

void apply(json::object& target, const json::object& config, const json::object& previous, const Place& place) {
  static const json::object no_object;
  static const json::array no_array;
  for (const auto& [field, old] : previous) {
    if (config.contains(field)) continue;
    json::value* have = target.if_contains(field);
    if (!have) continue;
    const std::string_view key = place.key_of(field, old);
    if (old.is_object() && have->is_object()) {
      apply(have->get_object(), no_object, old.get_object(), place.inside(field));
      if (have->get_object().empty()) target.erase(field);
    } else if (!key.empty() && have->is_array()) {
      apply_list(have->get_array(), no_array, old.get_array(), {key, field});
      if (have->get_array().empty()) target.erase(field);
    } else {
      target.erase(field);
    }
  }
  for (const auto& [field, value] : config) {
    const json::value* old = previous.if_contains(field);
    const std::string_view key = place.key_of(field, value);
    if (value.is_object()) {
      apply(ensure_object(target, field), value.get_object(), old && old->is_object() ? old->get_object() : no_object,
            place.inside(field));
    } else if (!key.empty()) {
      apply_list(ensure_array(target, field), value.get_array(), old && old->is_array() ? old->get_array() : no_array,
                 {key, field});
    } else {
      target[field] = value;
    }
  }
}

std::string differing(const json::object& config, const json::object& other, const Place& place,
                      const std::string& path) {
  for (const auto& [field, value] : config) {
    const json::value* theirs = other.if_contains(field);
    if (!theirs) continue;
    const std::string here = path + "." + std::string(field);
    if (value.is_object() && theirs->is_object()) {
      if (auto found = differing(value.get_object(), theirs->get_object(), place.inside(field), here); !found.empty())
        return found;
      continue;
    }
    const std::string_view key = theirs->is_array() ? place.key_of(field, value) : "";
    if (key == ".") continue;
    if (!key.empty()) {
      json::array list = theirs->get_array();
      for (const json::value& element : value.get_array()) {
        const json::value* wanted = element_key(element, key);
        if (!wanted) continue;
        const auto found = find_element(list, key, *wanted);
        if (found == list.end() || !found->is_object()) continue;
        if (auto at = differing(element.get_object(), found->get_object(), place.inside(field), here); !at.empty())
          return at;
      }
      continue;
    }
    if (value != *theirs) return here;
  }
  return {};
}

}  // namespace

std::string_view merge_key(std::string_view parent, std::string_view field) {
  // `ports` and `addresses` mean different things in a container, a Service, an EndpointSlice and a Node.
  if (field == "ports") return parent == "spec" ? "port" : parent.empty() ? "" : "containerPort";
  if (field == "addresses") return parent == "status" ? "type" : "";
  const auto& keys = merge_keys();
  const auto found = keys.find(field);
  return found == keys.end() ? std::string_view() : found->second;
}

void strategic_merge(json::object& target, const json::object& patch) { strategic(target, patch, ""); }

void apply_configuration(json::object& target, const json::object& config, const json::object& previous,
                         bool built_in) {
  apply(target, config, previous, {.built_in = built_in});
}

std::string disagreement(const json::object& config, const json::object& other, bool built_in) {
  return differing(config, other, {.built_in = built_in}, "");
}

}  // namespace kube::testing
