#include "controllers/common/scopes.hpp"

#include <doctest/doctest.h>

namespace liqo::controllers {

TEST_CASE("machines and virtual nodes are opposite selections of nodes, and pods are selected by maker or node") {
  CHECK(scope_of_machines().resource == kube::resources::nodes);
  CHECK(scope_of_machines().selection.label_selector == "liqo.io/type!=virtual-node");
  CHECK(scope_of_virtual_nodes().resource == kube::resources::nodes);
  CHECK(scope_of_virtual_nodes().selection.label_selector == "liqo.io/type=virtual-node");
  CHECK(scope_of_consumer_pods().resource == kube::resources::pods);
  CHECK(scope_of_consumer_pods().selection.label_selector == "liqo.io/managed-by=shadowpod");
  CHECK(scope_of_pods_on("milan").resource == kube::resources::pods);
  CHECK(scope_of_pods_on("milan").selection.field_selector == "spec.nodeName=milan");
}

TEST_CASE("what is asked for twice by name is the same scope, so that its informer is shared") {
  CHECK(scope_of_machines() == scope_of_machines());
  CHECK(scope_of_virtual_nodes() == scope_of_virtual_nodes());
  CHECK(scope_of_consumer_pods() == scope_of_consumer_pods());
  CHECK(scope_of_pods_on("milan") == scope_of_pods_on("milan"));
  CHECK(scope_of_pods_on("milan") != scope_of_pods_on("turin"));
}

}  // namespace liqo::controllers
