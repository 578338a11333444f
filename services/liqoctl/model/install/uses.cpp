#include "model/install/uses.hpp"

#include <map>
#include <utility>

#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqoctl::model {
namespace {

constexpr std::size_t max_named = 5;

/// Names of objects by their kinds, in the order in which they were added.
class Names {
 public:
  void add(std::string_view kind, const kube::Object& object) {
    if (kinds_.empty() || kinds_.back().first != kind) kinds_.emplace_back(kind, std::vector<std::string>());
    kinds_.back().second.push_back(kube::printable(object.key().text()));
  }
  bool empty() const { return kinds_.empty(); }
  std::string text() const {
    std::vector<std::string> parts;
    parts.reserve(kinds_.size());
    for (const auto& [kind, names] : kinds_) parts.push_back(kind + " " + kube::join_some(names, max_named));
    return kube::join(parts, ", ");
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds_;
};

struct OfPeer {
  Names consumed, provided, rest;
};

std::string spec_of(const kube::Object& object, std::string_view field) {
  return std::string(kube::string_at(object.spec(), {field}));
}

std::map<std::string, OfPeer> by_peer(const Uses& uses) {
  std::map<std::string, OfPeer> peers;
  for (const kube::Object& object : uses.slices) {
    const liqo::api::ResourceSlice slice(object);
    if (slice.is_replica())
      peers[std::string(slice.consumer())].provided.add("ResourceSlice", object);
    else
      peers[std::string(slice.provider())].consumed.add("ResourceSlice", object);
  }
  for (const kube::Object& one : uses.virtual_nodes) peers[spec_of(one, "clusterID")].consumed.add("VirtualNode", one);
  for (const kube::Object& one : uses.tenants) peers[spec_of(one, "clusterID")].provided.add("Tenant", one);
  for (const kube::Object& one : uses.identities) peers[spec_of(one, "clusterID")].consumed.add("Identity", one);
  for (const kube::Object& one : uses.peers) peers[spec_of(one, "clusterID")].rest.add("ForeignCluster", one);
  return peers;
}

}  // namespace

std::string describe_uses(const Uses& uses) {
  std::vector<std::string> parts;
  if (!uses.offloadings.empty()) {
    Names names;
    std::vector<std::string> namespaces;
    for (const kube::Object& one : uses.offloadings) {
      names.add("NamespaceOffloading", one);
      namespaces.push_back(kube::printable(one.ns()));
    }
    parts.push_back(names.text() + " (here: liqoctl unoffload namespace " +
                    (namespaces.size() <= max_named ? kube::join(namespaces, " ") : "NAME") + ")");
  }
  for (const auto& [id, found] : by_peer(uses)) {
    const std::string peer = id.empty() ? "a cluster without an ID" : kube::printable(id);
    const std::string alone = "liqoctl force unpeer " + peer;
    if (!found.consumed.empty())
      parts.push_back("as consumer of " + peer + ": " + found.consumed.text() +
                      " (here: liqoctl unpeer, with --remote-kubeconfig of " + peer + ", or without it: " + alone +
                      ")");
    if (!found.provided.empty())
      parts.push_back("as provider of " + peer + ": " + found.provided.text() + " (the administrator of " + peer +
                      ": liqoctl unpeer; if that cluster will not come back, here: " + alone + ")");
    if (found.consumed.empty() && found.provided.empty()) parts.push_back(found.rest.text() + " (here: " + alone + ")");
  }
  return parts.empty() ? "" : "Liqo is in use: " + kube::join(parts, "; ");
}

}  // namespace liqoctl::model
