// The content of `liqoctl info peer`: from the objects about a peer to a document, and from that to text.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "model/tenant/closings.hpp"
#include "text/palette.hpp"

namespace liqoctl::model {

/// The objects about one peer in the cluster that is asked.
struct PeerObjects {
  kube::Object foreign_cluster;
  std::vector<kube::Object> slices;         ///< both directions
  std::vector<kube::Object> virtual_nodes;  ///< towards the peer
  std::vector<kube::Object> nodes;          ///< of those VirtualNodes
  std::vector<kube::Object> quotas;         ///< of the peer, if this cluster provides
  std::vector<kube::Object> tenants;        ///< of the peer, if this cluster provides; after add_policies()
};

/// The objects about one peer, among those about all. Its quotas and tenants are not taken over.
PeerObjects objects_of(const kube::Object& foreign_cluster, const ClosingObjects& all);

/// The document that `-o json` shows and `--get` picks from: info, network, authentication, offloading.
kube::json::object peer_info(const PeerObjects& objects);

/// The document, or a part of it that `--get` picked, as text: sections if that part is one, a bare scalar, or YAML.
/// `path` is where the part was picked from, "" = the whole.
std::string render_peer(const kube::json::value& part, std::string_view path, const text::Palette& palette);

/// Whether a condition of a ForeignCluster is as it should be, by its status.
bool is_well(std::string_view status);

/// "Healthy", "Unhealthy" or "Disabled": a module of a ForeignCluster by its conditions; "Pending" while it has none.
std::string module_status(const kube::Object& foreign_cluster, std::string_view module);

/// The result of module_status(), in its colour.
std::string health_in_words(std::string_view status, const text::Palette& palette);

/// Since when the API server of a ForeignCluster has not responded, by its condition; "" if it responds.
std::string server_alert(const kube::Object& foreign_cluster);

/// The condition of a ForeignCluster about a provider that responds but does not act; "" = it has none.
std::string silence_alert(const kube::Object& foreign_cluster);

/// The condition of a ForeignCluster about the clock of its API server, if that is off; "" otherwise.
std::string clock_alert(const kube::Object& foreign_cluster);

}  // namespace liqoctl::model
