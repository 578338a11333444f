// The history of one name, for people who look into a failing seed.
#include <algorithm>

#include "invariants.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::sim {

namespace {

std::string describe(const kube::testing::FakeChange& change, const std::string& cluster) {
  constexpr const char* types[] = {"added", "modified", "deleted"};
  const json::object& object = *change.after;
  std::string text = time_text(change.at) + " " + cluster + " " + change.kind->kind + " " + change.key.text() + " " +
                     types[static_cast<int>(change.type)] + " by " + change.actor +
                     " uid=" + std::string(uid_of(object).substr(0, 8)) + " version=" + std::to_string(change.version);
  if (const auto uid = local_uid_of(object); !uid.empty()) text.append(" for=").append(uid.substr(0, 8));
  if (const auto node = kube::string_at(object, {"spec", "nodeName"}); !node.empty())
    text.append(" node=").append(node);
  if (const auto phase = phase_of(object); !phase.empty()) text.append(" ").append(phase);
  if (is_deleting(object)) text += " deleting";
  for (const json::value& status : kube::array_at(object, {"status", "containerStatuses"}))
    for (const auto& [state, detail] : kube::object_at(status, {"state"})) text.append(" ").append(state);
  return text;
}

}  // namespace

std::vector<std::string> trace(World& world, std::string_view name) {
  std::vector<std::pair<kube::TimePoint, std::string>> lines;
  const auto take = [&](Cluster& cluster) {
    for (const kube::Resource& kind :
         {kube::resources::pods, api::kinds::shadow_pods, kube::resources::secrets, kube::resources::nodes,
          api::kinds::virtual_nodes, api::kinds::resource_slices, api::kinds::renews, api::kinds::namespace_maps})
      for (const kube::testing::FakeChange& change : cluster.server.store().table(kind).log)
        if (change.key.name.starts_with(name)) lines.emplace_back(change.at, describe(change, cluster.id));
  };
  take(world.home);
  for (auto& [id, provider] : world.providers) take(*provider);
  std::ranges::sort(lines);
  std::vector<std::string> texts;
  for (auto& [at, text] : lines) texts.push_back(std::move(text));
  return texts;
}

}  // namespace liqo::sim
