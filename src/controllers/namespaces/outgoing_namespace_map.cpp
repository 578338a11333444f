#include "controllers/namespaces/outgoing_namespace_map.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <set>
#include <string>
#include <tuple>

#include "controllers/common/key_of_many.hpp"
#include "controllers/common/node_context.hpp"
#include "controllers/common/scopes.hpp"
#include "core/common/names.hpp"
#include "core/namespaces/selecting_spec.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/kept_twins.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace labels = api::labels;
using namespace std::chrono_literals;

constexpr std::string_view by_cluster = "outgoing-map-cluster", nodes_of_cluster = "cluster";
/// The number of volumes in one twin that get an Event.
constexpr std::size_t max_reported = 8;
/// How many changed NamespaceOffloadings, for which one key stands, are handled in a turn of the loop.
constexpr std::size_t max_seen_in_a_turn = 32;

std::string labels_of(const kube::Object& node) { return kube::json::serialize(node.labels()); }

/// The part of a VirtualNode that decides about twins.
std::string choice_of(const kube::Object& virtual_node) {
  return kube::json::serialize(core::selecting_spec(virtual_node)) + (virtual_node.is_deleting() ? "-" : "+");
}

/// The pause between two writes of a map. Each write, and each answer to it, sends the whole map to the etcd of both
/// clusters: a thousand namespaces that are created in a minute and a half cost less than a hundred writes.
kube::Duration rest_between_writes(std::size_t twins) { return 200ms + 2ms * std::int64_t(twins); }

}  // namespace

OutgoingNamespaceMapController::OutgoingNamespaceMapController(Context context)
    : context_(context),
      data_(
          context, [this](const core::storage::RemoteData& data) { enqueue(data.cluster); }, [this] { enqueue_all(); }),
      virtual_nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      nodes_(context.home.acquire(scope_of_virtual_nodes())),
      offloadings_(context.home.acquire({.resource = api::kinds::namespace_offloadings})),
      maps_(context.home.acquire({.resource = api::kinds::namespace_maps})),
      offered_(context, virtual_nodes_, nodes_, {}),
      requests_(
          offloadings_,
          [cluster = context.settings.cluster_id](const kube::Object& offloading) {
            return core::twin_request(offloading, cluster);
          },
          [this](const kube::ObjectKey& key, const core::TwinRequest* before, const core::TwinRequest* now) {
            if (!before || !now || *before != *now) enqueue_request(key);
          },
          [this] { enqueue_all(); }),
      clusters_(virtual_nodes_,
                [](const kube::Object& object) { return std::string(api::VirtualNode(object).cluster_id()); }),
      destinations_(maps_, destination_of),
      controller_(context, {.name = "outgoing-namespacemap"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  maps_->add_index(std::string(by_cluster), [](const kube::Object& map, std::vector<std::string>& out) {
    if (map.label(labels::replication) == "true") out.emplace_back(map.label(labels::replication_destination));
  });
  virtual_nodes_->add_index(std::string(nodes_of_cluster),
                            [](const kube::Object& object, std::vector<std::string>& out) {
                              out.emplace_back(api::VirtualNode(object).cluster_id());
                            });
  for (const auto& [key, request] : requests_.all()) enqueue_request(key);
  const auto synced = [this] { enqueue_all(); };
  controller_.reads(offloadings_, data_);
  controller_.watch(
      virtual_nodes_,
      [this](const kube::Change& node) {
        if (!node.changes(choice_of)) return;
        for (const kube::Object* object : {node.now, node.previous()})
          if (object) enqueue(api::VirtualNode(*object).cluster_id());
      },
      synced);
  controller_.watch(
      nodes_,
      [this](const kube::Change& node) {
        // Nodes are written often; only their labels and the cluster for which they stand count here.
        if (!node.changes(labels_of)) return;
        for (const auto& [key, cluster] : clusters_.all())
          if (key.name == node.key.name) enqueue(cluster);
      },
      synced);
  controller_.watch(
      maps_,
      [this](const kube::Change& map) {
        for (const kube::Object* object : {map.now, map.previous()})
          if (object) enqueue(object->label(labels::replication_destination));
      },
      synced);
}

void OutgoingNamespaceMapController::enqueue(std::string_view cluster) {
  if (!core::is_dns_label(cluster)) return;
  controller_.enqueue({std::string(cluster), {"", std::string(cluster)}});
}

void OutgoingNamespaceMapController::enqueue_all() {
  std::set<std::string_view> known;
  for (const auto& [key, cluster] : clusters_.all()) known.insert(cluster);
  for (const auto& [key, destination] : destinations_.all()) known.insert(destination.cluster);
  for (const std::string_view cluster : known) enqueue(cluster);
}

OutgoingNamespaceMapController::Destination OutgoingNamespaceMapController::destination_of(const kube::Object& map) {
  if (map.label(labels::replication) != "true") return {};
  Destination destination{.cluster = std::string(map.label(labels::replication_destination)), .spaces = {}};
  for (const auto& [local, remote] : kube::object_at(map.spec(), {"desiredMapping"})) destination.spaces.emplace(local);
  return destination;
}

void OutgoingNamespaceMapController::enqueue_request(const kube::ObjectKey& offloading) {
  // A NamespaceOffloading with another name has no effect.
  if (offloading.name != api::namespace_offloading_name) return;
  changed_.insert(offloading);
  controller_.enqueue(key_of_many());
}

asio::awaitable<void> OutgoingNamespaceMapController::see_requests() {
  for (std::size_t seen = 1; !changed_.empty(); ++seen) {
    see_request(changed_.extract(changed_.begin()).value());
    if (seen % max_seen_in_a_turn == 0) co_await asio::post(asio::use_awaitable);
  }
}

void OutgoingNamespaceMapController::see_request(const kube::ObjectKey& offloading) {
  const auto enqueue_asked = [&] {
    if (const auto* clusters = offered_.selections().asked(offloading.ns))
      for (const auto& [cluster, nodes] : *clusters) enqueue(cluster);
  };
  enqueue_asked();
  const core::TwinRequest* request = requests_.find(offloading);
  if (request && request->counts && request->selector) {
    (void)offered_.selections().ask(offloading.ns, request->selects, *request->selector);
    enqueue_asked();
  } else {
    offered_.selections().forget(offloading.ns);
  }
  for (const auto& [key, destination] : destinations_.all())
    if (destination.spaces.contains(offloading.ns)) enqueue(destination.cluster);
}

std::vector<const core::TwinRequest*> OutgoingNamespaceMapController::requests_for(
    std::string_view cluster, const core::WantedTwins& current) const {
  std::set<std::string, std::less<>> spaces;
  for (std::string& ns : offered_.selections().askers_of(cluster)) spaces.insert(std::move(ns));
  for (const auto& [local, remote] : current) spaces.insert(local);
  std::vector<const core::TwinRequest*> requests;
  requests.reserve(spaces.size());
  for (const std::string& ns : spaces)
    if (const auto* request = requests_.find({ns, std::string(api::namespace_offloading_name)}))
      requests.push_back(request);
  return requests;
}

OutgoingNamespaceMapController::Nodes OutgoingNamespaceMapController::nodes_of(std::string_view cluster) const {
  Nodes found;
  for (kube::Object& object : virtual_nodes_->objects(nodes_of_cluster, cluster))
    found.virtual_nodes.push_back(std::move(object));
  found.nodes.reserve(found.virtual_nodes.size());  // pointers into it are taken
  for (const kube::Object& virtual_node : found.virtual_nodes) {
    auto node = nodes_->find({"", std::string(virtual_node.name())});
    if (node) found.nodes.push_back(std::move(*node));
    found.offered.push_back({.virtual_node = &virtual_node, .node = node ? &found.nodes.back() : nullptr});
  }
  return found;
}

asio::awaitable<Outcome> OutgoingNamespaceMapController::reconcile(kube::WorkKey work) {
  co_await see_requests();
  if (work == key_of_many()) co_return Outcome::done();
  const std::string cluster = work.object.name;

  const Nodes of_cluster = nodes_of(cluster);
  const auto& virtual_nodes = of_cluster.virtual_nodes;
  auto keys = maps_->store().keys(by_cluster, cluster);
  std::ranges::sort(keys);

  // Twins, and the maps that ask for them, stay while a VirtualNode is being drained.
  if (virtual_nodes.empty()) {
    memory_.erase(cluster);
    written_.erase(cluster);
    co_return co_await end_maps(cluster, std::move(keys));
  }

  const kube::ObjectKey own{std::string(virtual_nodes.front().ns()), cluster};
  std::optional<kube::Object> map =
      maps_->find(std::ranges::find(keys, own) != keys.end() || keys.empty() ? own : keys.front());
  if (keys.size() > 1 && std::ranges::find(keys, own) == keys.end())
    co_return Outcome::retry(kube::Failure(
        kube::Errc::invalid_input,
        "several NamespaceMaps are for cluster " + cluster + ", and none is " + own.text() + ": remove all but one"));

  const core::WantedTwins current = map ? core::asked_by(*map) : core::WantedTwins();
  const auto requests = requests_for(cluster, current);
  const core::NodeContext node_ctx = node_context(context_.settings);
  core::TwinWish wish = core::wanted_twins(
      {.requests = requests, .nodes = of_cluster.offered, .current = current},
      {.node = node_ctx, .now = context_.clock.now(), .grace = context_.settings.namespaces.withdrawal_grace},
      memory_[cluster]);
  const core::HeldTwins held = core::held_twins(data_.all(), cluster, current);
  core::keep_held(wish, held, current);
  report_held(cluster, held);
  const Outcome looked = report_leaving(cluster, wish, current);

  if (!map) {
    const bool all_go = std::ranges::all_of(virtual_nodes, [](const kube::Object& one) { return one.is_deleting(); });
    if (all_go) co_return Outcome::done();
    co_return co_await create(own, cluster, std::move(wish.twins));
  }
  // The map is being deleted: a new one is created when it is gone.
  if (map->is_deleting()) co_return Outcome::done();
  const std::size_t twins = std::max(current.size(), wish.twins.size());
  const kube::Duration rest = written_[cluster] + rest_between_writes(twins) - context_.clock.now();
  if (rest > 0s && core::plan_namespace_map(*map, cluster, wish.twins)) co_return Outcome::again_after(rest);
  KUBE_CO_TRYV(co_await write(std::move(*map), cluster, std::move(wish.twins)));
  co_return looked;
}

asio::awaitable<Outcome> OutgoingNamespaceMapController::end_maps(std::string cluster,
                                                                  std::vector<kube::ObjectKey> maps) {
  const auto data = data_.all();
  core::HeldTwins all_held;
  for (const kube::ObjectKey& key : maps) {
    auto map = maps_->find(key);
    if (!map || map->is_deleting()) continue;
    const core::WantedTwins current = core::asked_by(*map);
    core::HeldTwins held = core::held_twins(data, cluster, current);
    // The map also shows the twins that the provider keeps although no namespace here asks for them.
    if (!held.empty() || map->has_annotation(api::annotations::holds_data)) {
      core::TwinWish wish;
      core::keep_held(wish, held, current);
      all_held.merge(held);
      KUBE_CO_TRYV(co_await write(std::move(*map), cluster, std::move(wish.twins)));
      continue;
    }
    KUBE_CO_TRYV(co_await kube::remove_object(
        context_.home.api(), api::kinds::namespace_maps, key,
        {.options = {.uid = std::string(map->uid())}, .phase = "removing the NamespaceMap"}));
  }
  report_held(cluster, all_held);
  co_return Outcome::done();
}

asio::awaitable<kube::Result<void>> OutgoingNamespaceMapController::write(kube::Object map, std::string cluster,
                                                                          core::WantedTwins wanted) {
  const auto patch = core::plan_namespace_map(map, cluster, wanted);
  if (!patch) co_return kube::Result<void>();
  KUBE_CO_TRY(patched,
              co_await kube::merge_patch(context_.home.api(), *maps_, map.key(),
                                         {.body = kube::json::serialize(*patch), .phase = "writing the NamespaceMap"}));
  if (patched) written_[cluster] = context_.clock.now();
  co_return kube::Result<void>();
}

void OutgoingNamespaceMapController::report_held(const std::string& cluster, const core::HeldTwins& held) {
  core::HeldTwins now;
  for (const auto& [ns, data] : held) {
    const auto offloading = offloadings_->find({ns, std::string(api::namespace_offloading_name)});
    if (!offloading || offloading->is_deleting()) now.emplace(ns, data);
  }
  const auto found = reported_.find(cluster);
  const core::HeldTwins before = found == reported_.end() ? core::HeldTwins() : std::move(found->second);
  for (const auto& [ns, data] : now) {
    if (const auto same = before.find(ns); same != before.end() && same->second == data) continue;
    const std::string why = core::why_held(ns, data);
    for (std::size_t i = 0; i < std::min(data.size(), max_reported); ++i)
      data_.warn(data[i], api::reasons::twin_holds_data, why);
  }
  if (now.empty())
    reported_.erase(cluster);
  else
    reported_.insert_or_assign(cluster, std::move(now));
}

Outcome OutgoingNamespaceMapController::report_leaving(std::string_view cluster, const core::TwinWish& wish,
                                                       const core::WantedTwins& twins) const {
  std::optional<kube::Duration> next;
  for (const auto& [ns, leaving] : wish.leaving) {
    next = next ? std::min(*next, leaving.left) : leaving.left;
    const auto offloading = offloadings_->find({ns, std::string(api::namespace_offloading_name)});
    if (!leaving.is_new || !offloading) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(leaving.left).count();
    context_.events.warning(*offloading, api::kinds::namespace_offloadings, "WithdrawalPending",
                            "labels have changed, and no virtual node of cluster " + std::string(cluster) +
                                " matches the clusterSelector any more: in " + std::to_string(seconds) +
                                " s the twin " + twins.find(ns)->second +
                                " is deleted with everything in it. Put the labels back to keep it; change the " +
                                "clusterSelector or delete this NamespaceOffloading to withdraw it now.");
  }
  return next ? Outcome::again_after(*next) : Outcome::done();
}

asio::awaitable<Outcome> OutgoingNamespaceMapController::create(kube::ObjectKey key, std::string cluster,
                                                                core::WantedTwins wanted) {
  const kube::Object map = core::forge_namespace_map(key, cluster, wanted);
  KUBE_CO_TRY(created, co_await context_.home.api().create(api::kinds::namespace_maps, map),
              "creating the NamespaceMap");
  maps_->observe(std::move(created));
  co_return Outcome::done();
}

}  // namespace liqo::controllers
