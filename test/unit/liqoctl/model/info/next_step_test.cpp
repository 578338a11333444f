// The next step in a cluster that has Liqo.
#include "model/info/next_step.hpp"

#include <doctest/doctest.h>

using namespace liqoctl;

namespace {

kube::Object peer(std::string_view role) {
  kube::Object made = kube::Object::make(kube::resources::nodes, {"", "milan"});
  made.mutable_spec()["clusterID"] = "milan";
  made.mutable_status()["role"] = role;
  return made;
}

}  // namespace

TEST_CASE("the next step is the one that is due, and nothing once namespaces are offloaded") {
  const kube::Object node = kube::Object::make(kube::resources::nodes, {"", "milan"});
  struct Case {
    const char* title;
    model::Progress progress;
    const char* told;
  };
  const Case cases[] = {
      {"a new cluster",
       {},
       "; next, to let another cluster run pods here: liqoctl generate peering-user, and to run pods in another one: "
       "liqoctl peer"},
      {"a provider that waits for its consumer",
       {.peers = {}, .virtual_nodes = {}, .peering_users = {"rome"}},
       "; next: rome peers with the kubeconfig of its peering user (there: liqoctl peer)"},
      {"a provider", {.peers = {peer("Consumer")}, .virtual_nodes = {}, .peering_users = {"rome"}}, ""},
      {"a peer of whose role nothing is known",
       {.peers = {peer("Unknown")}, .virtual_nodes = {}, .peering_users = {}},
       ""},
      {"a consumer without a slice",
       {.peers = {peer("Provider")}, .virtual_nodes = {}, .peering_users = {}},
       "; next: liqoctl create resourceslice NAME --remote-cluster-id milan"},
      {"a consumer of several providers",
       {.peers = {peer("Provider"), peer("Provider")}, .virtual_nodes = {}, .peering_users = {}},
       "; next: liqoctl create resourceslice NAME --remote-cluster-id ID"},
      {"a consumer",
       {.peers = {peer("Consumer"), peer("ConsumerAndProvider")}, .virtual_nodes = {node}, .peering_users = {}},
       "; next: liqoctl offload namespace NAME"},
      {"a consumer with offloaded namespaces",
       {.peers = {peer("Provider")}, .virtual_nodes = {node}, .peering_users = {}, .has_offloadings = true},
       ""},
  };
  for (const Case& one : cases) {
    CAPTURE(one.title);
    CHECK(model::next_step(one.progress) == one.told);
  }
}

TEST_CASE("after a peering a slice is asked for, then a namespace offloaded, and then nothing is due") {
  model::Progress progress{.peers = {}, .virtual_nodes = {}, .peering_users = {}, .has_offloadings = true};
  CHECK(model::step_after_peering("milan", progress) ==
        "; next: liqoctl create resourceslice NAME --remote-cluster-id milan");
  kube::Object slice = kube::Object::make(kube::resources::nodes, {"", "milan"});
  progress = {.peers = {}, .slices = {slice}, .virtual_nodes = {}, .peering_users = {}};
  CHECK(model::step_after_peering("milan", progress) == "; next: liqoctl offload namespace NAME");
  progress.has_offloadings = true;
  CHECK(model::step_after_peering("milan", progress).empty());
  // Pods would find no node.
  slice.set_annotation("liqo.io/create-virtual-node", "false");
  progress.slices = {slice};
  CHECK(model::step_after_peering("milan", progress) ==
        "; next: liqoctl create virtualnode NAME --remote-cluster-id milan");
  progress.virtual_nodes = {slice};
  CHECK(model::step_after_peering("milan", progress).empty());
}
