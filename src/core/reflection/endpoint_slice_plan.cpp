#include "core/reflection/endpoint_slice_plan.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include "core/common/digest.hpp"
#include "core/common/meta.hpp"
#include "core/common/names.hpp"
#include "core/common/owner.hpp"
#include "core/offloading/left_out.hpp"
#include "core/policy/key_table.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/foreign_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core::reflection {
namespace json = kube::json;
namespace {

/// Kubernetes itself puts 100 endpoints into a slice, and takes 1000 at most: more are not looked at.
constexpr std::size_t max_endpoints = 100, max_seen = 1'000;
constexpr std::size_t max_ports = 100;
static_assert(max_consumer_endpoints == 10'000, "the text says so");
constexpr std::size_t max_address_text = 64;
/// The nesting of the JSON in the annotation about direct connections.
constexpr std::size_t direct_depth = 4;
/// The most addresses that are left out and named to the consumer.
constexpr std::size_t max_named = 4;

/// The addresses that are those of pods in third clusters, as the consumer says, with the clusters.
std::map<std::string, std::string, std::less<>> read_direct(const kube::Object& shadow) {
  std::map<std::string, std::string, std::less<>> clusters;
  const std::string_view text = shadow.annotation(api::annotations::direct_connections);
  if (text.empty()) return clusters;
  const auto document = kube::parse_json(text, direct_depth);
  if (!document) return clusters;
  for (const auto& [cluster, addresses] : kube::object_at(*document, {"clusterAddresses"})) {
    if (!is_dns_label(cluster) || !addresses.is_array()) continue;
    for (const json::value& entry : addresses.get_array())
      if (const auto* address = entry.if_string()) clusters.emplace(*address, cluster);
  }
  return clusters;
}

/// The text in place of an address, in ASCII: forge_left_out() leaves others out.
std::string shown(std::string_view text) {
  std::string made(text.substr(0, max_address_text));
  std::ranges::replace_if(made, [](char c) { return c < ' ' || c > '~'; }, '?');
  return made;
}

/// Judges the addresses of one ShadowEndpointSlice, and collects the results.
class Judge {
 public:
  Judge(const kube::Object& shadow, const EndpointSurroundings& around, bool v6, EndpointSlicePlan& plan)
      : around_(around), twin_(shadow.ns()), v6_(v6), direct_(read_direct(shadow)), plan_(plan) {}

  struct Judged {
    IpAddress address;
    bool is_in_twin = false;  ///< it is that of a running pod of the consumer in this twin
  };
  /// `is_here`: the consumer says that it is a pod of its own in this cluster, as which it is then judged alone.
  std::optional<Judged> judge(std::string_view text, bool is_here) {
    ++seen_;
    const auto address = IpAddress::parse(text);
    if (!address || address->v6 != v6_) return leave_out(text, v6_ ? "no IPv6 address" : "no IPv4 address");
    if (around_.denies_direct && direct_.contains(text))
      return leave_out(text, "of a third cluster, to which this one denies direct connections");
    const auto reached = is_here ? std::nullopt : reach(text, *address);
    const IpAddress there = reached.value_or(*address);
    if (there.is_special())
      return leave_out(text, reached || is_here ? "an address that no endpoint can have" : "not declared");
    plan_.judged.push_back(there);
    if (!twin_.empty() && around_.own.twin_of(there) == twin_) return Judged{.address = there, .is_in_twin = true};
    if (is_here) return leave_out(text, "no running pod of the consumer in this namespace has it");
    if (!reached) return leave_out(text, "not declared");
    if (around_.own.contain(there)) return leave_out(text, "an address of this cluster itself");
    return Judged{.address = there};
  }
  void leave_out_rest(std::size_t endpoints, std::string_view bound) {
    seen_ += endpoints;
    left_out_ += endpoints;
    // This entry comes first, because later ones may not fit.
    things_.insert(things_.begin(), std::to_string(endpoints) + " endpoints (" + std::string(bound) + ")");
  }
  void conclude() {
    const auto order = [](const IpAddress& address) { return std::tie(address.v6, address.bytes); };
    std::ranges::sort(plan_.judged, {}, order);
    plan_.judged.erase(std::ranges::unique(plan_.judged).begin(), plan_.judged.end());
    plan_.left_out = forge_left_out(things_);
    if (left_out_ == 0) return;
    plan_.left_out_words =
        std::to_string(left_out_) + " of " + std::to_string(seen_) + " addresses are left out here: ";
    plan_.left_out_words += kube::join(things_ | std::views::take(max_named), ", ");
    if (things_.size() > max_named) plan_.left_out_words += ", …";
    plan_.left_out_words += "; " + around_.addresses.words();
  }

 private:
  std::optional<IpAddress> reach(std::string_view text, const IpAddress& address) {
    const auto direct = direct_.find(text);
    if (direct == direct_.end()) return around_.addresses.reached(address);
    plan_.direct.insert(direct->second);
    // The consumer alone says whose pods these are, so the address must be declared for this consumer.
    const IpAddress there = around_.map_direct(direct->second, address).value_or(address);
    return around_.addresses.declares(there) ? std::optional(there) : std::nullopt;
  }
  std::nullopt_t leave_out(std::string_view text, std::string_view why) {
    ++left_out_;
    if (things_.size() < max_left_out) things_.push_back(shown(text) + " (" + std::string(why) + ")");
    return std::nullopt;
  }

  const EndpointSurroundings& around_;
  std::string_view twin_;
  bool v6_;
  std::map<std::string, std::string, std::less<>> direct_;
  EndpointSlicePlan& plan_;
  std::size_t seen_ = 0, left_out_ = 0;
  std::vector<std::string> things_;
};

json::object forge_conditions(const json::value& endpoint, bool reachable) {
  const json::object& given = kube::object_at(endpoint, {"conditions"});
  json::object made;
  made["ready"] = kube::bool_at(given, {"ready"}, true) && reachable;
  // Proxies send traffic to terminating endpoints that serve if no other is ready, so these have to be reachable too.
  if (const json::value* serving = given.if_contains("serving"); serving && serving->is_bool())
    made["serving"] = serving->get_bool() && reachable;
  if (const json::value* terminating = given.if_contains("terminating"); terminating && terminating->is_bool())
    made["terminating"] = terminating->get_bool();
  return made;
}

/// The target of an endpoint. Its kind is RemotePod and never Pod, whatever the consumer says, because meshes look up
/// Pods.
json::object forge_target(const json::object& given) {
  json::object made{{"kind", "RemotePod"}};
  for (const std::string_view field : {"namespace", "name", "uid"})
    if (const json::value* value = given.if_contains(field); value && value->is_string()) made[field] = *value;
  return made;
}

/// Proxies use only the first address of an endpoint (https://issue.k8s.io/106267).
json::array forge_endpoints(const kube::Object& shadow, const EndpointSurroundings& around, Judge& judge) {
  json::array made;
  std::set<std::string> present;
  const json::array& given = kube::array_at(shadow.spec(), {"template", "endpoints"});
  for (const json::value& endpoint : given) {
    const auto before = static_cast<std::size_t>(&endpoint - given.data());
    const std::string_view bound = made.size() == max_endpoints ? "one slice has 100 at most"
                                   : made.size() == around.room ? "all slices of a consumer have 10000 at most"
                                   : before == max_seen         ? "of one slice 1000 are looked at"
                                                                : "";
    if (!bound.empty()) {
      judge.leave_out_rest(given.size() - before, bound);
      break;
    }
    const json::array& addresses = kube::array_at(endpoint, {"addresses"});
    const auto* text = addresses.empty() ? nullptr : addresses.front().if_string();
    const std::string_view node = kube::string_at(endpoint, {"nodeName"});
    const bool is_here = !around.provider.empty() && node == around.provider;
    const auto judged = text ? judge.judge(*text, is_here) : std::nullopt;
    // Two texts may be the same address.
    if (!judged || !present.insert(judged->address.text()).second) continue;
    // A pod in this cluster serves whether or not the consumer can be reached.
    json::object one{{"addresses", json::array{json::string(judged->address.text())}},
                     {"conditions", forge_conditions(endpoint, around.reachable || judged->is_in_twin)}};
    if (const std::string_view hostname = kube::string_at(endpoint, {"hostname"}); is_dns_label(hostname))
      one["hostname"] = hostname;
    // The consumer is no node of this cluster, so traffic that has to stay on a node never goes there.
    if (!node.empty() && !judged->is_in_twin) one["nodeName"] = around.consumer;
    if (const json::object& target = kube::object_at(endpoint, {"targetRef"}); !target.empty())
      one["targetRef"] = forge_target(target);
    made.push_back(std::move(one));
  }
  return made;
}

/// Why Kubernetes would refuse the ports, "" = it takes them. The sentence names the port, and nothing is written that
/// must fail.
std::string judge_ports(const kube::Object& shadow) {
  const json::array& given = kube::array_at(shadow.spec(), {"template", "ports"});
  if (given.size() > max_ports)
    return "ShadowEndpointSlice " + shadow.key().text() + " has more than " + std::to_string(max_ports) + " ports";
  std::set<std::string_view> names;
  for (const json::value& port : given) {
    if (!port.is_object()) return "one of the ports is no object";
    const auto given_as = [&port](std::string_view field) -> const json::value* {
      const json::value* value = port.get_object().if_contains(field);
      return value && !value->is_null() ? value : nullptr;
    };
    const json::value* name = given_as("name");
    const std::string_view called = kube::string_at(port, {"name"});
    if (name && (!name->is_string() || (!called.empty() && !is_dns_label(called))))
      return "the name of a port is no DNS label: " + kube::in_quotes(called, max_address_text);
    if (!names.insert(called).second) return "two ports have the name " + kube::in_quotes(called);
    const std::string_view protocol = kube::string_at(port, {"protocol"});
    if (given_as("protocol") && protocol != "TCP" && protocol != "UDP" && protocol != "SCTP")
      return "the protocol of a port is not TCP, UDP or SCTP: " + kube::in_quotes(protocol, max_address_text);
    const std::int64_t number = kube::int_at(port, {"port"});
    if (given_as("port") && (number < 1 || number > 65'535)) return "the number of a port is not in 1 to 65535";
  }
  return "";
}

/// The ports with the API server's defaults, so that stored ones compare equal.
json::array forge_ports(const kube::Object& shadow) {
  json::array made;
  for (const json::value& port : kube::array_at(shadow.spec(), {"template", "ports"})) {
    json::object one{{"name", kube::string_at(port, {"name"})}, {"protocol", "TCP"}};
    for (const std::string_view field : {"protocol", "port", "appProtocol"})
      if (const json::value* value = kube::find(port, {field}); value && !value->is_null()) one[field] = *value;
    made.push_back(std::move(one));
  }
  return made;
}

void forge_metadata(kube::Object& wanted, const kube::Object& shadow, const EndpointSurroundings& around,
                    const std::string& left_out) {
  for (const auto& [key, value] : shadow.labels())
    if (value.is_string() && (!is_reserved_label(key) || lists_key(around.policy.labels, key)))
      wanted.set_label(key, value.get_string());
  for (const auto& [key, value] : shadow.annotations())
    if (value.is_string() && key != api::annotations::direct_connections && key != api::annotations::last_applied &&
        key != api::annotations::left_out && (is_common_annotation(key) || lists_key(around.policy.annotations, key)))
      wanted.set_annotation(key, value.get_string());
  wanted.set_label(api::labels::managed_by, api::labels::managed_by_shadow_endpoint_slice);
  // The label keeps the EndpointSlice controller of Kubernetes away, whatever the consumer has set.
  wanted.set_label(api::labels::endpoint_slice_manager, api::labels::endpoint_slice_manager_liqo);
  if (!left_out.empty()) wanted.set_annotation(api::annotations::left_out, left_out);
  wanted.add_owner_reference(blocking_owner_of(shadow));
}

/// An absent list, null and an empty list are the same.
bool is_same(const kube::Object& live, const kube::Object& wanted, std::string_view field) {
  return kube::array_at(live.tree(), {field}) == kube::array_at(wanted.tree(), {field});
}

/// The digest among the annotations shows that this wish was applied, so no label is left to remove. The rest shows
/// that nobody has changed the slice since.
bool is_as_wanted(const kube::Object& live, const kube::Object& wanted) {
  return covers(live.labels(), wanted.labels()) && covers(live.annotations(), wanted.annotations()) &&
         is_same(live, wanted, "endpoints") && is_same(live, wanted, "ports");
}

}  // namespace

bool is_orphan(const kube::Object& slice) {
  return slice.label(api::labels::managed_by) == api::labels::managed_by_shadow_endpoint_slice && !slice.controller();
}

bool is_reachable(const kube::Object* foreign_cluster) {
  if (!foreign_cluster || foreign_cluster->is_deleting()) return false;
  const api::ForeignCluster peer(*foreign_cluster);
  // A condition that nobody writes reports no trouble.
  const auto is_well = [](std::string_view status) { return status.empty() || status == "Established"; };
  const bool has_network = kube::bool_at(foreign_cluster->status(), {"modules", "networking", "enabled"});
  return is_well(peer.condition("APIServerStatus")) &&
         (!has_network || is_well(peer.condition("NetworkConnectionStatus")));
}

EndpointSlicePlan plan_endpoint_slice(const kube::Object& shadow, const kube::Object* live,
                                      const EndpointSurroundings& around) {
  using namespace endpoint_slice_action;
  EndpointSlicePlan plan;
  const auto owner = live ? live->controller() : std::nullopt;
  const bool is_shadows = owner && owner->kind == api::kinds::shadow_endpoint_slices.kind;
  const bool is_ours = is_shadows && owner->uid == shadow.uid();
  if (live && live->is_deleting()) {
    plan.action = AwaitEnd{};
    return plan;
  }
  if (live && !around.consumer.empty() && is_orphan(*live)) {
    plan.action = Remove{std::string(live->uid())};
    return plan;
  }
  if (live && !is_ours) {
    // The garbage collector removes the slice of an earlier ShadowEndpointSlice.
    if (is_shadows)
      plan.action = AwaitEnd{};
    else
      plan.refusal = "an EndpointSlice of this name exists that was not made for this ShadowEndpointSlice";
    return plan;
  }
  const std::string_view type = kube::string_at(shadow.spec(), {"template", "addressType"});
  if (around.consumer.empty()) {
    plan.refusal = "namespace " + std::string(shadow.ns()) + " is no twin namespace of a consumer";
  } else if (shadow.label(api::labels::reflection_origin) != around.consumer) {
    plan.refusal = "the label " + std::string(api::labels::reflection_origin) + " is not " +
                   std::string(around.consumer) + ", whose namespace this is";
  } else if (type != "IPv4" && type != "IPv6") {
    plan.refusal = "endpoints of the address type " + kube::in_quotes(type, 20) +
                   " are not taken here, because only addresses can be judged (IPv4, IPv6)";
  } else {
    plan.refusal = judge_ports(shadow);
  }
  if (!plan.refusal.empty()) {
    if (live) plan.action = Remove{std::string(live->uid())};
    return plan;
  }

  kube::Object wanted = kube::Object::make(api::kinds::endpoint_slices, shadow.key());
  Judge judge(shadow, around, type == "IPv6", plan);
  wanted.tree()["addressType"] = type;
  wanted.tree()["endpoints"] = forge_endpoints(shadow, around, judge);
  wanted.tree()["ports"] = forge_ports(shadow);
  judge.conclude();
  plan.endpoints = wanted.tree()["endpoints"].as_array().size();
  plan.crowded = around.room < max_endpoints && plan.endpoints == around.room;
  forge_metadata(wanted, shadow, around, plan.left_out);
  wanted.set_annotation(api::annotations::reflected_digest, digest_hex(wanted.text()));
  if (live && kube::string_at(live->tree(), {"addressType"}) != type) {
    // `addressType` is immutable.
    plan.action = Remove{std::string(live->uid())};
    return plan;
  }
  if (live && is_as_wanted(*live, wanted)) return plan;
  if (live) wanted.mutable_metadata()["uid"] = live->uid();
  plan.action = Apply{std::move(wanted)};
  return plan;
}

}  // namespace liqo::core::reflection
