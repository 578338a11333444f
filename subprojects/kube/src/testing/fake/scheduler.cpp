#include "kube/testing/fake/scheduler.hpp"

#include "semantics.hpp"

namespace kube::testing {

using namespace std::chrono_literals;

FakeScheduler::FakeScheduler(Simulator& simulator, FakeApiServer& server, Choice choice)
    : simulator_(simulator), server_(server), choice_(std::move(choice)), random_(simulator.random().next()) {
  server_.store().on_change([this](const FakeChange& change) {
    if (change.type != ChangeType::added || !is_core(*change.kind, "pods")) return;
    const Duration delay = random_.between(1ms, 50ms);
    simulator_.clock().call_in(
        delay, [this, key = change.key, uid = std::string(string_at(*change.after, {"metadata", "uid"}))] {
          consider(key, uid);
        });
  });
}

void FakeScheduler::consider(const ObjectKey& key, const std::string& uid) {
  const Tree pod = server_.get(resources::pods, key);
  if (!pod || string_at(*pod, {"metadata", "uid"}) != uid || !string_at(*pod, {"spec", "nodeName"}).empty()) return;
  if (is_deleting(*pod)) return;
  const std::string node = choice_(*pod);
  if (node.empty()) {
    simulator_.clock().call_in(1s, [this, key, uid] { consider(key, uid); });
    return;
  }
  const json::object binding{{"target", json::object{{"kind", "Node"}, {"name", node}}}};
  static_cast<void>(server_.handle(
      request::create_subresource(resources::pods, key, "binding", json::serialize(binding)), "scheduler"));
  const std::string now = format_time(simulator_.clock().wall());
  static_cast<void>(server_.update(
      {resources::pods, key, "status"},
      [&now](json::object& next) {
        ensure_array(ensure_object(next, "status"), "conditions")
            .push_back(json::object{{"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", now}});
      },
      "scheduler"));
}

}  // namespace kube::testing
