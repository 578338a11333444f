#include "twin_world.hpp"

#include <algorithm>

#include "core/common/meta.hpp"
#include "faults.hpp"
#include "kube/base/base64.hpp"
#include "kube/base/text.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "reflection_world.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using core::reflection::ReflectedKind;
using kube::Object;
using kube::ObjectKey;
using kube::testing::ChangeType;
using kube::testing::FakeChange;
using kube::testing::FakeReview;
using kube::testing::Refusal;
using kube::testing::SimLink;
using std::chrono::milliseconds;
namespace resources = kube::resources;

namespace {

/// The one at the provider that wants copies otherwise, and people there and at home.
constexpr std::string_view rival = "rival", person = "user";
constexpr std::string_view collector = "garbage-collector";
constexpr int objects_of_kind = 2;
/// How long everything may take to settle, and how long a copy stays with a rival that has gone.
constexpr kube::Duration patience = 8min, patience_for_contests = 70min;
/// How long the result is watched.
constexpr kube::Duration rest = 2min;

const std::vector<const ReflectedKind*>& kinds() {
  static const std::vector<const ReflectedKind*> all{core::reflection::find_reflected_kind("ConfigMap"),
                                                     core::reflection::find_reflected_kind("Secret"),
                                                     core::reflection::find_reflected_kind("Service"), &widgets()};
  return all;
}

bool is_widget(const ReflectedKind& kind) { return kind.resource.kind == widgets().resource.kind; }

std::string name_of_object(const ReflectedKind& kind, std::int64_t number) {
  return kube::lower_case(kind.resource.kind) + "-" + std::to_string(number);
}

/// Makes the content of an object this value.
void set_content(const ReflectedKind& kind, json::object& object, const std::string& value) {
  if (is_widget(kind))
    kube::ensure_object(object, "spec")["size"] = value;
  else if (kind.resource.kind == "Service")
    kube::ensure_object(object, "spec")["selector"] = json::object{{"app", value}};
  else
    object["data"] = json::object{{"answer", kube::encode_base64(value)}};
}

/// The content that set_content() has set.
std::string content_of(const ReflectedKind& kind, const json::object& object) {
  if (is_widget(kind)) return std::string(kube::string_at(object, {"spec", "size"}));
  if (kind.resource.kind == "Service") return std::string(kube::string_at(object, {"spec", "selector", "app"}));
  return kube::decode_base64(kube::string_at(object, {"data", "answer"})).value_or("");
}

/// Whether the entry of ownerReferences names a Namespace.
bool names_namespace(const json::value& owner) {
  return kube::string_at(owner, {"kind"}) == "Namespace" && kube::string_at(owner, {"apiVersion"}) == "v1";
}

/// The owners that a write has added.
std::vector<json::value> added_owners(const json::object* before, const json::object& after) {
  static const json::object nothing;
  const json::array& had = kube::array_at(before ? *before : nothing, {"metadata", "ownerReferences"});
  std::vector<json::value> added;
  for (const json::value& owner : kube::array_at(after, {"metadata", "ownerReferences"}))
    if (std::ranges::find(had, owner) == had.end()) added.push_back(owner);
  return added;
}

}  // namespace

TwinWorld::TwinWorld(std::uint64_t seed)
    : simulator_(seed),
      random_(seed * 2654435761u + 67),
      pairs_(random_.chance(0.3)),
      replicates_(random_.chance(0.5)),
      home_(simulator_, "rome", simulator_.random().next()),
      milan_(simulator_, "milan", simulator_.random().next()),
      grants_(simulator_, milan_.server, simulator_.random().next()),
      group_(simulator_.executor(), kube::async::TaskGroup::OnFailure::keep_others) {
  home_.server.serve(widgets().resource);
  milan_.server.serve(widgets().resource);
  controllers::Settings settings;
  settings.cluster_id = home_.id;
  settings.nodes.node_ip = "172.18.0.2";
  settings.nodes.kubelet_version = "v1.35.4";
  settings.reflection.custom_resources = {widget_resource()};
  const auto add = [&](const std::string& name) -> ProcessBox& {
    const std::map<std::string, kube::testing::FakeApiServer*> providers{{milan_.id, &milan_.server}};
    daemons_[name] =
        std::make_unique<ProcessBox>(simulator_, home_.id, home_.server, providers, settings, pairs_ ? name : "");
    return *daemons_[name];
  };
  ProcessBox& first = add("rome-a");
  if (pairs_) {
    ProcessBox& second = add("rome-b");
    first.set_rival(second);
    second.set_rival(first);
  }
  controllers::Settings theirs;
  theirs.cluster_id = milan_.id;
  theirs.namespaces.checks_owners = true;
  daemons_[milan_.id] = std::make_unique<ProcessBox>(simulator_, milan_.id, milan_.server,
                                                     std::map<std::string, kube::testing::FakeApiServer*>(), theirs);
  milan_.server.manners().manager_times = true;
  milan_.server.manners().admission = [this](const FakeReview& asked) { return review(asked); };
  milan_.server.store().on_change([this](const FakeChange& change) {
    check_owners(change);
    see_copy(change);
  });
}

void TwinWorld::note(std::string what) { log_.push_back(time_text(simulator_.clock().now()) + " " + std::move(what)); }

std::vector<SimLink*> TwinWorld::links() {
  std::vector<SimLink*> all;
  for (auto& [name, daemon] : daemons_)
    for (SimLink* link : daemon->links()) all.push_back(link);
  return all;
}

std::string TwinWorld::twin_uid() {
  const Tree twin = milan_.server.get(resources::namespaces, {"", twin_namespace(home_.id)});
  return twin ? std::string(uid_of(*twin)) : "";
}

void TwinWorld::set_up() {
  (void)home_.server.create(resources::namespaces, {{"metadata", json::object{{"name", home_namespace}}}}, person);
  if (replicates_) {
    home_.add_provider(milan_.id);
  } else {
    home_.add_offloading(milan_.id);
    home_.add_virtual_node(milan_.id, milan_.id);
  }
  add_tenant_namespace(milan_, home_.id);
  add_twin(milan_, home_.id);
  // A twin says so from the beginning: home asks a provider that does not once an hour only.
  (void)milan_.server.update(
      {resources::namespaces, {"", twin_namespace(home_.id)}},
      [](json::object& next) { kube::testing::set_annotation(next, api::annotations::checks_owners, "true"); }, person);
  for (std::ptrdiff_t i = 0; i < 2 * objects_of_kind * std::ssize(kinds()); ++i) change_object();
  const kube::testing::FaultRates faults = draw_faults(random_, 1s);
  for (SimLink* link : links()) link->set_faults(faults);
  for (auto& [name, daemon] : daemons_) daemon->start();
}

// ---- Milan -------------------------------------------------------------------------------------------------------

std::optional<Refusal> TwinWorld::review(const FakeReview& asked) {
  if (asked.actor != "liqod-" + home_.id || asked.key.ns != twin_namespace(home_.id)) return std::nullopt;
  const Tree twin = milan_.server.get(resources::namespaces, {"", asked.key.ns});
  if (!asked.before && !twin) return kube::testing::refuse::not_found("", "namespaces", asked.key.ns).error();
  if (!asked.before && is_deleting(*twin))
    return Refusal{403,
                   "Forbidden",
                   asked.kind.plural + " \"" + asked.key.name +
                       "\" is forbidden: unable to create new content in namespace " + asked.key.ns +
                       " because it is being terminated",
                   {}};
  // Webhooks do not look at custom resources.
  if (asked.kind.custom && asked.kind.group == widgets().resource.group) return std::nullopt;
  for (const json::value& owner : added_owners(asked.before, asked.after))
    if (!twin || is_deleting(*twin) || kube::string_at(owner, {"uid"}) != uid_of(*twin))
      return Refusal{403,
                     "Forbidden",
                     "admission webhook denied the request: the metadata.ownerReferences of " + asked.kind.plural +
                         " " + asked.key.name + " name a Namespace of another UID than the present one",
                     {}};
  return std::nullopt;
}

void TwinWorld::check_owners(const FakeChange& change) {
  if (change.key.ns != twin_namespace(home_.id)) return;
  const std::string where =
      change.kind->kind + " " + change.key.name + " at " + time_text(change.at) + " by " + change.actor;
  if (change.type == ChangeType::deleted) {
    if (change.actor == collector && !is_ending_)
      violations_.push_back({"no copy is collected because of its owner", where});
    return;
  }
  if (change.actor != "liqod-" + home_.id) return;
  for (const json::value& owner : added_owners(change.before.get(), *change.after))
    if (names_namespace(owner) && kube::string_at(owner, {"uid"}) != twin_uid())
      violations_.push_back({"no former twin is named as an owner", where + ": " + json::serialize(owner)});
}

void TwinWorld::see_copy(const FakeChange& change) {
  if (change.key.ns != twin_namespace(home_.id) || change.type == ChangeType::deleted || change.actor == rival) return;
  if (!contested_.contains(change.kind->kind + " " + change.key.name)) return;
  const auto kind = std::ranges::find(kinds(), std::string_view(change.kind->kind),
                                      [](const ReflectedKind* each) { return each->resource.kind; });
  if (kind == kinds().end()) return;
  simulator_.clock().call_in(milliseconds(random_.between(10, 5'000)),
                             [this, kind = *kind, key = change.key] { overwrite(*kind, key); });
}

void TwinWorld::overwrite(const ReflectedKind& kind, const ObjectKey& key) {
  const Tree copy = milan_.server.get(kind.copies(), key);
  if (!copy || is_deleting(*copy) || !contested_.contains(std::string(kind.resource.kind) + " " + key.name)) return;
  (void)milan_.server.update(
      {kind.copies(), key}, [&](json::object& next) { set_content(kind, next, "theirs"); }, rival);
}

// ---- Actions -----------------------------------------------------------------------------------------------------

asio::awaitable<void> TwinWorld::live() {
  static constexpr std::pair<int, Act> acts[] = {
      {6, &TwinWorld::change_object}, {2, &TwinWorld::replace_twin},   {3, &TwinWorld::begin_contest},
      {1, &TwinWorld::end_contest},   {4, &TwinWorld::restart_daemon}, {3, &TwinWorld::break_link},
      {2, &TwinWorld::cut_watches},   {1, &TwinWorld::compact},
  };
  kube::testing::VirtualClock& clock = simulator_.clock();
  const kube::TimePoint end = clock.now() + std::chrono::seconds(random_.between(30, 200));
  while (clock.now() < end) {
    co_await clock.sleep(milliseconds(random_.between(20, 8'000)));
    (this->*draw_act(acts, random_))();
  }
  co_await group_.join();
}

void TwinWorld::change_object() {
  const ReflectedKind& kind = *kinds()[static_cast<std::size_t>(random_.between(0, std::ssize(kinds()) - 1))];
  const ObjectKey key{std::string(home_namespace), name_of_object(kind, random_.between(0, objects_of_kind - 1))};
  const std::string value = "v" + std::to_string(next_value_++);
  if (home_.server.get(kind.resource, key) && random_.chance(0.3)) {
    note(key.name + " is deleted at home");
    (void)home_.server.remove(kind.resource, key, {}, person);
    return;
  }
  note(key.name + " is " + value + " at home");
  if (home_.server.get(kind.resource, key)) {
    (void)home_.server.update(
        {kind.resource, key}, [&](json::object& next) { set_content(kind, next, value); }, person);
    return;
  }
  json::object object{{"metadata", json::object{{"name", key.name}, {"namespace", key.ns}}}};
  kube::testing::set_annotation(object, api::annotations::allow_reflection, "true");
  if (kind.resource.kind == "Secret") object["type"] = "Opaque";
  if (kind.resource.kind == "Service")
    object["spec"] = json::object{
        {"type", "ClusterIP"},
        {"clusterIP", "10.96.0.7"},
        {"ports",
         json::array{json::object{{"name", "http"}, {"protocol", "TCP"}, {"port", 80}, {"targetPort", 8080}}}}};
  set_content(kind, object, value);
  (void)home_.server.create(kind.resource, std::move(object), person);
}

void TwinWorld::replace_twin() {
  if (!is_ending_ && !twin_uid().empty()) group_.spawn(delete_twin());
}

asio::awaitable<void> TwinWorld::delete_twin() {
  const ObjectKey key{"", twin_namespace(home_.id)};
  is_ending_ = was_replaced_ = true;
  note("the twin is deleted in milan");
  (void)milan_.server.update(
      {resources::namespaces, key},
      [](json::object& next) {
        kube::ensure_object(next, "metadata")["finalizers"] = json::array{json::value("kubernetes")};
      },
      person);
  (void)milan_.server.remove(resources::namespaces, key, {}, person);
  co_await simulator_.clock().sleep(milliseconds(random_.between(10, 5'000)));
  for (const auto& [name, table] : milan_.server.store().tables()) {
    const auto& kind = table.kind;
    std::vector<ObjectKey> left;
    for (const auto& [object, tree] : table.objects)
      if (object.ns == key.name) left.push_back(object);
    for (const ObjectKey& object : left)
      (void)milan_.server.remove({kind.group, kind.version, kind.plural, kind.kind}, object,
                                 {.grace_period_seconds = 0}, "namespace-controller");
  }
  (void)milan_.server.update(
      {resources::namespaces, key},
      [](json::object& next) { kube::ensure_object(next, "metadata").erase("finalizers"); }, person);
  note("the twin is gone");
  // What named it as its owner is gone, too, so the garbage collector finds nothing.
  is_ending_ = false;
}

void TwinWorld::begin_contest() {
  const ReflectedKind& kind = *kinds()[static_cast<std::size_t>(random_.between(0, std::ssize(kinds()) - 1))];
  const ObjectKey key{twin_namespace(home_.id), name_of_object(kind, random_.between(0, objects_of_kind - 1))};
  if (!contested_.insert(std::string(kind.resource.kind) + " " + key.name).second) return;
  note("a rival begins to write " + key.name + " in milan");
  overwrite(kind, key);
}

void TwinWorld::end_contest() {
  if (contested_.empty()) return;
  note("the rival leaves " + *contested_.begin() + " alone");
  left_.insert(contested_.extract(contested_.begin()));
}

void TwinWorld::restart_daemon() {
  auto chosen = daemons_.begin();
  std::advance(chosen, random_.between(0, static_cast<std::int64_t>(daemons_.size()) - 1));
  group_.spawn(
      restart(chosen->first, random_.chance(0.6), milliseconds(random_.chance(0.5) ? 0 : random_.between(0, 20'000))));
}

asio::awaitable<void> TwinWorld::restart(std::string name, bool killed, kube::Duration downtime) {
  ProcessBox& daemon = *daemons_.at(name);
  if (!daemon.is_running()) co_return;
  note((killed ? "kill liqod " : "stop liqod ") + name);
  co_await daemon.stop(killed);
  co_await simulator_.clock().sleep(downtime);
  note("start liqod " + name);
  daemon.start();
}

void TwinWorld::break_link() {
  const auto all = links();
  SimLink* link = all[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(all.size()) - 1))];
  note("partition of a link of " + link->actor());
  group_.spawn(outage(link, milliseconds(random_.between(1'000, 60'000))));
}

asio::awaitable<void> TwinWorld::outage(SimLink* link, kube::Duration length) {
  link->partition();
  co_await simulator_.clock().sleep(length);
  link->heal();
}

void TwinWorld::cut_watches() {
  note("all watches break");
  for (SimLink* link : links()) link->cut_watches();
}

void TwinWorld::compact() {
  note("all servers compact");
  for (Cluster* cluster : {&home_, &milan_}) cluster->server.store().compact(cluster->server.store().version());
}

// ---- Checks ------------------------------------------------------------------------------------------------------

void TwinWorld::calm_down() {
  for (SimLink* link : links()) {
    link->set_faults({});
    link->heal();
  }
  note("everything heals");
}

std::string TwinWorld::compare(const ReflectedKind& kind, const Object& local) {
  const std::string title = std::string(kind.resource.kind) + " " + std::string(local.name());
  const Tree there = milan_.server.get(kind.copies(), {twin_namespace(home_.id), std::string(local.name())});
  if (!there) return title + " has no copy";
  const bool is_theirs = contested_.contains(title);
  const std::string wanted = is_theirs ? "theirs" : content_of(kind, local.tree());
  // One that was given up stays theirs for an hour.
  if (const std::string have = content_of(kind, *there); have != wanted && !(have == "theirs" && left_.contains(title)))
    return (is_theirs ? "contest: " : "") + title + " is " + have + ", not " + wanted;
  const json::array& owners = kube::array_at(*there, {"metadata", "ownerReferences"});
  // While there is no twin, none is named, and the write may arrive in the next one.
  if (owners.empty() && was_replaced_) return "";
  if (owners.size() != 1 || kube::string_at(owners[0], {"uid"}) != twin_uid())
    return title + " has the owners " + json::serialize(owners) + ", not " + twin_uid();
  return "";
}

std::string TwinWorld::find_difference() {
  int leaders = 0;
  for (auto& [name, daemon] : daemons_) {
    if (!daemon->is_running()) return name + " is not running";
    leaders += daemon->cluster() == home_.id && daemon->leads();
    if (daemon->leads() && !daemon->process()->has_synced()) return name + " has incomplete caches";
  }
  if (leaders != 1) return std::to_string(leaders) + " processes lead";
  if (twin_uid().empty()) return "there is no twin";
  for (const ReflectedKind* kind : kinds()) {
    for (const Tree& local : home_.server.list(kind->resource, home_namespace))
      if (auto difference = compare(*kind, Object(*local)); !difference.empty()) return difference;
    for (const Tree& there : milan_.server.list(kind->copies(), twin_namespace(home_.id)))
      if (core::is_reflected(Object(*there), {.local = home_.id, .remote = milan_.id}) &&
          !home_.server.get(kind->resource, {std::string(home_namespace), std::string(name_of(*there))}))
        return std::string(kind->resource.kind) + " " + std::string(name_of(*there)) + " is left over";
  }
  return "";
}

std::vector<std::string> TwinWorld::list_writes(kube::TimePoint after) {
  std::vector<std::string> writes;
  for (Cluster* cluster : {&home_, &milan_})
    for (const kube::testing::FakeWrite& write : cluster->server.writes())
      if (write.at > after && write.plural != "leases" && write.plural != "nodes" && write.plural != "events")
        writes.push_back(write.method + " " + write.plural + " " + write.key.text() + " by " + write.actor + " in " +
                         cluster->id + ": " + std::to_string(write.code));
  return writes;
}

bool TwinWorld::converges(kube::Duration limit) {
  std::string difference;
  for (kube::Duration waited{}; waited < limit; waited += 10s) {
    simulator_.run_for(10s);
    difference = find_difference();
    if (difference.empty()) return true;
  }
  violations_.push_back({"everything converges", difference});
  return false;
}

void TwinWorld::check_quiet() {
  // A look that was put off changes nothing, but may come two minutes later.
  simulator_.run_for(3min);
  const kube::TimePoint settled = simulator_.clock().now();
  simulator_.run_for(rest);
  if (const auto writes = list_writes(settled); !writes.empty())
    violations_.push_back({"what has converged, or is given up, is quiet",
                           std::to_string(writes.size()) + " writes at rest, first " + writes[0]});
  if (const auto difference = find_difference(); !difference.empty())
    violations_.push_back({"everything converges", "and stays: " + difference});
}

void TwinWorld::check_end() {
  for (auto& [name, daemon] : daemons_)
    if (!daemon->crash().empty()) violations_.push_back({"liqod never ends by itself", name + " " + daemon->crash()});
  if (!converges(patience)) return;
  check_quiet();
  // That takes an hour.
  if ((contested_.empty() && left_.empty()) || !violations_.empty() || random_.chance(0.8)) return;
  note("the rival leaves all copies alone");
  contested_.clear();
  left_.clear();
  if (converges(patience_for_contests)) check_quiet();
}

std::vector<Violation> TwinWorld::run() {
  set_up();
  try {
    simulator_.run(live(), 2h);
  } catch (const std::exception& error) {
    violations_.push_back({"every process can be restarted", error.what()});
    return std::move(violations_);
  }
  calm_down();
  check_end();
  for (auto& [name, daemon] : daemons_)
    for (Violation& violation : daemon->check_requests()) violations_.push_back(std::move(violation));
  for (const std::string& name : stop_all(simulator_, daemons_))
    violations_.push_back({"every process can be stopped", name + " does not end"});
  return std::move(violations_);
}

}  // namespace liqo::sim
