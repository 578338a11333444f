#include "volumes/moved_claim.hpp"

#include <array>
#include <utility>

#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "session/wait.hpp"

namespace liqoctl {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
namespace resources = kube::resources;
using kube::Errc;
using kube::ObjectKey;

std::string cluster_in_words(std::string_view cluster) {
  return cluster.empty() ? "this cluster" : "cluster " + std::string(cluster);
}

Result<void> MovedClaim::still_mine() const {
  if (lock_.is_held()) return {};
  return kube::fail(Errc::stopped, "the Lease " + copy_key().text() +
                                       " could not be renewed, so another move may have begun; run " +
                                       "the same command again");
}

asio::awaitable<Result<Object>> MovedClaim::existing(const kube::Resource& kind, ObjectKey key) {
  KUBE_CO_TRY(found, co_await cluster_.find(kind, key));
  if (!found)
    co_return kube::fail(
        Errc::missing, "there is no " + std::string(kind.kind) + " " + key.text() + " in cluster " + cluster_.scope());
  co_return std::move(*found);
}

asio::awaitable<Result<void>> MovedClaim::check_users(std::string_view when) {
  KUBE_CO_TRY(pods, co_await cluster_.list(resources::pods, ns_));
  const std::array carriers{carrier_key(model::Carrier::reads).name, carrier_key(model::Carrier::writes).name};
  const auto users = model::users_of(pods, asked_.claim, carriers);
  if (users.empty()) co_return Result<void>();
  co_return kube::fail(Errc::invalid_input, "claim " + key().text() + " is used by " + kube::join_some(users, 5) +
                                                std::string(when) +
                                                ": end these pods (scale down what makes them), and run it again");
}

asio::awaitable<Result<void>> MovedClaim::wait_until_gone(const kube::Resource& kind, ObjectKey key) {
  const std::string what = std::string(kind.kind) + " " + key.text() + " to go";
  co_return co_await wait_for_object_to_go(cluster_, {.what = what, .deadline = soon()},
                                           {.resource = kind, .key = key, .blame = Blame::warnings});
}

asio::awaitable<Result<void>> MovedClaim::note(std::string volume, json::object notes) {
  return change(std::move(volume), json::object{{"metadata", json::object{{"annotations", std::move(notes)}}}});
}

asio::awaitable<Result<void>> MovedClaim::set_policy(std::string volume, std::string policy) {
  return change(std::move(volume), json::object{{"spec", json::object{{"persistentVolumeReclaimPolicy", policy}}}});
}

asio::awaitable<Result<void>> MovedClaim::set_policy(const Object& volume, std::string policy) {
  return change(
      std::string(volume.name()),
      json::object{{"metadata", json::object{{"uid", volume.uid()}, {"resourceVersion", volume.resource_version()}}},
                   {"spec", json::object{{"persistentVolumeReclaimPolicy", policy}}}});
}

asio::awaitable<Result<void>> MovedClaim::forget(std::string copy) {
  const json::object nothing{{annotations::move_record, nullptr}, {annotations::given_to, nullptr}};
  co_return co_await change(std::move(copy),
                            json::object{{"metadata", json::object{{"annotations", nothing}}},
                                         {"spec", json::object{{"persistentVolumeReclaimPolicy", "Delete"}}}});
}

asio::awaitable<Result<void>> MovedClaim::remove_volume(std::string name) {
  KUBE_CO_TRYV(co_await cluster_.remove(kinds::volumes, {"", std::move(name)}));
  co_return Result<void>();
}

asio::awaitable<Result<void>> MovedClaim::change(std::string volume, json::object changes) {
  KUBE_CO_TRYV(co_await cluster_.api().patch(kinds::volumes, {"", std::move(volume)},
                                             {kube::PatchType::merge, json::serialize(changes)}));
  co_return Result<void>();
}

}  // namespace liqoctl
