// Any object from another cluster, as everything that is read of one: a Pod, a Lease, an Event, a replica, a record of
// refusals. Whatever comes, what is made of it is within bounds, and can be read again.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/admission/refusal_ring.hpp"
#include "core/admission/tenant_policy.hpp"
#include "core/namespaces/namespace_mapping.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/offloading/remote_warning.hpp"
#include "core/peering/heartbeat.hpp"
#include "core/peering/replication.hpp"
#include "core/peering/silence.hpp"
#include "core/reflection/copy_warnings.hpp"
#include "kube/base/printable.hpp"

namespace {

namespace json = kube::json;
using namespace liqo::core;
using namespace std::chrono_literals;

constexpr kube::WallTime now{std::chrono::seconds(1'700'000'000)};

void check(bool holds) {
  if (!holds) std::abort();
}

kube::Object named(const char* ns, const char* name) {
  return kube::Object(json::object{{"metadata", {{"namespace", ns}, {"name", name}, {"uid", "u"}}}});
}

void read_refusals(const kube::Object& object) {
  using admission::RefusalRing;
  const RefusalRing ring = RefusalRing::read(object);
  check(ring.newest_first().size() <= RefusalRing::max_entries);
  for (const admission::RefusedObject& refused : ring.newest_first()) {
    check(refused.count > 0 && refused.reason.size() <= RefusalRing::max_reason);
    check(refused.reason == kube::one_line(refused.reason, RefusalRing::max_reason));
  }
  kube::Object written = named("liqo-tenant-rome", "liqo-refusals");
  ring.write(written);
  check(kube::string_at(written.tree(), {"data", admission::refusals_entry}).size() <= RefusalRing::max_bytes);
  check(RefusalRing::read(written).empty() == ring.empty());
}

void read_pod(const kube::Object& pod) {
  const kube::Object local = named("shop", "web");
  const auto wanted = forge_local_status({.local = local, .remote = &pod, .shadow = &pod},
                                         {.provider = "milan", .node_ip = "10.0.0.1"}, now);
  if (!wanted) return;
  // What a provider may have stored at home, and what is written beside that.
  check(json::serialize(wanted->status).size() < 512 << 10);
  if (const auto patch = status_patch(local, *wanted)) static_cast<void>(kube::Object(*patch).text());
  static_cast<void>(started_containers(local.status(), pod));
}

void read_lease(const kube::Object& lease) {
  const LeaderSight leader = read_leader(lease);
  check(leader.holder.size() <= 64 && leader.renewed.size() <= 64 && leader.duration >= 5s && leader.duration <= 60s);
  SilenceJudge judge("milan");
  const kube::TimePoint begin{1h};
  for (int second = 0; second < 120; second += 5) {
    const Moment at{begin + std::chrono::seconds(second), now + std::chrono::seconds(second)};
    judge.see({.all = {.count = 1, .oldest = Moment{begin, now}},
               .acted = {},
               .fresh = {.count = 1, .oldest = Moment{begin, now}}},
              true, at);
    if (judge.is_look_due(at.at)) judge.looked(leader, at.at, at);
  }
  check(judge.note().words.size() < 2000);
  check(silence_note(with_silence("", judge.note())).closes == judge.note().closes);
  static_cast<void>(plan_silence({.lease = lease, .tenant = lease, .now = now, .seen = now}, 1h));
}

void read_replica(const kube::Object& replica) {
  const ReplicationPeer peer{"rome", "milan", "liqo-tenant-milan", "liqo-tenant-rome"};
  const kube::Object local = named("liqo-tenant-milan", "web");
  for (const kube::Resource& kind : replicated_kinds()) {
    const ReplicationPlan plan = plan_replication(kind, {.local = &local, .remote = &replica}, peer);
    const auto* follow = std::get_if<replication_action::Follow>(&plan);
    if (follow && follow->status) check(writes_caused(kind, *follow->status) > 0);
    static_cast<void>(refuse_status(kind, replica));
  }
  const NamespaceMapping mapping = NamespaceMapping::from(liqo::api::NamespaceMap(replica));
  for (const auto& [here, there] : mapping.entries()) check(!here.empty() && !there.empty() && there.size() <= 63);
}

void read_event(const kube::Object& event) {
  const std::array<json::value, 1> events{event.tree()};
  for (const reflection::CopyWarning& warning : reflection::copy_warnings(events)) {
    check(warning.words == kube::one_line(warning.words, warning.words.size()));
    check(copy_warning_message("milan", warning).size() < 8 << 10);
  }
  check(newest_warning(events, event).size() < 8 << 10);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 65536) return -1;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string why = admission::why_unreadable(text);
  check(why.size() < 1000 && !kube::acts_on_terminals(why));
  check(admission::mending_flags(text).size() < 8 << 10);
  static_cast<void>(silence_note(text));
  const auto object = kube::Object::parse(text);
  if (!object) return 0;
  read_refusals(*object);
  read_pod(*object);
  read_lease(*object);
  static_cast<void>(silence_note(*object));
  read_replica(*object);
  read_event(*object);
  return 0;
}
