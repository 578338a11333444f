#include "controllers/offloading/pod_status_writer.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/common/digest.hpp"
#include "core/offloading/left_out.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/reasons.hpp"
#include "telemetry/families.hpp"

namespace liqo::controllers {
namespace {

namespace reasons = api::reasons;

/// Buckets in seconds: from a pod whose image is on the machine to one with a large image.
const std::vector<double> start_time_bounds{1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800};

/// Stands for the number of reported things: nothing more is reported of this pod.
constexpr std::size_t reported_enough = std::numeric_limits<std::size_t>::max();

/// The digest of a status, and the patch for it.
std::string difference_digest(const kube::Object& pod, const kube::json::object& patch) {
  return core::digest_hex(kube::json::serialize(patch) + kube::json::serialize(pod.status()));
}

}  // namespace

PodStatusWriter::PodStatusWriter(OffloadingNode& node)
    : node_(node),
      start_times_(node.context.metrics.histogram(
          families::pod_start, {{"cluster_id", node.forging.clusters.remote}, {"node_name", node.forging.node_name}},
          start_time_bounds)),
      log_(kube::Log("pod").with("cluster", node.forging.clusters.remote).with("node", node.forging.node_name)) {}

bool PodStatusWriter::set_addresses(core::PeerAddresses addresses) {
  if (addresses_ == addresses) return false;
  addresses_ = std::move(addresses);
  reported_address_left_out_ = false;
  return true;
}

void PodStatusWriter::note_start(const kube::Object& shown) {
  RememberedPod* known = node_.memory.find(shown);
  if (!known || !known->bound || kube::string_at(shown.status(), {"phase"}) != "Running") return;
  const kube::WallTime bound = *std::exchange(known->bound, std::nullopt);
  start_times_.observe(std::max(0.0, std::chrono::duration<double>(node_.context.clock.wall() - bound).count()));
}

asio::awaitable<kube::Result<void>> PodStatusWriter::write(const kube::Object& local, core::WantedStatus wanted) {
  auto body = plan(local, wanted);
  if (!body) co_return kube::Result<void>();
  co_await node_.budget.home_writes.take({.bytes = stored_bytes(*node_.local_pods, local.key(), body->size())});
  co_return co_await send(local, wanted, std::move(*body));
}

std::optional<std::string> PodStatusWriter::plan(const kube::Object& local, const core::WantedStatus& wanted) {
  auto patch = core::status_patch(local, wanted);
  if (!patch) return std::nullopt;
  if (const RememberedPod* known = node_.memory.find(local);
      known && !known->not_taken.empty() && known->not_taken == difference_digest(local, *patch))
    return std::nullopt;
  // The patch is a difference from the state in the cache: a request that was long under way must not undo a later one.
  (*patch)["metadata"].as_object()["resourceVersion"] = local.resource_version();
  return kube::json::serialize(*patch);
}

kube::Duration PodStatusWriter::take_turn(const kube::Object& local, std::size_t patch_bytes) {
  const kube::ObjectKey key = local.key();
  const std::size_t bytes = stored_bytes(*node_.local_pods, key, patch_bytes);
  RememberedPod& memory = node_.memory.of(key, local.uid());
  const kube::TimePoint now = node_.context.clock.now();
  if (!memory.status_turn || bytes > memory.status_bytes) {
    memory.status_turn = now + node_.budget.home_writes.reserve({.bytes = bytes});
    memory.status_bytes = bytes;
  }
  if (now < *memory.status_turn) return *memory.status_turn - now;
  memory.status_turn.reset();
  return kube::Duration::zero();
}

asio::awaitable<kube::Result<void>> PodStatusWriter::send(const kube::Object& local, const core::WantedStatus& wanted,
                                                          std::string body) {
  auto patched = co_await node_.context.home.api().patch(
      kube::resources::pods, local.key(), {kube::PatchType::strategic_merge, body}, {.subresource = "status"});
  if (patched) {
    note_start(*patched);
    for (const std::string& name : core::started_containers(local.status(), *patched))
      if (node_.budget.best_effort.try_take())
        node_.context.events.routine(*patched, kube::resources::pods, "Started",
                                     "container " + name + " started in cluster " + node_.cluster());
    const auto left = core::status_patch(*patched, wanted);
    if (RememberedPod* known = node_.memory.find(*patched))
      known->not_taken = left ? difference_digest(*patched, *left) : std::string();
    node_.local_pods->observe(std::move(*patched));
    co_return kube::Result<void>();
  }
  if (patched.error().is_not_found()) co_return kube::Result<void>();
  co_return kube::fail(std::move(patched.error()), "writing the pod's status");
}

void PodStatusWriter::report_left_out(const kube::Object& local, const kube::Object& remote) {
  auto& reported = node_.memory.of(local).reported_left_out;
  if (reported == reported_enough) return;
  const auto things = core::left_out_of(local, remote);
  // The local pod records which remote pod it shows, so a restart of this process does not repeat the Event.
  if (!reported) reported = local.annotation(api::annotations::remote_pod_uid) == remote.uid() ? things.size() : 0;
  // The provider notes fields that its API server did not store once the pod exists. They are reported once more, and
  // no provider can add to them without end.
  if (things.size() <= *reported) return;
  reported = *reported == 0 ? things.size() : reported_enough;
  node_.warn(local, reasons::left_out, core::describe_left_out(things, node_.cluster()));
}

void PodStatusWriter::report_address_left_out(const kube::Object& local, const std::string& address) {
  if (std::exchange(reported_address_left_out_, true)) return;
  const std::string message = "cluster " + node_.cluster() + " reports address " + address +
                              " of this pod, which is left out: " + addresses_->words() +
                              ". If it is right, declare its range, too (" +
                              std::string(api::annotations::remote_pod_cidrs) + " of the ForeignCluster).";
  log_.warn("an address is left out", {{"pod", local.key()}, {"address", address}});
  node_.warn(local, reasons::address_left_out, message);
}

}  // namespace liqo::controllers
