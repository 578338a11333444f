#include "model/selectors.hpp"

#include "kube/k8s/request.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"

namespace liqoctl::model {

namespace labels = liqo::api::labels;

std::string about(std::string_view peer) { return kube::label_is(labels::remote_cluster_id, peer); }

std::string towards(std::string_view provider) {
  return kube::label_is(labels::replication) + "," + kube::label_is(labels::replication_destination, provider);
}

std::string control_plane_secrets() { return kube::label_is(labels::identity_type, liqo::api::control_plane_identity); }

std::string peering_user_name(std::string_view consumer) {
  return std::string(liqo::api::peering_user_prefix) + std::string(consumer);
}

std::string of_peering_user(std::string_view consumer) {
  return kube::label_is(peering_user_label, peering_user_name(consumer));
}

}  // namespace liqoctl::model
