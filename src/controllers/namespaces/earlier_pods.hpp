// Sees to the pods that existed before their NamespaceOffloading.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "controllers/common/context.hpp"
#include "core/namespaces/earlier_pods.hpp"

namespace liqo::controllers {

/// Pods that were created before their namespace was extended have passed admission unchanged. They are made to follow
/// the strategy if Kubernetes allows that; the others are reported. One thread.
class EarlierPods {
 public:
  explicit EarlierPods(Context context) : context_(context) {}

  /// The namespace begins to be extended: its pods are to be looked at, twice.
  void expect(const std::string& ns) { looks_.try_emplace(ns); }
  /// The namespace is not offloaded any more.
  void forget(const std::string& ns) { looks_.erase(ns); }
  /// Takes the look that is due in the namespace, if one is. Returns when to look again.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> see_to(kube::Object offloading);

 private:
  /// Adjusts the pods that can be adjusted, and returns how many are left.
  asio::awaitable<kube::Result<core::EarlierPods>> adjust(kube::Object offloading);

  Context context_;
  /// Namespaces whose pods are to be seen to; the time of the second look, nothing before the first.
  std::map<std::string, std::optional<kube::TimePoint>> looks_;
};

}  // namespace liqo::controllers
