#include "core/addresses/own_addresses.hpp"

#include <algorithm>

#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace {

void add_address(HeldAddresses& into, std::string_view text) {
  if (const auto address = IpAddress::parse(text)) into.addresses.push_back(*address);
}

void add_texts(HeldAddresses& into, const kube::json::array& texts) {
  for (const std::string& text : kube::strings_in(texts)) add_address(into, text);
}

void add_ranges(HeldAddresses& into, const kube::json::array& texts) {
  for (const std::string& text : kube::strings_in(texts))
    if (const auto range = Cidr::parse(text)) into.ranges.push_back(*range);
}

}  // namespace

HeldAddresses HeldAddresses::of_pod(const kube::Object* pod) {
  HeldAddresses held;
  if (!pod) return held;
  // A finished Pod has given its address back, and another pod may have it by now.
  if (api::is_final_phase(api::phase_of(*pod))) return held;
  add_address(held, kube::string_at(pod->status(), {"podIP"}));
  for (const kube::json::value& entry : kube::array_at(pod->status(), {"podIPs"}))
    add_address(held, kube::string_at(entry, {"ip"}));
  const std::string_view own = kube::string_at(pod->status(), {"podIP"});
  // The address of a pod in the network of its node is that of the node.
  if (pod->label(api::labels::managed_by) == api::labels::managed_by_shadow_pod && api::phase_of(*pod) == "Running" &&
      !own.empty() && own != kube::string_at(pod->status(), {"hostIP"}))
    held.twin = pod->ns();
  return held;
}

HeldAddresses HeldAddresses::of_service(const kube::Object* service) {
  HeldAddresses held;
  if (!service) return held;
  add_address(held, kube::string_at(service->spec(), {"clusterIP"}));
  add_texts(held, kube::array_at(service->spec(), {"clusterIPs"}));
  add_texts(held, kube::array_at(service->spec(), {"externalIPs"}));
  for (const kube::json::value& entry : kube::array_at(service->status(), {"loadBalancer", "ingress"}))
    add_address(held, kube::string_at(entry, {"ip"}));
  return held;
}

HeldAddresses HeldAddresses::of_node(const kube::Object* node) {
  HeldAddresses held;
  if (!node) return held;
  for (const kube::json::value& entry : kube::array_at(node->status(), {"addresses"}))
    add_address(held, kube::string_at(entry, {"address"}));
  add_ranges(held, kube::array_at(node->spec(), {"podCIDRs"}));
  if (const auto one = Cidr::parse(kube::string_at(node->spec(), {"podCIDR"}))) held.ranges.push_back(*one);
  return held;
}

HeldAddresses HeldAddresses::of_service_cidr(const kube::Object* cidr) {
  HeldAddresses held;
  if (cidr) add_ranges(held, kube::array_at(cidr->spec(), {"cidrs"}));
  return held;
}

OwnAddresses::Change OwnAddresses::set(std::string_view kind, const kube::ObjectKey& key, HeldAddresses now) {
  Change change;
  const std::pair place(std::string(kind), key);
  const auto known = held_.find(place);
  const HeldAddresses before = known == held_.end() ? HeldAddresses() : known->second;
  if (before == now) return change;
  struct Was {
    bool held;
    std::string twin;
  };
  std::map<Number, Was> had;
  const auto remember = [&](const IpAddress& address) {
    had.try_emplace(number(address), addresses_.contains(number(address)), std::string(twin_of(address)));
  };
  std::ranges::for_each(before.addresses, remember);
  std::ranges::for_each(now.addresses, remember);
  hold(now);
  release(before);
  for (const auto& [bytes, was] : had) {
    const IpAddress address{.bytes = bytes.second, .v6 = bytes.first};
    const std::string twin(twin_of(address));
    if (addresses_.contains(bytes) == was.held && twin == was.twin) continue;
    change.addresses.push_back(address);
    if (twin == was.twin) continue;
    for (const std::string& concerned : {twin, was.twin})
      if (!concerned.empty()) change.twins.insert(concerned);
  }
  change.any = before.ranges != now.ranges;
  if (now == HeldAddresses())
    held_.erase(place);
  else
    held_[place] = std::move(now);
  if (change.any) merge();
  return change;
}

void OwnAddresses::hold(const HeldAddresses& held) {
  for (const IpAddress& address : held.addresses) {
    ++addresses_[number(address)];
    if (!held.twin.empty()) ++twins_[number(address)][held.twin];
  }
}

void OwnAddresses::release(const HeldAddresses& held) {
  for (const IpAddress& address : held.addresses) {
    if (const auto at = addresses_.find(number(address)); --at->second == 0) addresses_.erase(at);
    if (held.twin.empty()) continue;
    const auto of_twins = twins_.find(number(address));
    if (const auto at = of_twins->second.find(held.twin); --at->second == 0) of_twins->second.erase(at);
    if (of_twins->second.empty()) twins_.erase(of_twins);
  }
}

void OwnAddresses::merge() {
  std::vector<Cidr> all = declared_;
  for (const auto& [place, held] : held_) all.insert(all.end(), held.ranges.begin(), held.ranges.end());
  ranges_ = merge_ranges(std::move(all));
}

bool OwnAddresses::contain(const IpAddress& address) const {
  if (addresses_.contains(number(address))) return true;
  // The ranges do not overlap, so only the last one that begins at or before the address can contain it.
  const auto behind =
      std::ranges::upper_bound(ranges_, number(address), {}, [](const Cidr& range) { return number(range.base); });
  return behind != ranges_.begin() && std::prev(behind)->contains(address);
}

std::string_view OwnAddresses::twin_of(const IpAddress& address) const {
  const auto of_twins = twins_.find(number(address));
  if (of_twins == twins_.end() || of_twins->second.size() != 1) return "";
  const auto& [twin, pods] = *of_twins->second.begin();
  // A Service, a node, or a pod of somebody else may hold it, too.
  return addresses_.at(number(address)) == pods ? std::string_view(twin) : "";
}

}  // namespace liqo::core
