#include "model/tenant/tenant_policy.hpp"

#include <algorithm>
#include <set>

#include "core/admission/tenant_policy.hpp"
#include "core/common/nearest.hpp"
#include "core/policy/pod_policy.hpp"
#include "core/policy/pod_policy_keys.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/quantity.hpp"
#include "kube/base/text.hpp"
#include "model/resources.hpp"
#include "text/shown.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;
namespace admission = liqo::core::admission;
namespace core = liqo::core;
using core::PolicyKey;
using core::PolicyValue;
using kube::Errc;
using text::shown;

constexpr std::size_t max_shown = 100, max_replaced = 300, max_line = 512;
constexpr std::string_view priority_classes = "priorityClasses";
constexpr std::string_view twin_names = "twinNames";

std::unexpected<kube::Failure> wrong(std::string text) { return kube::fail(Errc::invalid_input, std::move(text)); }

const PolicyKey* find_key(std::string_view name) {
  static const std::vector<PolicyKey> keys = core::policy_keys();
  const auto found = std::ranges::find(keys, name, &PolicyKey::name);
  return found == keys.end() ? nullptr : &*found;
}

/// A list that forbids what is allowed without it.
struct Narrowing {
  std::string_view key, before;
};
constexpr Narrowing narrowings[] = {
    {twin_names, "what --twin-names of liqod allows, or names that end in the consumer's ID"},
    {"ingressHosts", "any host"},
    {"storageClasses", "those that this cluster offers"},
    {"ingressClasses", "those that this cluster offers"},
    {"loadBalancerClasses", "those that this cluster offers"},
    {"endpointCIDRs", "the ranges that liqo.io/remote-pod-cidrs of its ForeignCluster declares"},
};

/// "KEY=VALUE" of a flag, by its parts.
struct Given {
  std::string_view flag, key, value;
  bool has_value = false;
  std::string_view consumer = {};  ///< the owner of the policy

  /// The beginning of a refusal. Refusals of --max and --max-slice name the key themselves.
  std::string text() const {
    return std::string(flag) + (flag.starts_with("--max") ? "" : " " + shown(key, max_shown));
  }
};

Given read_given(std::string_view flag, std::string_view text) {
  const std::size_t equal = text.find('=');
  const bool has_value = equal != std::string_view::npos;
  return {.flag = flag,
          .key = text.substr(0, equal),
          .value = has_value ? text.substr(equal + 1) : std::string_view(),
          .has_value = has_value};
}

/// The list under a key, which is created if it is missing. Failure: the key has another value.
kube::Result<json::array*> list_at(json::object& policy, const Given& given) {
  json::value& there = policy[given.key];
  if (there.is_null()) there.emplace_array();
  if (json::array* list = there.if_array()) return list;
  const std::string_view mend = given.key == priority_classes ? ": give NAME=CLASS, or take it away with --unset "
                                                              : " in the policy as it is: take it away with --unset ";
  return wrong(given.text() + ": it is no list" + std::string(mend) + std::string(given.key));
}

/// An amount that may bound a consumer; 0 is one.
kube::Result<void> check_bound(std::string_view resource, std::string_view amount) {
  if (const auto quantity = kube::Quantity::parse(amount); quantity && quantity->is_zero()) return {};
  auto checked = check_amount(resource, kube::cut_text(amount, max_shown));
  if (!checked) checked.error() = kube::Failure(Errc::invalid_input, shown(checked.error().text()));
  return checked;
}

/// Why that name would bound nothing, as a clause; "" if it is the name of a resource, as far as that is known. Only
/// device plugins know the names with a domain.
std::string why_no_resource(std::string_view name) {
  static const std::vector<std::string> known{"cpu", "memory", "pods", "ephemeral-storage", "storage"};
  if (name.contains('/') || name.starts_with("hugepages-") || std::ranges::find(known, name) != known.end()) return {};
  const std::string meant = kube::lower_case(kube::cut_text(name, max_shown));
  const auto begun = std::ranges::find_if(
      known, [&meant](const std::string& one) { return meant.size() > 2 && one.starts_with(meant); });
  std::string near;
  if (begun != known.end()) {
    near = *begun;
  } else if (!meant.contains("gpu")) {  // it is one letter from "cpu", and has a domain
    near = liqo::core::nearest(meant, known);
  }
  return "is the name of no resource" + (near.empty()
                                             ? ": there are " + kube::join(known, ", ") +
                                                   ", hugepages-SIZE, and names with a domain such as nvidia.com/gpu"
                                             : "; did you mean " + near + "?");
}

/// Whether the key bounds the grants of slices. The other bounds have the names of ResourceQuotas.
bool bounds_slices(std::string_view key) { return key == "maxResources" || key == "maxSliceResources"; }

kube::Result<void> set_amounts(json::object& policy, const Given& given) {
  const std::string example = "cpu=3,memory=8Gi";
  if (given.value.empty()) return wrong(given.text() + ": say how much of which resource, e.g. " + example);
  json::object& amounts = kube::ensure_object(policy, given.key);
  for (const std::string_view pair : kube::split(given.value, ',')) {
    const std::size_t equal = pair.find('=');
    if (equal == 0 || equal == std::string_view::npos)
      return wrong(given.text() + ": '" + shown(pair, max_shown) + "' is not name=amount, e.g. " + example);
    const std::string_view resource = pair.substr(0, equal), amount = pair.substr(equal + 1);
    if (const std::string why = bounds_slices(given.key) ? why_no_resource(resource) : ""; !why.empty())
      return wrong(given.text() + ": " + kube::in_quotes(resource, max_shown) + " " + why);
    if (const auto checked = check_bound(resource, amount); !checked)
      return wrong(given.text() + " " + shown(resource, max_shown) + ": " + checked.error().text());
    amounts[resource] = amount;
  }
  return {};
}

kube::Result<void> add_names(json::object& policy, const Given& given) {
  if (given.value.empty()) return wrong(given.text() + ": name what is meant: " + std::string(given.key) + "=NAME,...");
  // "NAME=CLASS" is an entry of a map, a name alone one of a list.
  if (given.key == priority_classes && given.value.contains('=')) {
    json::value& there = policy[given.key];
    if (there.is_array())
      return wrong(given.text() + ": it is a list now: take that away with --unset priorityClasses");
    json::object& map = kube::ensure_object(policy, given.key);
    for (const std::string_view pair : kube::split(given.value, ','))
      map[pair.substr(0, pair.find('='))] = pair.substr(std::min(pair.size(), pair.find('=') + 1));
    return {};
  }
  // Without the list, the consumer's default names are allowed, so they stay allowed.
  const bool keeps_default = given.key == twin_names && !policy.contains(given.key) && !given.consumer.empty();
  KUBE_TRY(list, list_at(policy, given));
  if (keeps_default) list->emplace_back("*-" + std::string(given.consumer));
  for (const std::string_view name : kube::split(given.value, ','))
    if (std::ranges::find(*list, json::value(name)) == list->end()) list->emplace_back(name);
  return {};
}

std::unexpected<kube::Failure> unnamed(const Given& given, std::string_view name) {
  return wrong(given.text() + ": the policy does not name " + kube::in_quotes(name, max_shown) +
               " there: liqoctl describe tenant shows what it names");
}

/// Removes entries from a map: all of them if none is named.
kube::Result<void> remove_entries(json::object& map, const Given& given) {
  if (!given.has_value) map.clear();
  for (const std::string_view name : kube::split(given.value, ','))
    if (map.stable_erase(name) == 0) return unnamed(given, name);
  return {};
}

/// Removes names from a list, or from a map of names: all of them if none is named.
kube::Result<void> remove_names(json::object& policy, const Given& given) {
  if (json::value* there = policy.if_contains(given.key); there && there->is_object())
    return remove_entries(there->get_object(), given);
  KUBE_TRY(list, list_at(policy, given));
  if (!given.has_value) list->clear();
  for (const std::string_view name : kube::split(given.value, ',')) {
    const auto found = std::ranges::find(*list, json::value(name));
    if (found == list->end()) return unnamed(given, name);
    list->erase(found);
  }
  return {};
}

kube::Result<void> set_flag(json::object& policy, const Given& given, bool value) {
  if (given.has_value) return wrong(given.text() + " takes no value");
  policy[given.key] = value;
  return {};
}

/// Sets a flag that forbids something when it is true. "Allow strictMetadata" would be read as its contrary.
kube::Result<void> set_forbidding_flag(json::object& policy, const Given& given) {
  const std::string key(given.key);
  if (given.flag != "--allow" || (given.value != "true" && given.value != "false"))
    return wrong(given.text() + ": it forbids something when it is true: --allow " + key +
                 "=true switches it on, --allow " + key + "=false off");
  policy[given.key] = given.value == "true";
  return {};
}

kube::Result<void> set_number(json::object& policy, const Given& given) {
  const auto number = kube::Quantity::parse(given.value);
  const bool is_plain = !given.value.empty() && given.value.size() <= 15 &&
                        std::ranges::all_of(given.value, [](char c) { return c >= '0' && c <= '9'; });
  if (!number || !is_plain)
    return wrong(given.text() + " takes a number, 0 or more: " + std::string(given.key) + "=NUMBER");
  policy[given.key] = std::stoll(std::string(given.value));
  return {};
}

/// Sets what such a key has one of: maxBlock=TIME.
kube::Result<void> set_times(json::object& policy, const Given& given) {
  const std::size_t equal = given.value.find('=');
  json::object times;
  if (equal != std::string_view::npos) times[given.value.substr(0, equal)] = given.value.substr(equal + 1);
  const json::object alone{{given.key, times}};
  if (const auto read = core::read_pod_policy(json::serialize(alone)); !read)
    return wrong(given.text() + ": " + std::string(given.key) + "=maxBlock=10m: a time from 10s to 1h");
  policy[given.key] = std::move(times);
  return {};
}

/// The key of the flag. Failure: no key has that name.
kube::Result<const PolicyKey*> known_key(const Given& given) {
  if (const PolicyKey* key = find_key(given.key)) return key;
  return wrong(std::string(given.flag) + ": " + kube::in_quotes(given.key, max_shown) + " is no key of a policy" +
               core::nearest_policy_key(given.key));
}

kube::Result<void> allow(json::object& policy, const Given& given) {
  KUBE_TRY(key, known_key(given));
  switch (key->value) {
    case PolicyValue::flag:
      return key->forbids ? set_forbidding_flag(policy, given) : set_flag(policy, given, true);
    case PolicyValue::number:
      return set_number(policy, given);
    case PolicyValue::amounts:
      return set_amounts(policy, given);
    case PolicyValue::times:
      return set_times(policy, given);
    case PolicyValue::names:
    case PolicyValue::ranges:
      break;
  }
  return key->forbids ? remove_names(policy, given) : add_names(policy, given);
}

kube::Result<void> forbid(json::object& policy, const Given& given) {
  KUBE_TRY(key, known_key(given));
  switch (key->value) {
    case PolicyValue::flag:
      return key->forbids ? set_forbidding_flag(policy, given) : set_flag(policy, given, false);
    case PolicyValue::number:
    case PolicyValue::amounts:
    case PolicyValue::times:
      return wrong(given.text() + " is a bound: --allow " + std::string(given.key) + "=... sets it, and --unset " +
                   std::string(given.key) + " takes it away");
    case PolicyValue::names:
    case PolicyValue::ranges:
      break;
  }
  if (!key->forbids) return remove_names(policy, given);
  if (given.key == "refusedServiceTypes" && !given.value.empty())
    for (const std::string_view type : kube::split(given.value, ','))
      if (const std::string why = admission::why_no_service_type(type); !why.empty())
        return wrong(given.text() + ": " + why);
  const Given all{.flag = given.flag, .key = given.key, .value = "*", .has_value = true};
  return add_names(policy, given.has_value ? given : all);
}

/// Removes entries from a map, and the key with the last one.
kube::Result<void> unset_entries(json::object& policy, const Given& given) {
  json::object* entries = nullptr;
  if (json::value* there = policy.if_contains(given.key)) entries = there->if_object();
  if (!entries)
    return wrong(given.text() + " takes the whole key away, without \"=\"; --forbid " + shown(given.key, max_shown) +
                 "=NAME takes a name off a list");
  if (given.value.empty()) return wrong(given.text() + ": name what is to go: " + std::string(given.key) + "=NAME,...");
  KUBE_TRYV(remove_entries(*entries, given));
  if (entries->empty()) policy.stable_erase(given.key);
  return {};
}

kube::Result<void> unset(json::object& policy, const Given& given) {
  if (given.has_value) return unset_entries(policy, given);
  if (policy.stable_erase(given.key) > 0) return {};
  // An unknown key is in the policy, or a mistake.
  KUBE_TRYV(known_key(given));
  return {};
}

/// Refuses to allow and forbid the same. A name is compared without the class that it maps to, and a list without names
/// means all of it.
kube::Result<void> check_twice(const PolicyChange& change) {
  for (const std::string& text : change.allow) {
    const Given allowed = read_given("--allow", text);
    if (!find_key(allowed.key)) continue;
    for (const std::string& other : change.forbid) {
      const Given forbidden = read_given("--forbid", other);
      if (forbidden.key != allowed.key) continue;
      if (!allowed.has_value || !forbidden.has_value)
        return wrong(std::string(allowed.key) + " cannot be both allowed and forbidden");
      for (const std::string_view name : kube::split(forbidden.value, ','))
        for (const std::string_view entry : kube::split(allowed.value, ','))
          if (entry.substr(0, entry.find('=')) == name)
            return wrong(std::string(allowed.key) + "=" + shown(name, max_shown) +
                         " cannot be both allowed and forbidden");
    }
  }
  return {};
}

/// Refuses two amounts of the same resource.
kube::Result<void> check_once(const Given& given, const std::vector<std::string>& texts) {
  std::set<std::string_view> names;
  for (const std::string_view text : texts)
    for (const std::string_view pair : kube::split(text, ','))
      if (const std::string_view name = pair.substr(0, pair.find('=')); !names.insert(name).second)
        return wrong(given.text() + ": " + shown(name, max_shown) + " is given twice");
  return {};
}

/// Checks the value of a key as far as it does not depend on the stored list.
kube::Result<void> check_allowed(const Given& given) {
  const PolicyKey* key = find_key(given.key);
  if (key && key->forbids && key->value == PolicyValue::names) return {};
  json::object scratch;
  KUBE_TRYV(allow(scratch, given));
  if (key && key->value == PolicyValue::amounts) return check_once(given, {std::string(given.value)});
  return {};
}

kube::Result<void> check_forbidden(const Given& given) {
  const PolicyKey* key = find_key(given.key);
  const bool is_list = key && (key->value == PolicyValue::names || key->value == PolicyValue::ranges);
  if (is_list && !key->forbids) return {};
  json::object scratch;
  return forbid(scratch, given);
}

kube::Result<void> check_bounds(const Given& given, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    json::object scratch;
    KUBE_TRYV(set_amounts(scratch, {.flag = given.flag, .key = given.key, .value = text}));
  }
  return check_once(given, texts);
}

kube::Result<void> apply(json::object& policy, const PolicyChange& change) {
  using Step = kube::Result<void> (*)(json::object&, const Given&);
  for (const auto& [flag, texts, step] :
       {std::tuple<std::string_view, const std::vector<std::string>&, Step>{"--unset", change.unset, unset},
        {"--allow", change.allow, allow},
        {"--forbid", change.forbid, forbid}})
    for (const std::string& text : texts) {
      Given given = read_given(flag, text);
      given.consumer = change.consumer;
      KUBE_TRYV(step(policy, given));
    }
  for (const auto& [flag, texts, key] :
       {std::tuple<std::string_view, const std::vector<std::string>&, std::string_view>{"--max", change.max,
                                                                                        "maxResources"},
        {"--max-slice", change.max_slice, "maxSliceResources"}})
    for (const std::string& text : texts) {
      KUBE_TRYV(set_amounts(policy, {.flag = flag, .key = key, .value = text, .has_value = true}));
    }
  return {};
}

/// The keys of a stored policy, known or not. Errors: Errc::parse.
kube::Result<json::object> read_keys(std::string_view annotation) {
  if (annotation.empty()) return json::object();
  if (annotation.size() > core::max_policy_bytes) return kube::fail(Errc::parse, "it is larger than 16 KiB");
  auto stored = kube::parse_json(annotation, 4);
  if (!stored) return kube::fail(Errc::parse, shown(stored.error().text(), max_shown));
  json::object* policy = stored->if_object();
  if (!policy) return kube::fail(Errc::parse, "it is not a JSON object");
  return std::move(*policy);
}

/// The refusal of a result that liqod would refuse, for a mistake that is not among the flags.
std::unexpected<kube::Failure> refuse_misspelt(std::string_view keys) {
  const std::string flags = admission::mending_flags(keys);
  return wrong("the policy that is stored cannot be read: " + admission::why_unreadable(keys) + " add " +
               (flags.empty() ? "--replace, which keeps nothing of it" : flags));
}

std::vector<std::string> narrowed_lists(const ChangedPolicy& policy) {
  std::vector<std::string> out;
  for (const Narrowing& one : narrowings) {
    const json::value* now = policy.after.if_contains(one.key);
    const json::array* list = now && !policy.before.contains(one.key) ? now->if_array() : nullptr;
    if (!list || std::ranges::find(*list, json::value("*")) != list->end()) continue;
    out.push_back(std::string(one.key) + ": only what it names from now on; before: " + std::string(one.before) +
                  " (--unset " + std::string(one.key) + " goes back to that)");
  }
  return out;
}

std::string words_of(const json::value& value, std::string_view key) {
  const PolicyKey* known = find_key(key);
  const auto* map = value.if_object();
  if (known && known->value == PolicyValue::amounts && map) return in_words(*map);
  if (const auto names = kube::read_strings(value))
    return names->empty() ? "none" : kube::printable(kube::join(*names, ", "));
  if (map && map->empty()) return "none";
  if (map) {
    std::vector<std::string> pairs;
    for (const auto& [name, target] : *map)
      pairs.push_back(std::string(name) + "=" +
                      (target.is_string() ? std::string(target.get_string()) : json::serialize(target)));
    return kube::printable(kube::join(pairs, ", "));
  }
  return kube::printable(json::serialize(value));
}

std::string cut_with_mark(const std::string& words, std::size_t max) {
  return words.size() > max ? std::string(kube::cut_text(words, max)) + "…" : words;
}

std::string diff_line(std::string_view mark, std::string_view key, const std::string& words) {
  return "  " + std::string(mark) + " " + shown(key, max_shown) + ": " + words + "\n";
}

/// The names of one list that are not in the other.
json::array without(const json::array& list, const json::array& other) {
  json::array left;
  for (const json::value& name : list)
    if (std::ranges::find(other, name) == other.end()) left.push_back(name);
  return left;
}

/// The lines about a changed key. Of a list they show the removed and the added names, because it may be too long to be
/// compared by eye.
std::string changed_lines(std::string_view key, const json::value& before, const json::value& now) {
  if (before.is_array() && now.is_array()) {
    const json::array &old = before.get_array(), &next = now.get_array();
    const json::array gone = without(old, next), come = without(next, old), kept = without(old, gone);
    if (!gone.empty() || !come.empty())
      return (kept.empty() ? "" : diff_line(" ", key, cut_with_mark(words_of(kept, key), max_line))) +
             (gone.empty() && !old.empty() ? "" : diff_line("-", key, words_of(gone, key))) +
             (come.empty() && !next.empty() ? "" : diff_line("+", key, words_of(come, key)));
  }
  return diff_line("-", key, words_of(before, key)) + diff_line("+", key, words_of(now, key));
}

}  // namespace

kube::Result<void> check_change(const PolicyChange& change) {
  for (const std::string& text : change.allow) KUBE_TRYV(check_allowed(read_given("--allow", text)));
  for (const std::string& text : change.forbid) KUBE_TRYV(check_forbidden(read_given("--forbid", text)));
  KUBE_TRYV(check_bounds({.flag = "--max", .key = "maxResources"}, change.max));
  KUBE_TRYV(check_bounds({.flag = "--max-slice", .key = "maxSliceResources"}, change.max_slice));
  return check_twice(change);
}

kube::Result<ChangedPolicy> change_policy(std::string_view annotation, const PolicyChange& change) {
  ChangedPolicy out;
  if (auto stored = read_keys(annotation)) {
    out.before = std::move(*stored);
  } else if (change.replace) {
    out.unreadable = shown(annotation, max_replaced) + (annotation.size() > max_replaced ? "…" : "");
  } else {
    return std::unexpected(std::move(stored.error()));
  }
  if (!change.replace) out.after = out.before;
  KUBE_TRYV(apply(out.after, change));
  json::object known, misspelt;
  for (const auto& [key, value] : out.after) {
    if (find_key(key)) {
      known[key] = value;
    } else if (core::nearest_policy_key(key).empty()) {
      out.unknown.push_back(kube::in_quotes(key, max_shown));
    } else {
      misspelt[key] = value;
    }
  }
  if (!misspelt.empty()) return refuse_misspelt(json::serialize(misspelt));
  const std::string text = out.text();
  if (text.size() > core::max_policy_bytes)
    return wrong("the policy would have " + std::to_string(text.size()) + " bytes, and no more than " +
                 std::to_string(core::max_policy_bytes) + " are read");
  if (const auto read = core::read_pod_policy(json::serialize(known)); !read)
    return wrong("the policy could not be read: " + shown(read.error().text()) +
                 ": correct it, or take that key away with --unset");
  // With a policy that could not be read, nothing was allowed.
  if (out.unreadable.empty()) out.narrowed = narrowed_lists(out);
  return out;
}

std::string policy_diff(const ChangedPolicy& policy) {
  std::string out;
  for (const auto& [key, value] : policy.before) {
    const json::value* now = policy.after.if_contains(key);
    if (!now) {
      out += diff_line("-", key, words_of(value, key));
    } else if (*now == value) {
      out += diff_line(" ", key, cut_with_mark(words_of(value, key), max_line));
    } else {
      out += changed_lines(key, value, *now);
    }
  }
  for (const auto& [key, value] : policy.after)
    if (!policy.before.contains(key)) out += diff_line("+", key, words_of(value, key));
  return out;
}

PolicyFields policy_fields(const json::object& policy) {
  PolicyFields fields;
  for (const auto& [key, value] : policy) fields.emplace_back(shown(key, max_shown), words_of(value, key));
  return fields;
}

std::string policy_in_words(std::string_view annotation, std::size_t max) {
  if (annotation.empty()) return "default";
  const auto read = core::read_pod_policy(annotation);
  if (!read) return cut_with_mark("✖ " + shown(read.error().text()), max);
  std::vector<std::string> keys;
  const auto policy = kube::parse_json(annotation);
  if (policy && policy->is_object())
    for (const auto& [key, words] : policy_fields(policy->get_object()))
      keys.push_back(words == "true" ? key : key + " (" + words + ")");
  if (keys.empty()) return "default";
  return cut_with_mark(kube::join(keys, ", "), max);
}

}  // namespace liqoctl::model
