#include "model/volume/volumes.hpp"

namespace liqoctl::model {

std::string describe_remote_data(std::span<const liqo::core::storage::RemoteData> data, std::string_view way_out) {
  return "volumes hold data there, which would be lost: those of " + liqo::core::storage::in_words(data) +
         ". Save what is needed and delete the claims, or " + std::string(way_out);
}

}  // namespace liqoctl::model
