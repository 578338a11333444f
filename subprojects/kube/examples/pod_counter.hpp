// An example controller: keeps the number of pods of each namespace in an annotation of the namespace.
#pragma once

#include "kube/runtime/controller.hpp"
#include "kube/runtime/informer_set.hpp"

namespace example {

inline constexpr std::string_view annotation = "example.com/pods";

/// Runs until cancelled. Needs: list and watch of pods and namespaces, patch of namespaces.
inline boost::asio::awaitable<void> count_pods(kube::Api& api, kube::async::Clock& clock, kube::Random& random,
                                               kube::Metrics& metrics) {
  auto executor = co_await boost::asio::this_coro::executor;
  kube::InformerSet informers(executor, api, metrics);
  auto pods = informers.acquire({.resource = kube::resources::pods});
  auto namespaces = informers.acquire({.resource = kube::resources::namespaces});

  // What is to be done about one namespace, whatever has happened.
  const auto reconcile = [&](kube::WorkKey key) -> boost::asio::awaitable<kube::Outcome> {
    if (!pods->has_synced()) co_return kube::Outcome::again_after(std::chrono::milliseconds(100));
    const auto ns = namespaces->find(key.object);
    if (!ns) co_return kube::Outcome::done();
    const std::string count = std::to_string(pods->store().keys("namespace", ns->name()).size());
    if (ns->annotation(annotation) == count) co_return kube::Outcome::done();
    const kube::json::object patch{
        {"metadata", kube::json::object{{"annotations", kube::json::object{{annotation, count}}}}}};
    auto patched = co_await api.patch(kube::resources::namespaces, key.object, kube::PatchType::merge,
                                      kube::json::serialize(patch));
    if (!patched) co_return kube::Outcome::retry(std::move(patched.error()));
    co_return kube::Outcome::done();
  };
  kube::Controller controller({executor, clock, random, metrics}, {.name = "pod-counter"}, reconcile);

  pods->add_index("namespace",
                  [](const kube::Object& pod, std::vector<std::string>& out) { out.emplace_back(pod.ns()); });
  pods.subscribe([&](const kube::ObjectKey& pod) { controller.enqueue({"", {"", pod.ns}}); });
  namespaces.subscribe([&](const kube::ObjectKey& ns) { controller.enqueue({"", ns}); });

  kube::async::TaskGroup group(executor);
  group.spawn(informers.run());
  group.spawn(controller.run());
  co_await group.join();
}

}  // namespace example
