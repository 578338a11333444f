#include "controllers/offloading/topology_notes.hpp"

#include "controllers/common/scopes.hpp"
#include "core/offloading/left_out.hpp"
#include "core/offloading/placement_wishes.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

constexpr kube::Duration patience = 10s;

}  // namespace

bool TopologyNotes::note(kube::Object& pod) {
  const std::vector<std::string> wished = core::wished_topology_keys(pod.spec());
  if (wished.empty()) return true;
  if (!nodes_) {
    since_ = context_.clock.now();
    nodes_ = context_.home.acquire(scope_of_machines());
    nodes_.follow([this](const kube::Change& node) { keys_.set_node(node.key.name, node.now); }, [] {});
  }
  if (!nodes_->has_synced()) return context_.clock.now() - since_ >= patience;
  if (const std::string missing = core::forge_left_out(keys_.missing(wished)); !missing.empty())
    pod.set_annotation(api::annotations::missing_topology_keys, missing);
  return true;
}

}  // namespace liqo::controllers
