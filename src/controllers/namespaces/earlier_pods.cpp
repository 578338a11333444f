// What a NamespaceOffloading does about pods that were there before it.
#include "liqo/core/namespaces/earlier_pods.hpp"

#include <utility>
#include <vector>

#include "controllers/namespaces/namespace_offloading.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using Fate = core::EarlierPod::Fate;

/// API servers learn a moment late of the label that makes them ask about pods: a second look finds what was created in
/// between.
constexpr kube::Duration second_look = 3s;
constexpr std::int64_t page_size = 500;

}  // namespace

asio::awaitable<kube::Result<void>> NamespaceOffloadingController::adjust_earlier_pods(kube::Object offloading,
                                                                                       core::EarlierPods& left) {
  left = {};
  kube::ListOptions options{.limit = page_size};
  do {
    auto page = co_await context_.home.api().list(kube::resources::pods, offloading.ns(), options);
    if (!page) co_return kube::fail(std::move(page.error()), "looking for pods that were there before");
    for (kube::json::value& item : page->items) {
      const auto pod = kube::Object::from(std::move(item));
      if (!pod) continue;
      const core::EarlierPod earlier = core::plan_earlier_pod(*pod, api::NamespaceOffloading(offloading));
      if (earlier.fate == Fate::placed) ++left.placed;
      if (earlier.fate == Fate::waits) ++left.waiting;
      if (earlier.fate != Fate::adjustable) continue;
      auto patched = co_await context_.home.api().patch(kube::resources::pods, pod->key(),
                                                        {kube::PatchType::json, kube::json::serialize(earlier.patch)});
      if (patched || patched.error().is_not_found()) continue;
      if (!patched.error().is_permanent())
        co_return kube::fail(std::move(patched.error()), "making an earlier pod follow the podOffloadingStrategy");
      ++left.waiting;
    }
    options.continue_token = std::move(page->continue_token);
  } while (!options.continue_token.empty());
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> NamespaceOffloadingController::see_to_earlier_pods(
    kube::Object offloading) {
  const std::string ns(offloading.ns());
  const auto due = looks_.find(ns);
  if (due == looks_.end()) co_return std::nullopt;
  const kube::TimePoint now = context_.clock.now();
  if (due->second && now < *due->second) co_return *due->second - now;
  const bool is_last = due->second.has_value();
  core::EarlierPods left;
  auto adjusted = co_await adjust_earlier_pods(offloading, left);
  if (!adjusted) co_return std::unexpected(std::move(adjusted.error()));
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
