// The uses of Liqo that prevent its removal.
#include "model/install/uses.hpp"

#include <doctest/doctest.h>

using namespace liqoctl;
namespace json = kube::json;

namespace {

kube::Object parsed(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

}  // namespace

TEST_CASE("all that is in the way is named at once, by who ends it") {
  CHECK(model::describe_uses({}).empty());
  model::Uses uses;
  uses.offloadings = {parsed(R"({"metadata": {"name": "offloading", "namespace": "demo"}})"),
                      parsed(R"({"metadata": {"name": "offloading", "namespace": "shop"}})")};
  uses.slices = {parsed(R"({"metadata": {"name": "pool", "namespace": "liqo-tenant-milan",
                     "labels": {"liqo.io/remote-cluster-id": "milan"}}, "spec": {"providerClusterID": "milan"}})"),
                 parsed(R"({"metadata": {"name": "batch", "namespace": "liqo-tenant-turin",
                     "labels": {"liqo.io/replicated": "true", "liqo.io/originID": "turin"}},
                     "spec": {"consumerClusterID": "turin"}})")};
  uses.virtual_nodes = {
      parsed(R"({"metadata": {"name": "pool", "namespace": "liqo-tenant-milan"}, "spec": {"clusterID": "milan"}})")};
  uses.tenants = {
      parsed(R"({"metadata": {"name": "turin", "namespace": "liqo-tenant-turin"}, "spec": {"clusterID": "turin"}})")};
  uses.peers = {parsed(R"({"metadata": {"name": "milan"}, "spec": {"clusterID": "milan"}})"),
                parsed(R"({"metadata": {"name": "pisa"}, "spec": {"clusterID": "pisa"}})")};
  CHECK(model::describe_uses(uses) ==
        "Liqo is in use: NamespaceOffloading demo/offloading, shop/offloading (here: liqoctl unoffload namespace demo "
        "shop); as consumer of milan: ResourceSlice liqo-tenant-milan/pool, VirtualNode liqo-tenant-milan/pool (here: "
        "liqoctl unpeer, with --remote-kubeconfig of milan, or without it: liqoctl force unpeer milan); "
        "ForeignCluster pisa (here: liqoctl force unpeer pisa); as provider of turin: ResourceSlice "
        "liqo-tenant-turin/batch, Tenant liqo-tenant-turin/turin (the administrator of turin: liqoctl unpeer; if that "
        "cluster will not come back, here: liqoctl force unpeer turin)");
}
