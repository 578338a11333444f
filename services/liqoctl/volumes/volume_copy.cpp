#include "volumes/volume_copy.hpp"

#include <chrono>
#include <functional>
#include <utility>

#include "core/storage/volume.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "model/findings.hpp"
#include "session/wait.hpp"
#include "volumes/move_leftovers.hpp"

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

/// The most attempts at copying the data when connections are cut.
constexpr int max_attempts = 5;

}  // namespace

asio::awaitable<Result<void>> VolumeCopy::begin() {
  KUBE_CO_TRYV(co_await remove_carriers(moved_));
  KUBE_CO_TRYV(co_await make_claim());
  const std::string& claim = moved_.asked().claim;
  // At a provider, the claim of the copy already has the moved claim's name, by which pods find it.
  const std::string to = move_.target.empty() ? moved_.copy_key().name : claim;
  KUBE_CO_TRYV(co_await make_carrier(Carrier::reads, claim, move_.source_node));
  KUBE_CO_TRYV(co_await make_carrier(Carrier::writes, to, moved_.asked().node));
  for (const Carrier carrier : {Carrier::reads, Carrier::writes}) KUBE_CO_TRYV(co_await wait_for_carrier(carrier));
  co_return Result<void>();
}

asio::awaitable<Result<void>> VolumeCopy::make_claim() {
  KUBE_CO_TRY(found, co_await cluster_.find(kinds::claims, moved_.copy_key()));
  if (found && found->annotation(annotations::moves_claim) != moved_.asked().claim)
    co_return kube::fail(Errc::invalid_input,
                         "there is a claim " + moved_.copy_key().text() + " of somebody else: remove it");
  if (found && (found->annotation(annotations::selected_node) != moved_.asked().node || found->is_deleting())) {
    KUBE_CO_TRYV(co_await remove_copy_claim(moved_, true));
    found.reset();
  }
  if (!found) {
    KUBE_CO_TRYV(
        co_await cluster_.create(kinds::claims, model::forge_temporary_claim(move_.claim, moved_.asked().node)),
        "making the claim for the copy");
  }
  KUBE_CO_TRYV(co_await wait_for_volume());
  KUBE_CO_TRY(claim, co_await moved_.existing(kinds::claims, moved_.copy_key()));
  volume_ = string_at(claim.spec(), {"volumeName"});
  KUBE_CO_TRY(volume, co_await moved_.existing(kinds::volumes, {"", volume_}));
  const auto backing = liqo::core::storage::recorded_backing(volume);
  if (!backing || backing->cluster != move_.target || !liqo::core::storage::is_volume_of(volume, claim))
    co_return kube::fail(Errc::invalid_input, "PersistentVolume " + volume_ +
                                                  " is not the one that liqod has made for the copy in " +
                                                  cluster_in_words(move_.target));
  co_return Result<void>();
}

asio::awaitable<Result<void>> VolumeCopy::wait_for_volume() {
  std::string uid;
  // Both live in this frame until the last probe has ended.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const std::function<asio::awaitable<Result<WaitState>>()> probe = [&]() -> asio::awaitable<Result<WaitState>> {
    KUBE_CO_TRY(claim, co_await cluster_.find(kinds::claims, moved_.copy_key()));
    uid = claim ? claim->uid() : "";
    if (claim && phase_of(*claim) == "Bound") co_return WaitState{.done = true};
    co_return WaitState{.seen = "it has no volume"};
  };
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const Reason reason = [&]() -> asio::awaitable<std::string> {
    std::string said = co_await last_warning(cluster_, {.resource = kinds::claims, .key = moved_.copy_key()}, uid);
    if (!move_.target.empty() || uid.empty()) co_return said;
    // In this cluster, the claim that will hold the data is named by that UID. The provisioner of its volume reports
    // why there is none long before liqod does.
    auto events = co_await cluster_.list(
        resources::events, "", "", "type=Warning,involvedObject.kind=PersistentVolumeClaim,involvedObject.name=" + uid);
    const std::string why = events ? model::newest_of_all(*events) : "";
    if (why.empty()) co_return said;
    co_return (said.empty() ? "" : said + "; ") + "the claim " + uid +
        ", which is to hold the data, has no volume: " + why;
  };
  co_return co_await wait_for(
      cluster_, {.what = "a volume in " + cluster_in_words(move_.target), .deadline = moved_.soon()}, probe, reason);
}

asio::awaitable<Result<void>> VolumeCopy::make_carrier(Carrier carrier, std::string claim, std::string node) {
  const kube::Duration left = moved_.deadline().at - cluster_.clock().now() + std::chrono::minutes(1);
  KUBE_CO_TRYV(co_await cluster_.create(
                   resources::pods,
                   model::forge_carrier({.key = moved_.carrier_key(carrier),
                                         .claim = std::move(claim),
                                         .node = std::move(node),
                                         .image = move_.image,
                                         .carrier = carrier,
                                         .seconds = std::chrono::duration_cast<std::chrono::seconds>(left).count()})),
               "making a pod that carries the data");
  co_return Result<void>();
}

asio::awaitable<Result<void>> VolumeCopy::wait_for_carrier(Carrier carrier) {
  std::string ended;
  const std::function<WaitState(const Object*)> look = [&ended](const Object* pod) {
    if (!pod) return WaitState{.seen = "it is not there"};
    if (ended = model::why_ended(*pod); !ended.empty()) return WaitState{.done = true};
    for (const json::value& status : kube::array_at(pod->status(), {"containerStatuses"})) {
      if (kube::bool_at(status, {"ready"}) && phase_of(*pod) == "Running") return WaitState{.done = true};
      if (const auto why = string_at(status, {"state", "waiting", "reason"}); !why.empty())
        return WaitState{.seen = kube::printable(why)};
    }
    return WaitState{.seen = "phase " + std::string(phase_of(*pod))};
  };
  auto runs = co_await wait_for_object(
      cluster_,
      {.what = "pod " + moved_.carrier_key(carrier).text() + " to run image " + move_.image, .deadline = moved_.soon()},
      {.resource = resources::pods, .key = moved_.carrier_key(carrier), .blame = Blame::warnings}, look);
  if (!runs || ended.empty()) co_return runs;
  co_return kube::fail(
      Errc::closed, "pod " + moved_.carrier_key(carrier).text() + ", which was to carry the data, has ended: " + ended);
}

RemoteProgram VolumeCopy::program(Carrier carrier, std::vector<std::string> words) const {
  std::vector<std::string> command{"/usr/bin/liqoctl", "volume"};
  command.insert(command.end(), words.begin(), words.end());
  command.emplace_back(model::volume_directory);
  return {moved_.carrier_key(carrier), std::move(command)};
}

asio::awaitable<Result<std::string>> VolumeCopy::state() {
  auto state = co_await run_program(cluster_, moved_.deadline(), program(Carrier::reads, {"state"}));
  for (int attempt = 1; !state && state.error().code() == Errc::closed && attempt < max_attempts; ++attempt)
    state = co_await run_program(cluster_, moved_.deadline(), program(Carrier::reads, {"state"}));
  KUBE_CO_TRY(seen, std::move(state), "looking at the files of " + moved_.words());
  co_return std::move(seen);
}

asio::awaitable<Result<void>> VolumeCopy::copy() {
  for (int attempt = 1;; ++attempt) {
    auto copied = co_await copy_once();
    if (copied || copied.error().code() != Errc::closed || attempt == max_attempts) co_return copied;
    cluster_.output().warn(cluster_.scope(), copied.error().text() + "; it is copied again");
  }
}

asio::awaitable<Result<void>> VolumeCopy::copy_once() {
  Output& output = cluster_.output();
  const std::string what = "copying " + moved_.words() + " to " + cluster_in_words(move_.target);
  output.doing(cluster_.scope(), what);
  std::uint64_t shown = 0;
  const auto seen = [&](std::uint64_t bytes) {
    if (bytes - shown < 16U << 20) return;
    shown = bytes;
    output.doing(cluster_.scope(), what + ": " + std::to_string(bytes >> 20) + " MiB");
  };
  KUBE_CO_TRY(
      kept,
      co_await pipe_program(
          cluster_, moved_.deadline(),
          {.from = program(Carrier::reads, {"send"}), .to = program(Carrier::writes, {"receive"}), .seen = seen}),
      "copying " + moved_.words());
  std::vector<std::string> list{"list"};
  for (const auto& [flag, what_not] : {std::pair<std::string, std::string>{"--without-owners", "owners"},
                                       std::pair<std::string, std::string>{"--without-modes", "permissions"}})
    if (kept.contains(flag)) {
      list.push_back(flag);
      output.warn(cluster_.scope(), "the volume at the target does not keep the " + what_not + " of files");
    }
  output.doing(cluster_.scope(), "comparing the copy with " + moved_.words());
  KUBE_CO_TRY(compared,
              co_await compare_programs(cluster_, moved_.deadline(), program(Carrier::reads, list),
                                        program(Carrier::writes, list)),
              "comparing the copy with " + moved_.words());
  moved_.log("copied, and compared " + model::counted(compared, "file or directory", "files and directories"));
  co_return Result<void>();
}

}  // namespace liqoctl
