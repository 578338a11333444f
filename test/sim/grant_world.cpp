#include "grant_world.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "controllers/common/home_names.hpp"
#include "controllers/offloading/shadow_pod.hpp"
#include "controllers/offloading/unaccounted_pods.hpp"
#include "controllers/peering/tenant.hpp"
#include "controllers/peering/tenant_namespace.hpp"
#include "controllers/slices/slice_grant.hpp"
#include "core/common/late_requests.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "faults.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/task_group.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using core::QuotaVerdict;
using kube::testing::ChangeType;
namespace kinds = api::kinds;
namespace resources = kube::resources;

namespace {

constexpr std::string_view tenants_home = "liqo-tenant-rome", twin = "shop-rome";
constexpr std::int64_t bound = 10;        // cores, of the consumer as a whole
constexpr std::int64_t drain_grace = 60;  // seconds, of its pods
constexpr std::array<std::string_view, 3> slices = {"a", "b", "c"};
/// The pause between one leader and the next.
constexpr kube::Duration interregnum = 5s;

std::int64_t cores_of(const json::object& spec) {
  std::int64_t cores = 0;
  for (const json::value& container : kube::array_at(spec, {"containers"}))
    cores += std::stoll(std::string(kube::string_at(container, {"resources", "requests", "cpu"})));
  return cores;
}

std::int64_t granted_cores(const json::object& quota) {
  const std::string_view text = kube::string_at(quota, {"spec", "resources", "cpu"});
  return text.empty() ? 0 : std::stoll(std::string(text));
}

std::string named(const json::object& object) { return std::string(kube::string_at(object, {"metadata", "name"})); }

std::string user_of(const json::object& object) {
  return std::string(kube::string_at(object, {"metadata", "labels", api::labels::creator_user}));
}

bool is_final(const json::object& object) {
  const std::string_view phase = kube::string_at(object, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool is_drained(const json::object& quota) {
  return kube::string_at(quota, {"metadata", "annotations", api::annotations::drained}) == "true";
}

std::string_view owner_of(const json::object& pod) {
  const json::array& owners = kube::array_at(pod, {"metadata", "ownerReferences"});
  return owners.empty() ? std::string_view() : kube::string_at(owners[0], {"uid"});
}

}  // namespace

/// A leadership that the test gives and takes.
class GrantWorld::Lead final : public kube::Leadership {
 public:
  using Leadership::doubt_until;
  using Leadership::Leadership;
  void take(kube::TimePoint doubt_until) {
    inherit_doubt(doubt_until);
    set_leading(true);
  }
};

/// One process: the objects that end with it.
struct GrantWorld::Replica {
  Replica(GrantWorld& world, std::size_t number)
      : killed(std::make_shared<bool>(false)),
        transport(*world.links_[number], killed),
        random(world.simulator_.random().next()),
        api(transport, world.simulator_.clock(), random, metrics, {.cluster = "milan"}),
        home(world.simulator_.executor(), api, metrics),
        events(world.simulator_.executor(), api, metrics, "liqo"),
        leadership(world.simulator_.executor()),
        early(acquire_early(home, random)),
        accounts(world.settings_.links.provider_cache_mib, metrics),
        context{{world.simulator_.executor(), world.simulator_.clock(), random, metrics},
                home,
                events,
                leadership,
                world.settings_,
                [](std::size_t size) -> kube::Result<std::string> { return std::string(size, 'x'); },
                accounts},
        ledger({context.environment(), home, events, leadership}, api, {}),
        namespaces(context),
        names(context),
        group(world.simulator_.executor(), kube::async::TaskGroup::OnFailure::keep_others) {
    reconcilers.push_back(std::make_unique<controllers::ShadowPodController>(names, context));
    reconcilers.push_back(std::make_unique<controllers::UnaccountedPods>(context));
    reconcilers.push_back(std::make_unique<controllers::TenantController>(namespaces, context));
    reconcilers.push_back(std::make_unique<controllers::SliceGrantController>(namespaces, names, context, &ledger));
  }

  /// Informers begin in the order in which they are acquired, which decides what a replica learns first.
  static std::vector<kube::InformerHandle> acquire_early(kube::InformerSet& home, kube::Random& random) {
    std::vector<kube::InformerHandle> early;
    for (const kube::Resource& kind : {resources::namespaces, kinds::tenants, kinds::quotas, kinds::resource_slices})
      if (random.chance(0.3)) early.push_back(home.acquire({.resource = kind}));
    return early;
  }

  asio::awaitable<void> work() {
    kube::async::TaskGroup working(context.executor);
    working.spawn(namespaces.run());
    working.spawn(names.run());
    for (const auto& one : reconcilers) working.spawn(one->run());
    co_await kube::async::finally(working.join(), working.stop());
  }

  std::shared_ptr<bool> killed;
  kube::testing::SimTransport transport;
  kube::Random random;
  kube::Metrics metrics;
  kube::Api api;
  kube::InformerSet home;
  kube::EventRecorder events;
  Lead leadership;
  std::vector<kube::InformerHandle> early;
  controllers::ProviderAccounts accounts;
  controllers::Context context;
  quota::QuotaLedger ledger;
  controllers::TenantNamespaces namespaces;
  controllers::HomeNames names;
  std::vector<std::unique_ptr<controllers::Runnable>> reconcilers;
  kube::async::TaskGroup group;
};

/// An admission review that is under way: it outlives the replica that should have answered.
struct GrantWorld::Call {
  explicit Call(const asio::any_io_executor& executor) : done(executor) {}
  kube::async::Event done;
  std::optional<QuotaVerdict> verdict;

  static asio::awaitable<void> serve(quota::QuotaLedger& ledger, std::shared_ptr<Call> call, kube::Object shadow) {
    try {
      call->verdict = co_await ledger.decide_on(shadow, nullptr, false, {});
    } catch (const boost::system::system_error&) {
      // The process ended, and its caller gets no answer.
    }
    call->done.set();
  }
};

GrantWorld::GrantWorld(std::uint64_t seed)
    : simulator_(seed),
      server_(simulator_.clock(), seed),
      collector_(simulator_, server_),
      random_(seed * 2654435761u + 11) {
  for (const kube::Resource& kind :
       {kinds::shadow_pods, kinds::quotas, kinds::tenants, kinds::resource_slices, kinds::limit_ranges,
        kinds::runtime_classes, kinds::networks, kinds::renews, kinds::identities, kinds::foreign_clusters,
        kinds::namespace_maps, kinds::virtual_nodes, kinds::namespace_offloadings})
    server_.serve(kind);
  settings_.cluster_id = "milan";
  settings_.peering.api_server_override = "milan:6443";
  settings_.slices.limits_enforcement = "None";
  settings_.slices.defaults = {};
  for (std::size_t i = 0; i < 2; ++i) {
    links_.push_back(std::make_unique<kube::testing::SimLink>(simulator_, server_, "liqod-" + std::to_string(i)));
    links_.back()->on_send([this](const kube::HttpRequest& request) { see_request(request); });
    replicas_.push_back(nullptr);
  }
  server_.store().on_change([this](const kube::testing::FakeChange& change) { see_change(change); });
  set_up();
}

GrantWorld::~GrantWorld() = default;

void GrantWorld::set_up() {
  kube::Object tenants = core::forge_tenant_namespace("rome");
  tenants.set_annotation(api::annotations::pod_policy,
                         json::serialize(json::object{{"maxResources", json::object{{"cpu", std::to_string(bound)}}},
                                                      {"maxDrainGracePeriodSeconds", drain_grace}}));
  (void)server_.create(resources::namespaces, tenants.tree(), "operator");
  (void)server_.create(
      resources::namespaces,
      {{"metadata", json::object{{"name", twin}, {"labels", json::object{{api::labels::remote_cluster_id, "rome"}}}}}},
      "operator");
  (void)server_.create(kinds::tenants,
                       {{"metadata", json::object{{"name", "rome"}, {"namespace", tenants_home}}},
                        {"spec", json::object{{"clusterID", "rome"}, {"authzPolicy", "TolerateNoHandshake"}}}},
                       "operator");
}

void GrantWorld::start(std::size_t number) {
  replicas_[number] = std::make_unique<Replica>(*this, number);
  Replica& replica = *replicas_[number];
  replica.group.spawn(replica.home.run());
  replica.group.spawn(replica.ledger.run());
  replica.group.spawn(kube::run_while_leading(replica.leadership, [&replica] { return replica.work(); }));
}

asio::awaitable<void> GrantWorld::stop(std::size_t number, bool killed) {
  const auto replica = std::move(replicas_[number]);
  *replica->killed = killed;
  const bool led = replica->leadership.is_leader();
  co_await replica->group.stop();
  if (!led) co_return;
  // A killed process does not report what it has sent.
  if (killed) doubt_until_ = simulator_.clock().now() + core::late_after;
  doubt_until_ = std::max(doubt_until_, replica->leadership.doubt_until());
}

asio::awaitable<void> GrantWorld::elect() {
  const auto leads = [](const auto& replica) { return replica && replica->leadership.is_leader(); };
  if (std::ranges::any_of(replicas_, leads)) co_return;
  co_await simulator_.clock().sleep(interregnum);
  if (std::ranges::any_of(replicas_, leads)) co_return;
  const std::size_t first = random_.next() % replicas_.size();
  for (std::size_t i = 0; i < replicas_.size(); ++i)
    if (auto& replica = replicas_[(first + i) % replicas_.size()]) {
      replica->leadership.take(doubt_until_);
      co_return;
    }
}

void GrantWorld::set_tenant(std::string_view condition) {
  const bool drains = condition == "Drained";
  if (drains != is_tenant_drained_) tenant_since_ = simulator_.clock().now();
  is_tenant_drained_ = drains;
  (void)server_.update(
      {kinds::tenants, {std::string(tenants_home), "rome"}},
      [&](json::object& next) { kube::ensure_object(next, "spec")["tenantCondition"] = condition; }, "operator");
}

void GrantWorld::add_slice(const std::string& name, std::int64_t cores) {
  (void)server_.create(kinds::resource_slices,
                       {{"metadata", json::object{{"name", name},
                                                  {"namespace", tenants_home},
                                                  {"labels", json::object{{api::labels::replicated, "true"},
                                                                          {api::labels::replication_origin, "rome"},
                                                                          {api::labels::remote_cluster_id, "rome"}}}}},
                        {"spec", json::object{{"consumerClusterID", "rome"},
                                              {"class", "default"},
                                              {"resources", json::object{{"cpu", std::to_string(cores)}}}}}},
                       "rome");
}

void GrantWorld::change_slice() {
  const std::string name(slices[random_.next() % slices.size()]);
  const kube::ObjectKey key{std::string(tenants_home), name};
  const std::int64_t cores = random_.between(0, bound);
  if (!server_.get(kinds::resource_slices, key)) return add_slice(name, cores);
  if (random_.chance(0.3)) {
    (void)server_.remove(kinds::resource_slices, key, {}, "rome");
    // Created again at once, with the same name.
    if (random_.chance(0.4)) add_slice(name, cores);
  } else if (random_.chance(0.15)) {
    // Only the Quota is deleted, by mistake.
    (void)server_.remove(kinds::quotas, {key.ns, core::slice_user(name, "rome")}, {}, "operator");
  } else {
    const bool drains = random_.chance(0.1);
    (void)server_.update(
        {kinds::resource_slices, key},
        [&](json::object& next) {
          kube::testing::remove_annotation(next, api::annotations::drain);
          if (drains) kube::testing::set_annotation(next, api::annotations::drain, "true");
          if (!drains) kube::testing::ensure_path(next, {"spec", "resources"})["cpu"] = std::to_string(cores);
        },
        "rome");
  }
}

asio::awaitable<void> GrantWorld::change_slices() {
  while (!done_) {
    change_slice();
    if (random_.chance(0.03)) set_tenant("Drained");
    if (random_.chance(0.3)) set_tenant("Active");
    // Several changes, with pauses in which pods fill the grants.
    co_await simulator_.clock().sleep(random_.chance(0.5) ? std::chrono::milliseconds(random_.between(0, 300))
                                                          : std::chrono::milliseconds(random_.between(300, 15'000)));
  }
}

json::object GrantWorld::forge_shadow(const std::string& user, std::int64_t cores) {
  const std::string number = std::to_string(++pods_);
  const json::object container{{"name", "main"},
                               {"image", "shop:1"},
                               {"resources", json::object{{"requests", json::object{{"cpu", std::to_string(cores)}}}}}};
  return {
      {"apiVersion", kinds::shadow_pods.api_version()},
      {"kind", kinds::shadow_pods.kind},
      {"metadata", json::object{{"name", "web-" + std::to_string(pods_ % 30)},
                                {"namespace", twin},
                                {"uid", "uid-" + number},
                                {"creationTimestamp", kube::format_time(simulator_.clock().wall())},
                                {"labels", json::object{{api::labels::creator_user, user},
                                                        {api::labels::reflection_origin, "rome"}}}}},
      {"spec", json::object{{"pod", json::object{{"nodeName", "worker"},
                                                 {"terminationGracePeriodSeconds", random_.chance(0.5) ? 10 : 86'400},
                                                 {"containers", json::array{container}}}}}}};
}

asio::awaitable<QuotaVerdict> GrantWorld::call(std::size_t number, json::object shadow) {
  if (!replicas_[number]) co_return QuotaVerdict::unavailable("no such process");
  auto call = std::make_shared<Call>(simulator_.executor());
  replicas_[number]->group.spawn(Call::serve(replicas_[number]->ledger, call, kube::Object(std::move(shadow))));
  co_await call->done.wait();
  co_return call->verdict.value_or(QuotaVerdict::unavailable("the connection broke"));
}

asio::awaitable<void> GrantWorld::ask(std::string slice, std::int64_t cores) {
  const std::string user = core::slice_user(slice, "rome");
  json::object shadow = forge_shadow(user, cores);
  const std::string uid(kube::string_at(shadow, {"metadata", "uid"}));
  const QuotaVerdict verdict = co_await call(random_.next() % replicas_.size(), shadow);
  if (verdict.ruling != QuotaVerdict::Ruling::admitted) co_return;
  ++admitted_;
  on_their_way_[uid] = {user, cores};
  check("admitting " + uid);
  co_await simulator_.clock().sleep(random_.chance(0.8) ? std::chrono::milliseconds(random_.between(0, 200))
                                                        : std::chrono::milliseconds(random_.between(0, 40'000)));
  on_their_way_.erase(uid);
  auto& table = server_.store().table(kinds::shadow_pods);
  const kube::ObjectKey key{std::string(twin), named(shadow)};
  if (random_.chance(0.1) || table.objects.contains(key)) co_return;
  kube::ensure_object(shadow, "metadata")["generation"] = 1;
  server_.store().put(table, std::move(shadow), "apiserver");
}

asio::awaitable<void> GrantWorld::ask_for_pods() {
  kube::async::TaskGroup group(simulator_.executor(), kube::async::TaskGroup::OnFailure::keep_others);
  for (int i = 0; i < 80; ++i) {
    group.spawn(ask(std::string(slices[random_.next() % slices.size()]), random_.between(1, 4)));
    co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(1, 1500)));
  }
  co_await group.join();
}

asio::awaitable<void> GrantWorld::live() {
  while (!done_) {
    co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(200, 1500)));
    for (const auto& pod : server_.list(resources::pods, twin)) {
      const kube::ObjectKey key{std::string(twin), named(*pod)};
      const auto due = kube::parse_time(kube::string_at(*pod, {"metadata", "deletionTimestamp"}));
      if (due && (random_.chance(0.03) || *due <= simulator_.clock().wall())) {
        (void)server_.remove(resources::pods, key, {.grace_period_seconds = 0}, "kubelet");
      } else if (!due && random_.chance(0.3) && !is_final(*pod)) {
        (void)server_.update(
            {resources::pods, key, "status"},
            [&](json::object& next) {
              kube::ensure_object(next, "status")["phase"] = random_.chance(0.05) ? "Succeeded" : "Running";
            },
            "kubelet");
      }
    }
    for (const auto& shadow : server_.list(kinds::shadow_pods, twin))
      if (random_.chance(0.02))
        (void)server_.remove(kinds::shadow_pods, {std::string(twin), named(*shadow)}, {}, "rome");
  }
}

asio::awaitable<void> GrantWorld::break_things() {
  const kube::testing::FaultRates faults = draw_faults(random_, 300ms);
  for (auto& link : links_) link->set_faults(faults);
  while (!done_) {
    co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(1000, 20'000)));
    const std::size_t number = random_.next() % replicas_.size();
    if (random_.chance(0.4)) {
      co_await stop(number, random_.chance(0.7));
      co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(0, 5000)));
      start(number);
      co_await elect();
    } else if (random_.chance(0.3)) {
      links_[number]->partition();
      co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(100, 20'000)));
      links_[number]->heal();
    }
  }
  for (auto& link : links_) {
    link->heal();
    link->set_faults({});
  }
}

std::map<std::string, std::int64_t> GrantWorld::held() {
  struct Pod {
    std::string user;
    std::int64_t cores = 0;
  };
  std::map<std::string, Pod> by_shadow;  // the larger of ShadowPod and Pod, by the ShadowPod's UID
  std::set<std::string> over;
  for (const auto& pod : server_.list(resources::pods, twin)) {
    const std::string owner(owner_of(*pod));
    if (is_final(*pod))
      over.insert(owner);
    else
      by_shadow[owner] = {user_of(*pod), cores_of(kube::object_at(*pod, {"spec"}))};
  }
  for (const auto& shadow : server_.list(kinds::shadow_pods, twin)) {
    const std::string uid(kube::string_at(*shadow, {"metadata", "uid"}));
    if (is_final(*shadow) || over.contains(uid)) continue;
    Pod& pod = by_shadow[uid];
    pod = {user_of(*shadow), std::max(pod.cores, cores_of(kube::object_at(*shadow, {"spec", "pod"})))};
  }
  std::map<std::string, std::int64_t> held;
  for (const auto& [uid, pod] : by_shadow) held[pod.user] += pod.cores;
  for (const auto& [uid, pod] : on_their_way_) held[pod.first] += pod.second;
  return held;
}

std::int64_t GrantWorld::taken() {
  std::map<std::string, std::int64_t> taken = held();
  for (const auto& quota : server_.list(kinds::quotas, tenants_home)) {
    std::int64_t& of_user = taken[named(*quota)];
    of_user = std::max(of_user, granted_cores(*quota));
  }
  std::int64_t sum = 0;
  for (const auto& [user, cores] : taken) sum += cores;
  return sum;
}

void GrantWorld::check(std::string_view when) {
  const std::int64_t cores = taken();
  if (cores > bound)
    violations_.push_back({"what is granted or used is never more than the policy allows",
                           std::string(when) + ": " + std::to_string(cores) + " of " + std::to_string(bound) +
                               " cores at " + std::to_string(simulator_.clock().now().time_since_epoch() / 1ms) +
                               " ms"});
}

void GrantWorld::see_change(const kube::testing::FakeChange& change) {
  if (change.kind->plural == "quotas") {
    const bool is_new = change.type == ChangeType::added;
    if (is_new || is_drained(*change.before) != is_drained(*change.after))
      steady_since_[change.key.name] = simulator_.clock().now();
    const bool is_more =
        change.type != ChangeType::deleted && (is_new || granted_cores(*change.before) < granted_cores(*change.after));
    if (!is_more) return;
    ++granted_;
    check("granting " + change.key.name + " " + std::to_string(granted_cores(*change.after)));
  } else if (change.kind->plural == "shadowpods" && change.type == ChangeType::added) {
    check("storing " + change.key.name);
  }
}

void GrantWorld::see_request(const kube::HttpRequest& request) {
  if (request.verb != "delete" || request.resource != "shadowpods") return;
  const std::string name = request.target.substr(request.target.rfind('/') + 1);
  const auto shadow = server_.get(kinds::shadow_pods, {std::string(twin), name});
  const std::string user = shadow ? user_of(*shadow) : "";
  const auto quota = server_.get(kinds::quotas, {std::string(tenants_home), user});
  // A decision may be from a moment ago.
  const kube::TimePoint lately = simulator_.clock().now() - 1min;
  if (!quota || is_drained(*quota) || is_tenant_drained_ || steady_since_[user] > lately || tenant_since_ > lately)
    return;
  violations_.push_back({"what runs by a grant is not ended", name});
}

asio::awaitable<void> GrantWorld::finish() {
  kube::async::Clock& clock = simulator_.clock();
  co_await elect();
  set_tenant("Active");
  for (const std::string_view name : slices)
    (void)server_.remove(kinds::resource_slices, {std::string(tenants_home), std::string(name)}, {}, "rome");
  // Reservations of pods that were never stored expire meanwhile.
  co_await clock.sleep(4min);
  std::int64_t left = 0;
  for (const auto& pod : server_.list(resources::pods, twin)) {
    if (!is_final(*pod)) left += cores_of(kube::object_at(*pod, {"spec"}));
    if (!is_deleting(*pod))
      violations_.push_back({"what no Quota counts is ended", named(*pod)});
    else if (kube::int_at(*pod, {"metadata", "deletionGracePeriodSeconds"}) > drain_grace)
      violations_.push_back({"what the provider ends does so in the time of a drain", named(*pod)});
  }
  add_slice("z", bound);
  const kube::ObjectKey slice{std::string(tenants_home), "z"}, quota{slice.ns, core::slice_user("z", "rome")};
  co_await clock.sleep(30s);
  if (left > 0) {
    if (server_.get(kinds::quotas, quota))
      violations_.push_back({"what pods hold is not granted again", std::to_string(left) + " cores"});
    for (const auto& pod : server_.list(resources::pods, twin))
      (void)server_.remove(resources::pods, {std::string(twin), named(*pod)}, {.grace_period_seconds = 0}, "kubelet");
    co_await clock.sleep(2s);
  }
  if (!server_.get(kinds::quotas, quota)) {
    const auto stored = server_.get(kinds::resource_slices, slice);
    const kube::Object shown(stored ? *stored : json::object());
    const auto told = api::ResourceSlice(shown).condition("Resources");
    violations_.push_back(
        {"what has gone is granted again at once", told ? std::string(told->message) : "nothing is said of it"});
  }
}

asio::awaitable<void> GrantWorld::play() {
  kube::async::TaskGroup surroundings(simulator_.executor());
  start(0);
  start(1);
  co_await elect();
  surroundings.spawn(change_slices());
  surroundings.spawn(live());
  surroundings.spawn(break_things());
  co_await ask_for_pods();
  done_ = true;
  co_await surroundings.join();
  co_await finish();
  co_await stop(0, false);
  co_await stop(1, false);
}

std::vector<Violation> GrantWorld::run() {
  try {
    simulator_.run(play(), 2h);
  } catch (const std::exception& error) {
    violations_.push_back({"the schedule comes to its end", error.what()});
  }
  return std::move(violations_);
}

}  // namespace liqo::sim
