// The sentence about volumes that have their data in other clusters.
#include "model/volume/volumes.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace liqoctl;

TEST_CASE("the claims are named, and the ways out") {
  const std::vector<liqo::core::storage::RemoteData> found{{.cluster = "milan",
                                                            .twin = "shop-rome",
                                                            .claim = {"shop", "a"},
                                                            .claim_uid = "c1",
                                                            .volume = "pvc-c1",
                                                            .has_claim = true,
                                                            .outlasts = false}};
  CHECK(
      model::describe_remote_data(found, "give --delete-volumes") ==
      "volumes hold data there, which would be lost: those of the PersistentVolumeClaim shop/a in milan. Save what is "
      "needed and delete the claims, or give --delete-volumes");
}

}  // namespace
