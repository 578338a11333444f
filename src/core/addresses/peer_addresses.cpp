#include "core/addresses/peer_addresses.hpp"

#include <algorithm>

#include "core/addresses/declared_ranges.hpp"
#include "core/addresses/network_configuration.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/foreign_cluster.hpp"

namespace liqo::core {

PeerAddresses PeerAddresses::of(const kube::Object& foreign_cluster, std::span<const kube::Object> configurations,
                                std::span<const kube::Object> ips) {
  const api::ForeignCluster peer(foreign_cluster);
  const std::string cluster(peer.cluster_id());
  const std::string key(api::annotations::remote_pod_cidrs);
  const std::string remedy = "declare its ranges: kubectl annotate foreigncluster " +
                             std::string(foreign_cluster.name()) + " --overwrite " + key + "=<10.2.0.0/16,... or none>";
  PeerAddresses made;
  for (const kube::Object& ip : ips) {
    const auto original = IpAddress::parse(kube::string_at(ip.spec(), {"ip"}));
    if (original) made.assigned_.emplace(original->text(), kube::string_at(ip.status(), {"ip"}));
  }
  auto mapping = read_network_mapping(configurations);
  if (mapping) made.mapping_ = std::move(*mapping);
  const bool is_mapped = !made.mapping_.empty();

  auto declared = read_declared_ranges(foreign_cluster);
  if (!declared) {
    made.basis_ = Basis::invalid;
    made.words_ =
        "pods at " + cluster + " show no addresses here: in " + key + ", " + declared.error().text() + "; " + remedy;
  } else if (*declared && (*declared)->empty()) {
    made.basis_ = Basis::none;
    made.words_ = "pods at " + cluster + " show no addresses here, as declared by " + key;
  } else if (*declared) {
    made.basis_ = Basis::declared;
    made.words_ = "pods at " + cluster + " show their addresses in " + in_words(**declared) +
                  (is_mapped ? ", and those that the network Configuration maps" : "");
    made.ranges_ = std::move(**declared);
  } else if (is_mapped) {
    made.basis_ = Basis::mapped;
    made.words_ = "pods at " + cluster + " show their addresses as the network Configuration maps them";
  } else if (peer.is_older_than_declarations()) {
    made.basis_ = Basis::unchecked;
    made.words_ = "every address that " + cluster +
                  " reports of a pod is believed here, because the peering is older than declarations; " + remedy;
  } else if (!configurations.empty()) {
    made.basis_ = Basis::invalid;
    made.words_ = "pods at " + cluster + " show no addresses here: " +
                  (mapping ? "the network Configuration names no ranges" : mapping.error().text()) +
                  "; wait for the network module, or " + remedy;
  } else {
    made.words_ = "pods at " + cluster + " show no addresses here" +
                  (made.assigned_.empty() ? "" : " but those that IP objects assign") +
                  ", because nobody has declared which they may have; " + remedy;
  }
  return made;
}

std::optional<IpAddress> PeerAddresses::shown(std::string_view address) const {
  const auto parsed = IpAddress::parse(address);
  if (!parsed || basis_ == Basis::none || basis_ == Basis::invalid) return std::nullopt;
  auto found = find(*parsed);
  if (found && found->is_special()) return std::nullopt;
  return found;
}

std::optional<IpAddress> PeerAddresses::original_of(const IpAddress& shown) const {
  if (basis_ == Basis::none || basis_ == Basis::invalid || shown.is_special()) return std::nullopt;
  for (const auto& [original, assigned] : assigned_)
    if (IpAddress::parse(assigned) == shown) return IpAddress::parse(original);
  auto original = mapping_.original_of(shown);
  if (!original && std::ranges::any_of(ranges_, [&shown](const Cidr& range) { return range.contains(shown); }))
    original = shown;
  // What is shown in another way is not shown as this address.
  if (original && find(*original) != shown) return std::nullopt;
  return original;
}

std::optional<IpAddress> PeerAddresses::find(const IpAddress& address) const {
  if (const auto assigned = assigned_.find(address.text()); assigned != assigned_.end())
    return IpAddress::parse(assigned->second);
  if (const auto mapped = mapping_.find(address)) return mapped;
  const auto holds = [&address](const Cidr& range) { return range.contains(address); };
  if (basis_ == Basis::unchecked || std::ranges::any_of(ranges_, holds)) return address;
  return std::nullopt;
}

}  // namespace liqo::core
