#include "volumes/claim_switch.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "core/storage/volume.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "volumes/move_leftovers.hpp"
#include "wait.hpp"

namespace liqoctl {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
using kube::Errc;
using kube::string_at;
using liqo::api::phase_of;
using model::MoveRecord;

asio::awaitable<Result<void>> ClaimSwitch::lock(const MoveRecord& record, std::string copy) {
  if (auto free = co_await moved_.check_users(" since a moment ago"); !free) co_return free;
  if (auto mine = moved_.still_mine(); !mine) co_return mine;
  const std::string owner = moved_.key().text();
  // A write that fails may have been carried out.
  is_noted_ = true;
  if (auto noted = co_await moved_.note(
          copy, json::object{{annotations::given_to, owner}, {annotations::move_record, model::write_record(record)}});
      !noted)
    co_return noted;
  if (auto noted = co_await moved_.note(record.source, json::object{{annotations::given_to, owner}}); !noted)
    co_return noted;
  for (const std::string& volume : {copy, record.source})
    if (auto set = co_await moved_.set_policy(volume, "Retain"); !set) co_return set;
  is_locked_ = true;
  auto removed = co_await cluster_.remove(kinds::claims, moved_.key(), {.uid = record.uid});
  if (!removed) co_return std::unexpected(std::move(removed.error()));
  auto held = co_await cluster_.find(kinds::claims, moved_.key());
  if (!held) co_return std::unexpected(std::move(held.error()));
  if (!*held || (*held)->uid() != record.uid)
    co_return kube::fail(Errc::closed,
                         "the pod that reads " + moved_.words() + " has ended: run the same command again");
  co_return co_await moved_.check_users(" since a moment ago");
}

asio::awaitable<Result<void>> ClaimSwitch::give(const MoveRecord& record, std::string volume, std::string node) {
  // The name is taken until the earlier claim is gone.
  const std::function<Look(const Object*)> free = [&record](const Object* claim) {
    return claim && claim->uid() == record.uid ? Look{.seen = "pods still use it"} : Look{.done = true};
  };
  if (auto gone = co_await wait_for_object(
          cluster_, {.what = "claim " + moved_.key().text() + " to be free", .deadline = moved_.soon()},
          {.resource = kinds::claims, .key = moved_.key()}, free);
      !gone)
    co_return gone;
  auto made = co_await cluster_.api().create(kinds::claims, model::forge_claim_of_volume(record.claim, node, volume));
  if (!made && !made.error().is_already_exists())
    co_return kube::fail(std::move(made.error()), "making claim " + moved_.key().text() + " anew");
  auto claim = co_await moved_.existing(kinds::claims, moved_.key());
  if (!claim) co_return std::unexpected(std::move(claim.error()));
  if (claim->annotation(annotations::takes_volume) != volume)
    co_return kube::fail(Errc::invalid_input, "there is a claim " + moved_.key().text() +
                                                  " that somebody else has made meanwhile. Nothing has been deleted: "
                                                  "look what it has, and remove it where it has nothing; the data is "
                                                  "in PersistentVolume " +
                                                  volume + ", and the same command goes on with that");
  const std::function<Look(const Object*)> look = [](const Object* one) {
    return one && phase_of(*one) == "Bound" ? Look{.done = true} : Look{.seen = "it has no volume"};
  };
  if (auto bound = co_await wait_for_object(
          cluster_, {.what = "claim " + moved_.key().text() + " to have its volume", .deadline = moved_.soon()},
          {.resource = kinds::claims, .key = moved_.key(), .blame = Blame::warnings}, look);
      !bound)
    co_return bound;
  auto own = co_await check_given(std::move(volume));
  if (!own) co_return std::unexpected(std::move(own.error()));
  if (auto mine = moved_.still_mine(); !mine) co_return mine;
  co_return co_await moved_.set_policy(*own, record.policy);
}

asio::awaitable<Result<Object>> ClaimSwitch::check_given(std::string volume) {
  using liqo::core::storage::recorded_backing;
  auto claim = co_await moved_.existing(kinds::claims, moved_.key());
  if (!claim) co_return std::unexpected(std::move(claim.error()));
  auto own = co_await moved_.existing(kinds::volumes, {"", std::string(string_at(claim->spec(), {"volumeName"}))});
  if (!own) co_return std::unexpected(std::move(own.error()));
  auto given = co_await moved_.existing(kinds::volumes, {"", volume});
  if (!given) co_return std::unexpected(std::move(given.error()));
  const auto has = recorded_backing(*own), wanted = recorded_backing(*given);
  if (!has || !wanted || *has != *wanted || !liqo::core::storage::is_volume_of(*own, *claim))
    co_return kube::fail(Errc::invalid_input, "claim " + moved_.key().text() + " has PersistentVolume " +
                                                  std::string(own->name()) + ", which is not the data of " + volume +
                                                  ": liqod may be older than this command. " +
                                                  "Nothing has been deleted; the data is in " + volume);
  co_return std::move(*own);
}

asio::awaitable<Result<void>> ClaimSwitch::finish(MoveRecord record, std::string copy) {
  if (auto mine = moved_.still_mine(); !mine) co_return mine;
  auto before = co_await cluster_.find(kinds::claims, moved_.key());
  if (!before) co_return std::unexpected(std::move(before.error()));
  // While the earlier claim is there, a late pod may have begun to write, and the copy is out of date.
  if (*before && (*before)->uid() == record.uid) {
    if (auto free = co_await moved_.check_users(" since the copy was compared"); !free) {
      record.verified = false;
      if (auto noted =
              co_await moved_.note(copy, json::object{{annotations::move_record, model::write_record(record)}});
          !noted)
        co_return noted;
      co_return free;
    }
  }
  if (auto gone = co_await remove_carriers(moved_); !gone) co_return gone;
  if (auto gone = co_await remove_copy_claim(moved_, false); !gone) co_return gone;
  if (auto given = co_await give(record, copy, record.node); !given) co_return given;
  auto source = co_await cluster_.find(kinds::volumes, {"", record.source});
  if (!source) co_return std::unexpected(std::move(source.error()));
  const auto kept = *source ? liqo::core::storage::recorded_backing(**source) : std::nullopt;
  if (auto mine = moved_.still_mine(); !mine) co_return mine;
  // A later namespace of this name must not get the data.
  if (*source && moved_.asked().keep_source)
    if (auto noted = co_await moved_.note(record.source, json::object{{annotations::given_to, nullptr}}); !noted)
      co_return noted;
  if (*source && !moved_.asked().keep_source) {
    if (auto set = co_await moved_.set_policy(**source, "Delete"); !set) co_return set;
    if (auto gone = co_await moved_.wait_until_gone(kinds::volumes, {"", record.source}); !gone) co_return gone;
  }
  // The record of this move goes with the volume.
  if (auto removed = co_await moved_.remove_volume(copy); !removed) co_return removed;
  cluster_.output().success(cluster_.scope(), moved_.words() + " is now at node " + record.node);
  if (moved_.asked().keep_source && kept)
    moved_.say("what it was copied from stays: claim " + kept->key.text() + " in " + cluster_in_words(kept->cluster) +
               ", PersistentVolume " + record.source);
  co_return Result<void>();
}

asio::awaitable<Result<bool>> ClaimSwitch::resume() {
  auto volumes = co_await cluster_.list(kinds::volumes, "");
  if (!volumes) co_return std::unexpected(std::move(volumes.error()));
  for (const Object& volume : *volumes)
    if (auto record = model::read_record(volume); record && record->claim.key() == moved_.key())
      co_return co_await go_on(std::move(*record), std::string(volume.name()));
  co_return false;
}

asio::awaitable<Result<bool>> ClaimSwitch::go_on(MoveRecord record, std::string copy) {
  if (record.verified) {
    moved_.say("an earlier move to node " + record.node + " goes on: the copy was compared");
    if (auto done = co_await finish(record, copy); !done) co_return std::unexpected(std::move(done.error()));
    co_return record.node == moved_.asked().node;
  }
  auto claim = co_await cluster_.find(kinds::claims, moved_.key());
  if (!claim) co_return std::unexpected(std::move(claim.error()));
  if (!*claim || (*claim)->is_deleting() || (*claim)->uid() != record.uid) {
    moved_.say("an earlier move was interrupted before its copy was compared: the claim gets its volume back");
    if (auto gone = co_await remove_carriers(moved_); !gone) co_return std::unexpected(std::move(gone.error()));
    if (auto given = co_await give(record, record.source, record.former_node); !given)
      co_return std::unexpected(std::move(given.error()));
    // The record goes first: a crash after that leaves only a volume that nobody uses.
    if (auto forgotten = co_await moved_.forget(copy); !forgotten)
      co_return std::unexpected(std::move(forgotten.error()));
    if (auto removed = co_await moved_.remove_volume(record.source); !removed)
      co_return std::unexpected(std::move(removed.error()));
    co_return false;
  } else if (auto set = co_await moved_.set_policy(record.source, record.policy); !set) {
    co_return std::unexpected(std::move(set.error()));
  }
  if (auto forgotten = co_await moved_.forget(copy); !forgotten)
    co_return std::unexpected(std::move(forgotten.error()));
  co_return false;
}

}  // namespace liqoctl
