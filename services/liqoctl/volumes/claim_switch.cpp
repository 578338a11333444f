#include "volumes/claim_switch.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "core/storage/volume.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "session/wait.hpp"
#include "volumes/move_leftovers.hpp"

namespace liqoctl {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
using kube::Errc;
using kube::string_at;
using liqo::api::phase_of;
using model::MoveRecord;

asio::awaitable<Result<void>> ClaimSwitch::lock(const MoveRecord& record, std::string copy) {
  KUBE_CO_TRYV(co_await moved_.check_users(" since a moment ago"));
  KUBE_CO_TRYV(moved_.still_mine());
  const std::string owner = moved_.key().text();
  // A write that fails may have been carried out.
  is_noted_ = true;
  KUBE_CO_TRYV(co_await moved_.note(
      copy, json::object{{annotations::given_to, owner}, {annotations::move_record, model::write_record(record)}}));
  KUBE_CO_TRYV(co_await moved_.note(record.source, json::object{{annotations::given_to, owner}}));
  for (const std::string& volume : {copy, record.source}) KUBE_CO_TRYV(co_await moved_.set_policy(volume, "Retain"));
  is_locked_ = true;
  KUBE_CO_TRYV(co_await cluster_.remove(kinds::claims, moved_.key(), {.uid = record.uid}));
  KUBE_CO_TRY(held, co_await cluster_.find(kinds::claims, moved_.key()));
  if (!held || held->uid() != record.uid)
    co_return kube::fail(Errc::closed,
                         "the pod that reads " + moved_.words() + " has ended: run the same command again");
  co_return co_await moved_.check_users(" since a moment ago");
}

asio::awaitable<Result<void>> ClaimSwitch::give(const MoveRecord& record, std::string volume, std::string node) {
  // The name is taken until the earlier claim is gone.
  const std::function<WaitState(const Object*)> free = [&record](const Object* claim) {
    return claim && claim->uid() == record.uid ? WaitState{.seen = "pods still use it"} : WaitState{.done = true};
  };
  KUBE_CO_TRYV(co_await wait_for_object(
      cluster_, {.what = "claim " + moved_.key().text() + " to be free", .deadline = moved_.soon()},
      {.resource = kinds::claims, .key = moved_.key()}, free));
  auto made = co_await cluster_.api().create(kinds::claims, model::forge_claim_of_volume(record.claim, node, volume));
  if (!made && !made.error().is_already_exists())
    co_return kube::fail(std::move(made.error()), "making claim " + moved_.key().text() + " anew");
  KUBE_CO_TRY(claim, co_await moved_.existing(kinds::claims, moved_.key()));
  if (claim.annotation(annotations::takes_volume) != volume)
    co_return kube::fail(Errc::invalid_input, "there is a claim " + moved_.key().text() +
                                                  " that somebody else has made meanwhile. Nothing has been deleted: "
                                                  "look what it has, and remove it if it has nothing; the data is "
                                                  "in PersistentVolume " +
                                                  volume + ", and the same command goes on with that");
  const std::function<WaitState(const Object*)> look = [](const Object* one) {
    return one && phase_of(*one) == "Bound" ? WaitState{.done = true} : WaitState{.seen = "it has no volume"};
  };
  KUBE_CO_TRYV(co_await wait_for_object(
      cluster_, {.what = "claim " + moved_.key().text() + " to have its volume", .deadline = moved_.soon()},
      {.resource = kinds::claims, .key = moved_.key(), .blame = Blame::warnings}, look));
  KUBE_CO_TRY(own, co_await check_given(std::move(volume)));
  KUBE_CO_TRYV(moved_.still_mine());
  co_return co_await moved_.set_policy(own, record.policy);
}

asio::awaitable<Result<Object>> ClaimSwitch::check_given(std::string volume) {
  using liqo::core::storage::recorded_backing;
  KUBE_CO_TRY(claim, co_await moved_.existing(kinds::claims, moved_.key()));
  KUBE_CO_TRY(own,
              co_await moved_.existing(kinds::volumes, {"", std::string(string_at(claim.spec(), {"volumeName"}))}));
  KUBE_CO_TRY(given, co_await moved_.existing(kinds::volumes, {"", volume}));
  const auto has = recorded_backing(own), wanted = recorded_backing(given);
  if (!has || !wanted || *has != *wanted || !liqo::core::storage::is_volume_of(own, claim))
    co_return kube::fail(Errc::invalid_input, "claim " + moved_.key().text() + " has PersistentVolume " +
                                                  std::string(own.name()) + ", which is not the data of " + volume +
                                                  ": liqod may be older than this command. " +
                                                  "Nothing has been deleted; the data is in " + volume);
  co_return std::move(own);
}

asio::awaitable<Result<void>> ClaimSwitch::finish(MoveRecord record, std::string copy) {
  KUBE_CO_TRYV(moved_.still_mine());
  KUBE_CO_TRY(before, co_await cluster_.find(kinds::claims, moved_.key()));
  // While the earlier claim exists, a late pod may have begun to write, and then the copy is out of date.
  if (before && before->uid() == record.uid) {
    if (auto free = co_await moved_.check_users(" since the copy was compared"); !free) {
      record.verified = false;
      if (auto noted =
              co_await moved_.note(copy, json::object{{annotations::move_record, model::write_record(record)}});
          !noted)
        co_return noted;
      co_return free;
    }
  }
  KUBE_CO_TRYV(co_await remove_carriers(moved_));
  KUBE_CO_TRYV(co_await remove_copy_claim(moved_, false));
  KUBE_CO_TRYV(co_await give(record, copy, record.node));
  KUBE_CO_TRY(source, co_await cluster_.find(kinds::volumes, {"", record.source}));
  const auto kept = source ? liqo::core::storage::recorded_backing(*source) : std::nullopt;
  KUBE_CO_TRYV(moved_.still_mine());
  // A later namespace of this name must not get the data.
  if (source && moved_.asked().keep_source)
    KUBE_CO_TRYV(co_await moved_.note(record.source, json::object{{annotations::given_to, nullptr}}));
  if (source && !moved_.asked().keep_source) {
    KUBE_CO_TRYV(co_await moved_.set_policy(*source, "Delete"));
    KUBE_CO_TRYV(co_await moved_.wait_until_gone(kinds::volumes, {"", record.source}));
  }
  // The record of this move is deleted with the volume.
  KUBE_CO_TRYV(co_await moved_.remove_volume(copy));
  cluster_.output().success(cluster_.scope(), moved_.words() + " is now at node " + record.node);
  if (moved_.asked().keep_source && kept)
    moved_.log("what it was copied from stays: claim " + kept->key.text() + " in " + cluster_in_words(kept->cluster) +
               ", PersistentVolume " + record.source);
  co_return Result<void>();
}

asio::awaitable<Result<bool>> ClaimSwitch::resume() {
  KUBE_CO_TRY(volumes, co_await cluster_.list(kinds::volumes, ""));
  for (const Object& volume : volumes)
    if (auto record = model::read_record(volume); record && record->claim.key() == moved_.key())
      co_return co_await go_on(std::move(*record), std::string(volume.name()));
  co_return false;
}

asio::awaitable<Result<bool>> ClaimSwitch::go_on(MoveRecord record, std::string copy) {
  if (record.verified) {
    moved_.log("an earlier move to node " + record.node + " goes on: the copy was compared");
    KUBE_CO_TRYV(co_await finish(record, copy));
    co_return record.node == moved_.asked().node;
  }
  KUBE_CO_TRY(claim, co_await cluster_.find(kinds::claims, moved_.key()));
  if (!claim || claim->is_deleting() || claim->uid() != record.uid) {
    moved_.log("an earlier move was interrupted before its copy was compared: the claim gets its volume back");
    KUBE_CO_TRYV(co_await remove_carriers(moved_));
    KUBE_CO_TRYV(co_await give(record, record.source, record.former_node));
    // The record is removed first: a crash after that leaves only an unused volume.
    KUBE_CO_TRYV(co_await moved_.forget(copy));
    KUBE_CO_TRYV(co_await moved_.remove_volume(record.source));
    co_return false;
  } else if (auto set = co_await moved_.set_policy(record.source, record.policy); !set) {
    co_return std::unexpected(std::move(set.error()));
  }
  KUBE_CO_TRYV(co_await moved_.forget(copy));
  co_return false;
}

}  // namespace liqoctl
