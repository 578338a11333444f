#include "core/reflection/narrowed.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/common/json_values.hpp"
#include "core/common/names.hpp"
#include "core/policy/key_table.hpp"
#include "core/policy/order_table.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core::reflection {
namespace json = kube::json;
namespace {

/// A webhook's words have a few hundred bytes; each key of an object is looked for in them.
constexpr std::size_t max_words = 8'192;
/// The most keys that an Event names.
constexpr std::size_t max_named = 5;
constexpr std::string_view class_field = "spec.loadBalancerClass";

/// What only a Service that is reached from outside has. Copies have no `externalIPs` and no `loadBalancerIP` anyway.
constexpr std::string_view fields_of_doors[] = {
    "allocateLoadBalancerNodePorts", "externalIPs",       "externalTrafficPolicy",
    "healthCheckNodePort",           "loadBalancerClass", "loadBalancerIP",
    "loadBalancerSourceRanges"};

bool is_of_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '/';
}

/// Whether the key stands in the text as a whole. A dot at its end is that of a sentence if no key goes on after it.
bool names_whole(std::string_view words, std::string_view key) {
  for (std::size_t at = words.find(key); at != std::string_view::npos; at = words.find(key, at + 1)) {
    if (at > 0 && (is_of_key(words[at - 1]) || words[at - 1] == '.')) continue;
    const std::string_view rest = words.substr(at + key.size());
    if (rest.empty()) return true;
    if (is_of_key(rest[0]) || (rest[0] == '.' && rest.size() > 1 && is_of_key(rest[1]))) continue;
    return true;
  }
  return false;
}

/// A key without a domain may be any word of a sentence, so it has to stand after what it is.
bool names_key(std::string_view words, std::string_view what, std::string_view key) {
  if (key.contains('/')) return names_whole(words, key);
  return names_whole(words, std::string(what) + " " + std::string(key));
}

std::set<std::string, std::less<>> named_keys(const json::object& entries, std::string_view what,
                                              std::string_view words) {
  std::set<std::string, std::less<>> named;
  for (const auto& [key, value] : entries) {
    if (named.size() >= max_refused_keys) break;
    if (names_key(words, what, key)) named.emplace(key);
  }
  return named;
}

bool has_any(const json::object& entries, const std::set<std::string, std::less<>>& keys) {
  return std::ranges::any_of(keys, [&entries](const std::string& key) { return entries.contains(key); });
}

/// Whether an annotation is of the domain of a refused one. Domains that only describe are those of everybody.
bool is_beside(std::string_view key, const std::set<std::string, std::less<>>& refused) {
  const std::string_view domain = domain_of(key);
  if (domain.empty() || is_common_annotation(key)) return false;
  return std::ranges::any_of(refused, [domain](const std::string& each) { return domain_of(each) == domain; });
}

/// Whether a narrowed copy goes without a label, or an annotation, of the Service.
bool goes_without_label(std::string_view key, const RefusedParts& refused) {
  return refused.labels.contains(key) || !who_obeys(TwinKind::service, Metadata::labels, key).empty();
}
bool goes_without(std::string_view key, const RefusedParts& refused) {
  return refused.annotations.contains(key) || is_beside(key, refused.annotations) ||
         !who_obeys(TwinKind::service, Metadata::annotations, key).empty() ||
         key == api::annotations::force_remote_node_port;
}

void take_out(json::object& metadata, std::string_view part, const auto& goes) {
  json::object* entries = object_in(metadata, part);
  if (!entries) return;
  std::vector<std::string> keys;
  for (const auto& [key, value] : *entries)
    if (goes(std::string_view(key))) keys.emplace_back(key);
  for (const std::string& key : keys) entries->erase(key);
}

}  // namespace

RefusedParts refused_parts(const kube::Object& copy, std::string_view words) {
  words = words.substr(0, max_words);
  RefusedParts parts{.labels = named_keys(copy.labels(), "label", words),
                     .annotations = named_keys(copy.annotations(), "annotation", words)};
  parts.load_balancer_class =
      !kube::string_at(copy.spec(), {"loadBalancerClass"}).empty() && names_whole(words, class_field);
  return parts;
}

bool add_refused(RefusedParts& parts, RefusedParts more) {
  bool is_new = more.load_balancer_class && !std::exchange(parts.load_balancer_class, true);
  parts.load_balancer_class = parts.load_balancer_class || more.load_balancer_class;
  for (auto [known, keys] : {std::pair(&parts.labels, &more.labels), std::pair(&parts.annotations, &more.annotations)})
    for (const std::string& key : *keys) {
      if (parts.labels.size() + parts.annotations.size() >= max_refused_keys) return is_new;
      if (known->insert(key).second) is_new = true;
    }
  return is_new;
}

bool has_refused(const kube::Object& copy, const RefusedParts& parts) {
  if (parts.load_balancer_class && !kube::string_at(copy.spec(), {"loadBalancerClass"}).empty()) return true;
  return has_any(copy.labels(), parts.labels) || has_any(copy.annotations(), parts.annotations);
}

bool differs_in(const kube::Object& left, const kube::Object& right, const RefusedParts& parts) {
  const auto has_same = [](const json::object& here, const json::object& there) {
    return [&here, &there](const std::string& key) {
      const json::value *one = here.if_contains(key), *other = there.if_contains(key);
      return one && other ? *one == *other : one == other;
    };
  };
  if (parts.load_balancer_class &&
      kube::string_at(left.spec(), {"loadBalancerClass"}) != kube::string_at(right.spec(), {"loadBalancerClass"}))
    return true;
  return !std::ranges::all_of(parts.labels, has_same(left.labels(), right.labels())) ||
         !std::ranges::all_of(parts.annotations, has_same(left.annotations(), right.annotations()));
}

bool is_exposed(const kube::Object& service) {
  const std::string_view type = kube::string_at(service.spec(), {"type"});
  return type == "LoadBalancer" || type == "NodePort";
}

bool may_be_narrowed(const kube::Object& service, const RefusedParts& refused) {
  const auto loses_lock = [&refused](bool (*goes)(std::string_view, const RefusedParts&)) {
    return [&refused, goes](const auto& entry) { return is_of_backends(entry.key()) && goes(entry.key(), refused); };
  };
  return is_exposed(service) && std::ranges::none_of(service.annotations(), loses_lock(goes_without)) &&
         std::ranges::none_of(service.labels(), loses_lock(goes_without_label));
}

kube::Object narrowed(const kube::Object& service, const RefusedParts& refused) {
  kube::Object shut = service;
  json::object& metadata = shut.mutable_metadata();
  take_out(metadata, "labels", [&](std::string_view key) { return goes_without_label(key, refused); });
  take_out(metadata, "annotations", [&](std::string_view key) { return goes_without(key, refused); });
  json::object& spec = shut.mutable_spec();
  spec["type"] = "ClusterIP";
  for (const std::string_view field : fields_of_doors) spec.erase(field);
  for_each_object(spec, "ports", [](json::object& port) { port.erase("nodePort"); });
  return shut;
}

std::string describe_narrowed(const RefusedParts& refused, std::string_view provider) {
  std::vector<std::string> named;
  if (refused.load_balancer_class) named.emplace_back("the class of its load balancer");
  for (const std::string& key : refused.annotations) named.push_back("annotation " + key);
  for (const std::string& key : refused.labels) named.push_back("label " + key);
  return "cluster " + std::string(provider) + " refuses " + kube::join_some(named, max_named) +
         ": the copy is a ClusterIP without, which nobody reaches from outside; the policy there can allow more" +
         advice_about(refused);
}

std::string advice_about(const RefusedParts& refused) {
  if (refused.labels.empty() && refused.annotations.empty()) return {};
  return "; what keeps nothing shut can be left out here: offloading.reflection.skip." +
         std::string(refused.annotations.empty() ? "labels" : "annotations");
}

std::string describe_shut(std::string_view provider, std::string_view words) {
  return "the copy in cluster " + std::string(provider) +
         " is removed, because it would be reached in another way than this object: " + std::string(words);
}

}  // namespace liqo::core::reflection
