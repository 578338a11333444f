#include "model/selectors.hpp"

#include "liqo/api/labels.hpp"

namespace liqoctl::model {

namespace labels = liqo::api::labels;

std::string about(std::string_view peer) { return std::string(labels::remote_cluster_id) + "=" + std::string(peer); }

std::string towards(std::string_view provider) {
  return std::string(labels::replication) + "=true," + std::string(labels::replication_destination) + "=" +
         std::string(provider);
}

std::string peering_user_name(std::string_view consumer) {
  return std::string(liqo::api::peering_user_prefix) + std::string(consumer);
}

std::string of_peering_user(std::string_view consumer) {
  return std::string(peering_user_label) + "=" + peering_user_name(consumer);
}

}  // namespace liqoctl::model
