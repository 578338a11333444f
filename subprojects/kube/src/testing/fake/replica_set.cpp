#include "kube/testing/fake/replica_set.hpp"

#include "semantics.hpp"

namespace kube::testing {

using namespace std::chrono_literals;

namespace {

constexpr Resource replica_sets{"apps", "v1", "replicasets", "ReplicaSet"};
constexpr std::string_view actor = "replicaset-controller";

}  // namespace

FakeReplicaSet::FakeReplicaSet(Simulator& simulator, FakeApiServer& server, json::object pod, int replicas)
    : simulator_(simulator),
      server_(server),
      template_(std::move(pod)),
      ns_(string_at(template_, {"metadata", "namespace"})),
      name_(string_at(template_, {"metadata", "name"})),
      replicas_(replicas),
      random_(simulator.random().next()) {
  auto made = server_.create(replica_sets,
                             json::object{{"metadata", json::object{{"name", name_}, {"namespace", ns_}}}}, actor);
  if (made) uid_ = string_at(**made, {"metadata", "uid"});
  json::object& metadata = ensure_object(template_, "metadata");
  metadata.erase("name");
  metadata["generateName"] = name_ + "-";
  metadata["ownerReferences"] = json::array{json::object{{"apiVersion", "apps/v1"},
                                                         {"kind", "ReplicaSet"},
                                                         {"name", name_},
                                                         {"uid", uid_},
                                                         {"controller", true},
                                                         {"blockOwnerDeletion", true}}};
  server_.store().on_change([this](const FakeChange& change) {
    if (is_core(*change.kind, "pods") && change.key.ns == ns_) reconcile_later();
  });
  reconcile_later();
}

void FakeReplicaSet::scale(int replicas) {
  replicas_ = replicas;
  reconcile_later();
}

void FakeReplicaSet::reconcile_later() {
  if (is_due_) return;
  is_due_ = true;
  simulator_.clock().call_in(random_.between(1ms, 100ms), [this] {
    is_due_ = false;
    reconcile();
  });
}

void FakeReplicaSet::reconcile() {
  std::vector<Tree> active;
  for (const Tree& pod : server_.list(resources::pods, ns_)) {
    const json::array& owners = array_at(*pod, {"metadata", "ownerReferences"});
    if (owners.empty() || string_at(owners[0], {"uid"}) != uid_) continue;
    if (!is_finished(*pod) && !is_deleting(*pod)) active.push_back(pod);
  }
  const int have = static_cast<int>(active.size());
  for (int i = have; i < replicas_; ++i) static_cast<void>(server_.create(resources::pods, template_, actor));
  for (int i = replicas_; i < have; ++i) {
    const Tree& pod =
        active[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(active.size()) - 1))];
    DeleteOptions options;
    options.uid = string_at(*pod, {"metadata", "uid"});
    // The same pod may be drawn twice; the change it makes brings the next reconcile.
    static_cast<void>(
        server_.remove(resources::pods, {ns_, std::string(string_at(*pod, {"metadata", "name"}))}, options, actor));
  }
}

}  // namespace kube::testing
