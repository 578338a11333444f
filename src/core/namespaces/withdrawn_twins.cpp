#include "core/namespaces/withdrawn_twins.hpp"

#include <algorithm>
#include <ranges>
#include <set>

#include "core/common/names.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kept_twins.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace annotations = api::annotations;
namespace {

constexpr std::size_t max_named = 3, max_refusal = 200;
/// Kubernetes stores 256 KiB of annotations at most, all of them together: 2,000 of the longest names have room.
constexpr std::size_t max_held_names = 128 << 10;

bool has(const WantedTwins& twins, std::string_view local, std::string_view remote) {
  const auto found = twins.find(local);
  return found != twins.end() && found->second == remote;
}

}  // namespace

std::vector<WithdrawnTwin> withdrawn_twins(const kube::Object* local, const kube::Object& replica,
                                           const WantedTwins& asked, const ReplicationPeer& peer) {
  const WantedTwins here = local ? asked_by(*local) : WantedTwins();
  const bool is_followed = local && !local->is_deleting() && is_for_peer(*local, peer);
  std::set<std::string, std::less<>> given_up;
  if (local)
    for (std::string& name : twins_in(*local, annotations::gives_up)) given_up.insert(std::move(name));
  std::vector<WithdrawnTwin> withdrawn;
  for (auto& [name, twin] : asked_by(replica)) {
    if (is_followed && has(here, name, twin)) continue;
    // A text that is no name of a namespace is no twin, whatever the provider has written into the replica.
    if (!is_dns_label(name) || !is_dns_label(twin)) continue;
    if (kube::string_at(replica.status(), {"currentMapping", name, "phase"}) == "Terminating") continue;
    withdrawn.push_back({.local = name,
                         .remote = twin,
                         .is_known = has(here, name, twin) || has(asked, name, twin),
                         .is_given_up = given_up.contains(name)});
  }
  return withdrawn;
}

void AskedTwins::see(const kube::Object* map) {
  if (!map || map->uid() != uid_ || map->generation() < generation_) twins_.clear();
  uid_ = map ? std::string(map->uid()) : std::string();
  generation_ = map ? map->generation() : 0;
  if (!map) return;
  for (auto& [local, remote] : asked_by(*map)) twins_.insert_or_assign(local, remote);
}

void AskedTwins::prune(const kube::Object* map, const kube::Object& replica) {
  const WantedTwins here = map ? asked_by(*map) : WantedTwins(), there = asked_by(replica);
  std::erase_if(twins_, [&](const auto& twin) {
    return !has(here, twin.first, twin.second) && !has(there, twin.first, twin.second);
  });
}

std::string why_kept(const WithdrawnTwin& twin, std::string_view cluster, const kube::Result<StrayClaims>& strays) {
  if (twin.is_given_up) return "";
  if (strays ? strays->empty() : twin.is_known) return "";
  const std::string begin =
      "the remote namespace " + twin.remote + " in cluster " + std::string(cluster) + " stays, because " +
      (strays ? "it holds data of claims that this cluster does not know: " + kube::join_some(*strays, max_named)
              : "this cluster does not know it, and may not look whether it holds data (" +
                    kube::one_line(strays.error().text(), max_refusal) + ")");
  return begin + "; offload namespace " + twin.local +
         " there again to use it, or delete it with all its data by liqoctl unoffload namespace " + twin.local +
         " --delete-volumes";
}

std::vector<std::string> twins_in(const kube::Object& map, std::string_view annotation) {
  std::vector<std::string> names;
  for (const std::string_view name : kube::split(map.annotation(annotation), ','))
    if (const std::string_view bare = kube::trim(name); !bare.empty()) names.emplace_back(bare);
  return names;
}

std::string held_names(std::span<const KeptTwin> kept, const kube::Object* map) {
  std::set<std::string, std::less<>> before;
  if (map)
    for (std::string& name : twins_in(*map, annotations::holds_data)) before.insert(std::move(name));
  std::string names;
  for (const KeptTwin& twin : kept) {
    if (twin.why.empty() && !before.contains(twin.local)) continue;
    if (names.size() + 1 + twin.local.size() > max_held_names) break;
    if (!names.empty()) names += ',';
    names += twin.local;
  }
  return names;
}

std::optional<json::object> plan_kept_marks(const kube::Object& map, std::span<const KeptTwin> kept,
                                            std::span<const WithdrawnTwin> withdrawn) {
  json::object marks;
  const auto set = [&](std::string_view annotation, const std::string& wanted) {
    if (map.annotation(annotation) == wanted) return;
    marks[annotation] = wanted.empty() ? json::value() : json::value(json::string(wanted));
  };
  set(annotations::holds_data, held_names(kept, &map));
  std::vector<std::string> given_up = twins_in(map, annotations::gives_up);
  std::erase_if(given_up, [&](const std::string& name) {
    return std::ranges::find(withdrawn, name, &WithdrawnTwin::local) == withdrawn.end();
  });
  set(annotations::gives_up, kube::join(given_up, ","));
  if (marks.empty()) return std::nullopt;
  return json::object{
      {"metadata", json::object{{"resourceVersion", map.resource_version()}, {"annotations", std::move(marks)}}}};
}

}  // namespace liqo::core
