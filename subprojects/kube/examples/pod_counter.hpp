// A controller: keeps the number of pods of each namespace in an annotation of the namespace.
#pragma once

#include "kube/runtime/controller.hpp"
#include "kube/runtime/manager.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/to_keys.hpp"

namespace example {

/// Needs: list and watch of pods and namespaces, patch of namespaces.
class PodCounter {
 public:
  static constexpr std::string_view annotation = "example.com/pods";

  explicit PodCounter(kube::Manager& manager)
      : api_(manager.api()),
        pods_(manager.caches().acquire({.resource = kube::resources::pods})),
        namespaces_(manager.caches().acquire({.resource = kube::resources::namespaces})),
        controller_(manager.environment(), {.name = "pod-counter"},
                    [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
    controller_.watch(namespaces_);
    controller_.watch(pods_, kube::to_namespace);
    manager.add([this] { return controller_.run(); });
  }

 private:
  /// What is to be done about one namespace, whatever has happened.
  boost::asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key) {
    const auto ns = namespaces_->find(key.object);
    if (!ns) co_return kube::Outcome::done();
    const std::string count = std::to_string(pods_->store().count_in(ns->name()));
    if (ns->annotation(annotation) == count) co_return kube::Outcome::done();
    const kube::json::object patch{
        {"metadata", kube::json::object{{"annotations", kube::json::object{{annotation, count}}}}}};
    KUBE_CO_TRYV(co_await kube::merge_patch(api_, *namespaces_, key.object,
                                            {.body = kube::json::serialize(patch), .phase = "writing the count"}));
    co_return kube::Outcome::done();
  }

  kube::Api& api_;
  kube::InformerHandle pods_, namespaces_;
  kube::Controller controller_;
};

}  // namespace example
