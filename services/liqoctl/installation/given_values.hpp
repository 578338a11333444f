// The values that the installation of a cluster was given.
// Tested by test/unit/liqoctl/commands/values_test.cpp.
#pragma once

#include "session/cluster.hpp"

namespace liqoctl {

struct GivenValues {
  kube::json::object values;
  bool is_recorded =
      false;  ///< otherwise they are read off the Deployment and the ConfigMap, as far as these show them
};
asio::awaitable<Result<GivenValues>> read_given_values(Cluster& cluster);

}  // namespace liqoctl
