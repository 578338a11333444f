#include "core/storage/volume.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "model/findings.hpp"
#include "volumes/mover.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
namespace resources = kube::resources;
using kube::Errc;
using kube::string_at;
using liqo::api::phase_of;
using model::Carrier;

/// How often the data is copied when connections are cut.
constexpr int max_attempts = 5;

}  // namespace

asio::awaitable<Result<void>> Mover::carry() {
  if (auto gone = co_await remove_carriers(); !gone) co_return gone;
  if (auto made = co_await make_copy_claim(); !made) co_return made;
  // At a provider the copy already has the name of the claim, by which pods find it.
  const std::string to = target_.empty() ? copy_key().name : asked_.claim;
  if (auto made = co_await make_carrier(Carrier::reads, asked_.claim, source_node_); !made) co_return made;
  if (auto made = co_await make_carrier(Carrier::writes, to, asked_.node); !made) co_return made;
  for (const Carrier carrier : {Carrier::reads, Carrier::writes})
    if (auto runs = co_await wait_for_carrier(carrier); !runs) co_return runs;
  auto before = co_await state();
  if (!before) co_return std::unexpected(std::move(before.error()));
  if (auto copied = co_await copy(); !copied) co_return copied;
  if (auto locked = co_await lock(); !locked) co_return locked;
  auto after = co_await state();
  if (!after) co_return std::unexpected(std::move(after.error()));
  if (*before != *after) {
    say("files have changed since the copy was begun: they are copied again");
    if (auto copied = co_await copy(); !copied) co_return copied;
    auto at_last = co_await state();
    if (!at_last) co_return std::unexpected(std::move(at_last.error()));
    if (*after != *at_last)
      co_return kube::fail(Errc::invalid_input, "files of " + words() + " go on changing: end what writes to them");
  }
  if (auto mine = still_mine(); !mine) co_return mine;
  record_.verified = true;
  co_return co_await note(copy_, json::object{{annotations::move_record, model::write_record(record_)}});
}

asio::awaitable<Result<void>> Mover::make_copy_claim() {
  auto found = co_await cluster_.find(kinds::claims, copy_key());
  if (!found) co_return std::unexpected(std::move(found.error()));
  if (*found && (*found)->annotation(annotations::moves_claim) != asked_.claim)
    co_return kube::fail(Errc::invalid_input, "there is a claim " + copy_key().text() + " of somebody else: remove it");
  if (*found && ((*found)->annotation(annotations::selected_node) != asked_.node || (*found)->is_deleting())) {
    if (auto gone = co_await remove_copy_claim(true); !gone) co_return gone;
    found->reset();
  }
  if (!*found) {
    auto made = co_await cluster_.create(kinds::claims, model::forge_temporary_claim(claim_, asked_.node));
    if (!made) co_return kube::fail(std::move(made.error()), "making the claim for the copy");
  }
  if (auto bound = co_await wait_for_copy_volume(); !bound) co_return bound;
  auto claim = co_await existing(kinds::claims, copy_key());
  if (!claim) co_return std::unexpected(std::move(claim.error()));
  copy_ = string_at(claim->spec(), {"volumeName"});
  auto volume = co_await existing(kinds::volumes, {"", copy_});
  if (!volume) co_return std::unexpected(std::move(volume.error()));
  const auto backing = liqo::core::storage::recorded_backing(*volume);
  if (!backing || backing->cluster != target_ || !liqo::core::storage::is_volume_of(*volume, *claim))
    co_return kube::fail(Errc::invalid_input, "PersistentVolume " + copy_ + " is not the one that liqod has made for " +
                                                  "the copy in " + cluster_in_words(target_));
  co_return Result<void>();
}

asio::awaitable<Result<void>> Mover::wait_for_copy_volume() {
  std::string uid;
  // Both live in this frame until the last probe has ended.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const std::function<asio::awaitable<Result<Look>>()> probe = [&]() -> asio::awaitable<Result<Look>> {
    auto claim = co_await cluster_.find(kinds::claims, copy_key());
    if (!claim) co_return std::unexpected(std::move(claim.error()));
    uid = *claim ? (*claim)->uid() : "";
    if (*claim && phase_of(**claim) == "Bound") co_return Look{.done = true};
    co_return Look{.seen = "it has no volume"};
  };
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const Reason reason = [&]() -> asio::awaitable<std::string> {
    std::string said = co_await last_warning(cluster_, {.resource = kinds::claims, .key = copy_key()}, uid);
    if (!target_.empty() || uid.empty()) co_return said;
    // In this cluster the claim that is to hold the data has the name of that UID. Whoever is to make its volume says
    // long before liqod does why there is none.
    auto events = co_await cluster_.list(
        resources::events, "", "", "type=Warning,involvedObject.kind=PersistentVolumeClaim,involvedObject.name=" + uid);
    const std::string why = events ? model::newest_of_all(*events) : "";
    if (why.empty()) co_return said;
    co_return (said.empty() ? "" : said + "; ") + "the claim " + uid +
        ", which is to hold the data, has no volume: " + why;
  };
  co_return co_await wait_for(cluster_, {.what = "a volume in " + cluster_in_words(target_), .deadline = soon()}, probe,
                              reason);
}

asio::awaitable<Result<void>> Mover::remove_copy_claim(bool with_data) {
  auto claim = co_await cluster_.find(kinds::claims, copy_key());
  if (!claim) co_return std::unexpected(std::move(claim.error()));
  if (!*claim) co_return Result<void>();
  const std::string volume(string_at((*claim)->spec(), {"volumeName"}));
  bool goes = false;
  if (with_data && !volume.empty()) {
    auto found = co_await cluster_.find(kinds::volumes, {"", volume});
    if (!found) co_return std::unexpected(std::move(found.error()));
    // Whoever may make claims can make this one name any volume of the cluster.
    goes = *found && liqo::core::storage::is_volume_of(**found, **claim);
    if (goes)
      if (auto set = co_await set_policy(**found, "Delete"); !set) co_return set;
  }
  auto removed = co_await cluster_.remove(kinds::claims, copy_key(), {.uid = std::string((*claim)->uid())});
  if (!removed) co_return std::unexpected(std::move(removed.error()));
  if (auto gone = co_await wait_until_gone(kinds::claims, copy_key()); !gone) co_return gone;
  if (goes) co_return co_await wait_until_gone(kinds::volumes, {"", volume});
  co_return Result<void>();
}

asio::awaitable<Result<void>> Mover::make_carrier(Carrier carrier, std::string claim, std::string node) {
  const kube::Duration left = session_.deadline().at - cluster_.clock().now() + std::chrono::minutes(1);
  auto made = co_await cluster_.create(
      resources::pods,
      model::forge_carrier({.key = key_of(carrier),
                            .claim = std::move(claim),
                            .node = std::move(node),
                            .image = image_,
                            .carrier = carrier,
                            .seconds = std::chrono::duration_cast<std::chrono::seconds>(left).count()}));
  if (!made) co_return kube::fail(std::move(made.error()), "making a pod that carries the data");
  co_return Result<void>();
}

asio::awaitable<Result<void>> Mover::wait_for_carrier(Carrier carrier) {
  std::string ended;
  const std::function<Look(const Object*)> look = [&ended](const Object* pod) {
    if (!pod) return Look{.seen = "it is not there"};
    if (ended = model::why_ended(*pod); !ended.empty()) return Look{.done = true};
    for (const json::value& status : kube::array_at(pod->status(), {"containerStatuses"})) {
      if (kube::bool_at(status, {"ready"}) && phase_of(*pod) == "Running") return Look{.done = true};
      if (const auto why = string_at(status, {"state", "waiting", "reason"}); !why.empty())
        return Look{.seen = kube::printable(why)};
    }
    return Look{.seen = "phase " + std::string(phase_of(*pod))};
  };
  auto runs = co_await wait_for_object(
      cluster_, {.what = "pod " + key_of(carrier).text() + " to run image " + image_, .deadline = soon()},
      {.resource = resources::pods, .key = key_of(carrier), .blame = Blame::warnings}, look);
  if (!runs || ended.empty()) co_return runs;
  co_return kube::fail(Errc::closed,
                       "pod " + key_of(carrier).text() + ", which was to carry the data, has ended: " + ended);
}

asio::awaitable<Result<void>> Mover::remove_carriers() {
  for (const Carrier carrier : {Carrier::reads, Carrier::writes}) {
    auto removed = co_await cluster_.remove(resources::pods, key_of(carrier));
    if (!removed) co_return std::unexpected(std::move(removed.error()));
  }
  for (const Carrier carrier : {Carrier::reads, Carrier::writes})
    if (auto gone = co_await wait_until_gone(resources::pods, key_of(carrier)); !gone) co_return gone;
  co_return Result<void>();
}

RemoteProgram Mover::program(Carrier carrier, std::vector<std::string> words) const {
  std::vector<std::string> command{"/usr/bin/liqoctl", "volume"};
  command.insert(command.end(), words.begin(), words.end());
  command.emplace_back(model::volume_directory);
  return {key_of(carrier), std::move(command)};
}

asio::awaitable<Result<std::string>> Mover::state() {
  auto state = co_await run_program(cluster_, session_.deadline(), program(Carrier::reads, {"state"}));
  for (int attempt = 1; !state && state.error().code() == Errc::closed && attempt < max_attempts; ++attempt)
    state = co_await run_program(cluster_, session_.deadline(), program(Carrier::reads, {"state"}));
  if (!state) co_return kube::fail(std::move(state.error()), "looking at the files of " + words());
  co_return state;
}

asio::awaitable<Result<void>> Mover::copy() {
  for (int attempt = 1;; ++attempt) {
    auto copied = co_await copy_once();
    if (copied || copied.error().code() != Errc::closed || attempt == max_attempts) co_return copied;
    cluster_.output().warn(cluster_.scope(), copied.error().text() + "; it is copied again");
  }
}

asio::awaitable<Result<void>> Mover::copy_once() {
  Output& output = cluster_.output();
  const std::string what = "copying " + words() + " to " + cluster_in_words(target_);
  output.doing(cluster_.scope(), what);
  std::uint64_t shown = 0;
  const auto seen = [&](std::uint64_t bytes) {
    if (bytes - shown < 16U << 20) return;
    shown = bytes;
    output.doing(cluster_.scope(), what + ": " + std::to_string(bytes >> 20) + " MiB");
  };
  auto kept = co_await pipe_program(
      cluster_, session_.deadline(),
      {.from = program(Carrier::reads, {"send"}), .to = program(Carrier::writes, {"receive"}), .seen = seen});
  if (!kept) co_return kube::fail(std::move(kept.error()), "copying " + words());
  std::vector<std::string> list{"list"};
  for (const auto& [flag, what_not] : {std::pair<std::string, std::string>{"--without-owners", "owners"},
                                       std::pair<std::string, std::string>{"--without-modes", "permissions"}})
    if (kept->contains(flag)) {
      list.push_back(flag);
      output.warn(cluster_.scope(), "the volume at the target does not keep the " + what_not + " of files");
    }
  output.doing(cluster_.scope(), "comparing the copy with " + words());
  auto compared = co_await compare_programs(cluster_, session_.deadline(), program(Carrier::reads, list),
                                            program(Carrier::writes, list));
  if (!compared) co_return kube::fail(std::move(compared.error()), "comparing the copy with " + words());
  say("copied, and compared " + model::counted(*compared, "file or directory", "files and directories"));
  co_return Result<void>();
}

}  // namespace liqoctl
