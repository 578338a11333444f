#include "controllers/namespaces/earlier_pods.hpp"

#include <utility>
#include <vector>

#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace action = core::earlier_pod_action;

/// API servers see the label that makes them send pods for review a moment late: a second look finds the pods that were
/// created in between.
constexpr kube::Duration second_look = 3s;

}  // namespace

asio::awaitable<kube::Result<core::EarlierPods>> EarlierPods::adjust(kube::Object offloading) {
  core::EarlierPods left;
  std::vector<std::pair<kube::ObjectKey, kube::json::array>> adjustable;  // with the patch
  const auto plan_for = [&](const kube::Object& pod) {
    core::EarlierPodPlan plan = core::plan_earlier_pod(pod, api::NamespaceOffloading(offloading));
    if (std::holds_alternative<action::LeavePlaced>(plan)) ++left.placed;
    if (std::holds_alternative<action::LeaveWaiting>(plan)) ++left.waiting;
    if (auto* patch = std::get_if<action::Patch>(&plan)) adjustable.emplace_back(pod.key(), std::move(patch->steps));
    return true;
  };
  KUBE_CO_TRYV(
      co_await kube::list_all(context_.home.api(),
                              {.resource = kube::resources::pods, .ns = std::string(offloading.ns())}, {}, plan_for),
      "looking for pods that were there before");
  for (const auto& [key, patch] : adjustable) {
    auto patched = co_await context_.home.api().patch(kube::resources::pods, key,
                                                      {kube::PatchType::json, kube::json::serialize(patch)});
    if (patched || patched.error().is_not_found()) continue;
    if (!patched.error().is_permanent())
      co_return kube::fail(std::move(patched.error()), "making an earlier pod follow the podOffloadingStrategy");
    ++left.waiting;
  }
  co_return left;
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> EarlierPods::see_to(kube::Object offloading) {
  const std::string ns(offloading.ns());
  const auto due = looks_.find(ns);
  if (due == looks_.end()) co_return std::nullopt;
  const kube::TimePoint now = context_.clock.now();
  if (due->second && now < *due->second) co_return *due->second - now;
  const bool is_last = due->second.has_value();
  KUBE_CO_TRY(left, co_await adjust(offloading));
  if (!is_last) {
    looks_[ns] = context_.clock.now() + second_look;
    co_return second_look;
  }
  looks_.erase(ns);
  if (const std::string words = core::describe_earlier_pods(left, api::NamespaceOffloading(offloading).pod_strategy());
      !words.empty())
    context_.events.warning(offloading, api::kinds::namespace_offloadings, "PodsBeforeOffloading", words);
  co_return std::nullopt;
}

}  // namespace liqo::controllers
