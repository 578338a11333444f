#include "controllers/namespaces/network_policy_notices.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "controllers/common/key_of_many.hpp"
#include "kube/client/list_all.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;
using kube::Outcome;

/// Namespaces are offloaded in bursts, and one list is enough for all of them.
constexpr kube::Duration settle_time = 2s;
/// The pauses between two lists, and the one after a refusal.
constexpr kube::Duration look_after = 100s, look_before = 140s, refused_pause = 1h;
/// Of as many namespaces the policies are listed one by one.
constexpr std::size_t max_asked_singly = 8;

}  // namespace

NetworkPolicyNotices::NetworkPolicyNotices(Context context)
    : context_(context),
      offloadings_(context.home.acquire({.resource = api::kinds::namespace_offloadings})),
      maps_(context.home.acquire({.resource = api::kinds::namespace_maps})),
      offloaded_(
          offloadings_,
          [](const kube::Object& object) {
            const api::NamespaceOffloading offloading(object);
            const bool lets_pods_go = offloading.has_right_name() && !object.is_deleting() &&
                                      offloading.pod_strategy() != api::PodOffloadingStrategy::local;
            return Offloading{.lets_pods_go = lets_pods_go,
                              .told = core::read_clusters(object.annotation(api::annotations::policies_reported))};
          },
          [this](const kube::ObjectKey&, const Offloading* before, const Offloading* now) {
            if (now && now->lets_pods_go && !(before && before->lets_pods_go)) enqueue_soon();
          }),
      wishes_(
          maps_,
          [](const kube::Object& map) {
            Wish wish;
            if (map.label(api::labels::replication) != "true") return wish;
            wish.cluster = map.label(api::labels::replication_destination);
            for (const auto& [local, remote] : kube::object_at(map.spec(), {"desiredMapping"}))
              if (const auto* twin = remote.if_string()) wish.twins.emplace(local, *twin);
            return wish;
          },
          [this](const kube::ObjectKey&, const Wish* before, const Wish* now) {
            if (now && !(before && *before == *now)) enqueue_soon();
          }),
      controller_(context,
                  {.name = "network-policies",
                   .limits = {.workers = 1, .workers_per_group = 1},
                   .fill =
                       [this] {
                         is_refused_ = false;
                         enqueue_soon();
                       }},
                  [this](kube::WorkKey work) { return reconcile(std::move(work)); }) {
  controller_.reads(offloadings_, maps_);
}

void NetworkPolicyNotices::enqueue_soon() {
  if (!is_refused_) controller_.enqueue_after(key_of_many(), settle_time);
}

NetworkPolicyNotices::Untold NetworkPolicyNotices::untold(const std::string& ns) const {
  Untold out;
  const Offloading* offloading = offloaded_.find({ns, std::string(api::namespace_offloading_name)});
  if (!offloading || !offloading->lets_pods_go) return out;
  for (const auto& [key, wish] : wishes_.all()) {
    const auto twin = wish.twins.find(ns);
    if (twin != wish.twins.end() && !offloading->told.contains(wish.cluster)) out.emplace(wish.cluster, twin->second);
  }
  return out;
}

asio::awaitable<Outcome> NetworkPolicyNotices::reconcile(kube::WorkKey) {
  std::map<std::string, core::FoundPolicies> found;
  for (const auto& [key, offloading] : offloaded_.all())
    if (!untold(key.ns).empty()) found.try_emplace(key.ns);
  const bool was_refused = std::exchange(is_refused_, false);
  if (found.empty()) co_return Outcome::done();
  const auto take = [&found](const kube::Object& policy) {
    if (const auto of = found.find(std::string(policy.ns())); of != found.end()) of->second.add(policy.name());
    return true;
  };
  // Most namespaces have no policy, and are asked about for ever: a few of them do not cost a list of the whole
  // cluster.
  std::vector<std::string> asked{""};
  if (found.size() <= max_asked_singly) {
    asked.clear();
    for (const auto& [ns, policies] : found) asked.push_back(ns);
  }
  kube::Result<void> read;
  for (const std::string& ns : asked) {
    auto listed =
        co_await kube::list_all(context_.home.api(), {api::kinds::network_policies, ns}, {.metadata_only = true}, take);
    if (listed) continue;
    read = std::unexpected(std::move(listed.error()));
    break;
  }
  if (!read && read.error().is_permanent()) {
    if (!was_refused)
      log_.warn("liqod may not list NetworkPolicies, so nobody is told that they do not hold in other clusters",
                {{"error", read.error()}});
    is_refused_ = true;
    co_return Outcome::again_after(refused_pause);
  }
  if (!read) co_return Outcome::retry(std::move(read.error()).in("looking for NetworkPolicies"));
  for (auto& [ns, policies] : found)
    if (policies.count > 0) {
      KUBE_CO_TRYV(co_await report(ns, std::move(policies)));
    }
  co_return Outcome::again_after(context_.random.between(look_after, look_before));
}

asio::awaitable<kube::Result<void>> NetworkPolicyNotices::report(std::string ns, core::FoundPolicies policies) {
  const kube::ObjectKey key{std::move(ns), std::string(api::namespace_offloading_name)};
  const Untold clusters = untold(key.ns);
  const auto offloading = offloadings_->find(key);
  if (!offloading || clusters.empty()) co_return kube::Result<void>();
  auto told = core::read_clusters(offloading->annotation(api::annotations::policies_reported));
  // A provider that is chosen again later is reported again.
  std::erase_if(told, [&](const std::string& cluster) {
    return std::ranges::none_of(wishes_.all(), [&](const auto& wish) {
      return wish.second.cluster == cluster && wish.second.twins.contains(key.ns);
    });
  });
  for (const auto& [cluster, twin] : clusters) {
    context_.events.warning(*offloading, api::kinds::namespace_offloadings, api::reasons::policies_at_home,
                            core::describe_policies_at_home(policies, cluster, twin));
    told.insert(cluster);
  }
  json::object annotations;
  annotations[api::annotations::policies_reported] = core::list_clusters(told);
  const json::object patch{
      {"metadata", json::object{{"uid", offloading->uid()}, {"annotations", std::move(annotations)}}}};
  KUBE_CO_TRYV(co_await kube::merge_patch(
      context_.home.api(), *offloadings_, key,
      {.body = json::serialize(patch), .phase = "noting that NetworkPolicies were reported"}));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
