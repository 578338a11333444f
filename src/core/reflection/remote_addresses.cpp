#include "core/reflection/remote_addresses.hpp"

#include <algorithm>
#include <set>

#include "core/common/ip.hpp"
#include "core/common/names.hpp"
#include "kube/base/text.hpp"

namespace liqo::core::reflection {
namespace json = kube::json;
namespace {

/// The provider decides how many there are: more are not looked at.
constexpr std::size_t max_seen = 1'000;
/// The nesting of the JSON in the annotation.
constexpr std::size_t depth = 3;

/// The address in one spelling; "" if it is none.
std::string cleaned(std::string_view text) {
  if (const auto address = IpAddress::parse(text)) return address->text();
  std::string name = kube::lower_case(text);
  return is_dns_subdomain(name) ? name : "";
}

json::array as_list(const std::vector<std::string>& addresses) {
  json::array list;
  for (const std::string& address : addresses) list.emplace_back(address);
  return list;
}

}  // namespace

std::vector<std::string> addresses_given(const kube::Object& copy) {
  // An element of a list does not say of which kind it is. No Ingress has a type.
  if (const std::string_view type = kube::string_at(copy.spec(), {"type"}); !type.empty() && type != "LoadBalancer")
    return {};
  // Controllers list them in no order that lasts.
  std::set<std::string> found;
  std::size_t seen = 0;
  for (const json::value& entry : kube::array_at(copy.status(), {"loadBalancer", "ingress"})) {
    if (++seen > max_seen) break;
    for (const std::string_view field : {"ip", "hostname"})
      if (std::string address = cleaned(kube::string_at(entry, {field})); !address.empty())
        found.insert(std::move(address));
  }
  std::vector<std::string> out(found.begin(), found.end());
  if (out.size() > max_remote_addresses) out.resize(max_remote_addresses);
  return out;
}

RemoteAddresses RemoteAddresses::read(std::string_view text) {
  RemoteAddresses made;
  if (text.empty() || text.size() > max_remote_addresses_bytes) return made;
  const auto document = kube::parse_json(text, depth);
  const json::object* clusters = document ? document->if_object() : nullptr;
  if (!clusters) return made;
  for (const auto& [cluster, list] : *clusters) {
    if (!is_dns_label(cluster) || !list.is_array()) continue;
    std::vector<std::string> addresses;
    for (const json::value& entry : list.get_array())
      if (const auto* address = entry.if_string())
        if (std::string clean = cleaned(*address); !clean.empty()) addresses.push_back(std::move(clean));
    made.set(cluster, addresses);
  }
  return made;
}

const std::vector<std::string>& RemoteAddresses::of(std::string_view cluster) const {
  static const std::vector<std::string> none;
  const auto found = entries_.find(cluster);
  return found == entries_.end() ? none : found->second;
}

void RemoteAddresses::set(std::string_view cluster, const std::vector<std::string>& addresses) {
  if (const auto known = entries_.find(cluster); known != entries_.end()) entries_.erase(known);
  std::vector<std::string> kept;
  for (const std::string& address : addresses) {
    if (kept.size() == max_remote_addresses) break;
    kept.push_back(address);
    entries_.insert_or_assign(std::string(cluster), kept);
    if (json::serialize(as_list(kept)).size() <= max_remote_entry_bytes && text().size() <= max_remote_addresses_bytes)
      continue;
    kept.pop_back();
    break;
  }
  if (kept.empty())
    entries_.erase(std::string(cluster));
  else
    entries_.insert_or_assign(std::string(cluster), std::move(kept));
}

std::string RemoteAddresses::text() const {
  if (entries_.empty()) return "";
  json::object all;
  for (const auto& [cluster, addresses] : entries_) all[cluster] = as_list(addresses);
  return json::serialize(all);
}

}  // namespace liqo::core::reflection
