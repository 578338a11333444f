#include "controllers/reflection/home_endpoint_watch.hpp"

#include "controllers/common/known.hpp"
#include "controllers/common/scopes.hpp"
#include "controllers/reflection/header.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

constexpr std::string_view by_address = "address";

std::string address_key(std::string_view ns, const core::IpAddress& address) {
  return std::string(ns) + "/" + address.text();
}

void index_by_address(const kube::Object& ip, std::vector<std::string>& out) {
  if (const auto address = core::IpAddress::parse(kube::string_at(ip.spec(), {"ip"})))
    out.push_back(address_key(ip.ns(), *address));
}

/// Notes the value that an object has now, nothing if it is gone. Returns whether it had another value before.
bool note(std::map<kube::ObjectKey, std::string>& said, const kube::ObjectKey& key, std::optional<std::string> now) {
  const auto known = said.find(key);
  if (!now) return known != said.end() && said.erase(key) > 0;
  if (known == said.end()) return said.emplace(key, std::move(*now)).second;
  return std::exchange(known->second, *now) != *now;
}

}  // namespace

HomeEndpointWatch::HomeEndpointWatch(kube::InformerSet& home, const std::string& declared_ranges,
                                     std::function<bool(const std::string& ns)> concerns,
                                     std::function<void(const std::string& ns)> changed)
    : home_(home),
      declared_(core::parse_ranges(declared_ranges).value_or(std::vector<core::Cidr>())),
      concerns_(std::move(concerns)),
      changed_(std::move(changed)) {}

void HomeEndpointWatch::start() {
  if (nodes_) return;
  nodes_ = home_.acquire(scope_of_virtual_nodes());
  ips_ = home_.acquire({.resource = api::kinds::ips});
  services_ = home_.acquire(headers_of(kube::resources::services));
  ips_->add_index(std::string(by_address), index_by_address);
  nodes_.follow([this](const kube::Change& node) { take_node(node); });
  ips_.follow([this](const kube::Change& ip) { take_ip(ip); });
  services_.follow([this](const kube::Change& service) { take_service(service); });
}

void HomeEndpointWatch::take_node(const kube::Change& node) {
  const std::string cluster(node.now ? node.now->label(api::labels::remote_cluster_id) : "");
  if (cluster_of(node.key.name) == cluster) return;
  if (cluster.empty())
    clusters_.erase(node.key.name);
  else
    clusters_[node.key.name] = cluster;
  changed_("");
}

void HomeEndpointWatch::take_service(const kube::Change& service) {
  std::optional<std::string> says;
  if (service.now) {
    kube::json::object deciding = service.now->annotations();
    deciding.erase(api::annotations::remote_addresses);
    says = kube::json::serialize(deciding);
  }
  const std::string& ns = service.key.ns;
  if (note(said_, service.key, std::move(says)) && concerns_(ns)) changed_(ns);
}

void HomeEndpointWatch::take_ip(const kube::Change& ip) {
  std::optional<std::string> assigns;
  if (ip.now && !kube::string_at(ip.now->status(), {"ip"}).empty())
    assigns = std::string(kube::string_at(ip.now->spec(), {"ip"})) + " " +
              std::string(kube::string_at(ip.now->status(), {"ip"}));
  const bool is_other = note(assigned_, ip.key, std::move(assigns));
  if (is_other && concerns_(ip.key.ns) && addresses_ && addresses_->has_network()) changed_(ip.key.ns);
}

void HomeEndpointWatch::set_network(std::span<const kube::Object> configurations) {
  auto now = core::reflection::OutwardAddresses::of(configurations, declared_);
  if (addresses_ == now) return;
  addresses_ = std::move(now);
  changed_("");
}

void HomeEndpointWatch::set_shown(const core::PeerAddresses& shown) {
  if (shown_ == shown) return;
  shown_ = shown;
  changed_("");
}

bool HomeEndpointWatch::is_known() const {
  return addresses_ && nodes_ && nodes_->has_synced() && services_->has_synced() && is_known_or_forbidden(*ips_);
}

std::string HomeEndpointWatch::cluster_of(std::string_view node) const {
  const auto known = clusters_.find(node);
  return known == clusters_.end() ? "" : known->second;
}

std::optional<core::IpAddress> HomeEndpointWatch::outward(std::string_view ns, const core::IpAddress& address) const {
  std::optional<std::string> assigned;
  for (const kube::Object& ip : ips_->objects(by_address, address_key(ns, address)))
    if (!assigned || assigned->empty()) assigned = kube::string_at(ip.status(), {"ip"});
  return addresses_->outward(address, assigned);
}

std::optional<kube::Object> HomeEndpointWatch::service(std::string_view ns, std::string_view name) const {
  return services_->find({std::string(ns), std::string(name)});
}

}  // namespace liqo::controllers
