#include "ledger_world.hpp"

#include "core/offloading/resize.hpp"
#include "faults.hpp"
#include "kube/async/task_group.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "request_check.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using core::QuotaVerdict;
using quota::QuotaLedger;

namespace {

constexpr std::string_view tenant = "liqo-tenant-rome", twin = "shop-rome", user = "pool-a8a4c692b93b";
constexpr kube::Duration request_timeout = 60s;
constexpr int asks = 60;

/// The other replica of a pair: it never leads.
class Follower final : public kube::Leadership {
 public:
  using Leadership::Leadership;
};

std::int64_t cores_of(const json::object& spec) {
  std::int64_t cores = 0;
  for (const json::value& container : kube::array_at(spec, {"containers"}))
    cores += std::stoll(std::string(kube::string_at(container, {"resources", "requests", "cpu"})));
  return cores;
}

/// The resources that a node has given to the containers of a Pod.
std::int64_t cores_at_node(const json::object& pod) {
  std::int64_t cores = 0;
  for (const json::value& container : kube::array_at(pod, {"status", "containerStatuses"}))
    cores += std::stoll(std::string(kube::string_at(container, {"resources", "requests", "cpu"})));
  return cores;
}

/// The annotations of a Pod that has the amounts of the ShadowPod.
json::object applied_to(const json::object& shadow) {
  return {{api::annotations::applied_resources, core::applied_note(kube::Object(shadow))}};
}

std::string_view owner_of(const json::object& pod) {
  return kube::string_at(kube::array_at(pod, {"metadata", "ownerReferences"})[0], {"uid"});
}

std::string version_of(const json::object& object) {
  return std::string(kube::string_at(object, {"metadata", "resourceVersion"}));
}

bool is_final(const json::object& object) {
  const std::string_view phase = kube::string_at(object, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace

/// One process: the objects that end with it.
struct LedgerWorld::Replica {
  Replica(LedgerWorld& world, std::size_t number)
      : killed(std::make_shared<bool>(false)),
        transport(*world.links_[number], killed),
        random(world.simulator_.random().next()),
        api(transport, world.simulator_.clock(), random, metrics, {.cluster = "milan"}),
        home(world.simulator_.executor(), api, metrics),
        events(world.simulator_.executor(), api, metrics, "liqo"),
        group(world.simulator_.executor(), kube::async::TaskGroup::OnFailure::keep_others) {
    if (number == 0) {
      leadership = std::make_unique<kube::SoleLeader>(world.simulator_.executor());
    } else {
      leadership = std::make_unique<Follower>(world.simulator_.executor());
    }
    const kube::Environment environment{world.simulator_.executor(), world.simulator_.clock(), random, metrics};
    ledger = std::make_unique<QuotaLedger>(quota::LedgerContext{environment, home, events, *leadership}, api,
                                           quota::LedgerSettings{.request_timeout = request_timeout});
  }

  std::shared_ptr<bool> killed;
  kube::testing::SimTransport transport;
  kube::Random random;
  kube::Metrics metrics;
  kube::Api api;
  kube::InformerSet home;
  kube::EventRecorder events;
  std::unique_ptr<kube::Leadership> leadership;
  std::unique_ptr<QuotaLedger> ledger;
  kube::async::TaskGroup group;
};

/// An admission review that is under way: it outlives the replica that should have answered.
struct LedgerWorld::Call {
  explicit Call(const asio::any_io_executor& executor) : done(executor) {}
  kube::async::Event done;
  std::optional<QuotaVerdict> verdict;

  static asio::awaitable<void> serve_resize(QuotaLedger& ledger, std::shared_ptr<Call> call, kube::Object before,
                                            kube::Object after) {
    try {
      call->verdict = co_await ledger.decide_on(after, &before, false, {});
    } catch (const boost::system::system_error&) {
      // The process ended, and its caller hears nothing.
    }
    call->done.set();
  }
  static asio::awaitable<void> serve(QuotaLedger& ledger, std::shared_ptr<Call> call, kube::Object shadow, bool dry_run,
                                     core::Claimant claimant) {
    try {
      call->verdict = co_await ledger.decide_on(shadow, nullptr, dry_run, std::move(claimant));
    } catch (const boost::system::system_error&) {
      // The process ended, and its caller hears nothing.
    }
    call->done.set();
  }
};

LedgerWorld::LedgerWorld(std::uint64_t seed)
    : simulator_(seed), server_(simulator_.clock(), seed), random_(seed * 2654435761u + 5) {
  for (const kube::Resource& kind :
       {api::kinds::shadow_pods, api::kinds::quotas, api::kinds::limit_ranges, api::kinds::runtime_classes})
    server_.serve(kind);
  for (std::size_t i = 0; i < 2; ++i) {
    links_.push_back(std::make_unique<kube::testing::SimLink>(simulator_, server_, "liqod-" + std::to_string(i)));
    links_.back()->on_send([this](const kube::HttpRequest& request) { check_write(request); });
    replicas_.push_back(nullptr);
  }
  set_up();
}

LedgerWorld::~LedgerWorld() = default;

void LedgerWorld::check_write(const kube::HttpRequest& request) {
  // Both replicas admit, whichever leads. Instead of a fence, each write names the resourceVersion that it is based on.
  const bool adds = request.method == "GET" || request.method == "POST";
  if (!adds && request.body.find("\"resourceVersion\":\"") == std::string::npos)
    violations_.push_back({"who writes without leading goes by a version", request.method + " " + request.target});
}

void LedgerWorld::set_up() {
  const auto make_namespace = [&](std::string_view name, bool is_tenant) {
    json::object labels{{api::labels::remote_cluster_id, "rome"}};
    if (is_tenant) labels[api::labels::tenant_namespace] = "true";
    (void)server_.create(kube::resources::namespaces,
                         {{"metadata", json::object{{"name", name}, {"labels", std::move(labels)}}}}, "operator");
  };
  make_namespace(tenant, true);
  make_namespace(twin, false);
  grant();
}

void LedgerWorld::grant() {
  (void)server_.create(
      api::kinds::quotas,
      {{"metadata", json::object{{"name", user}, {"namespace", tenant}}},
       {"spec", json::object{{"user", user},
                             {"limitsEnforcement", "None"},
                             {"resources", json::object{{"cpu", std::to_string(hard_)}, {"memory", "1Ti"}}}}}},
      "operator");
}

asio::awaitable<void> LedgerWorld::withdraw() {
  withdrawn_ = true;
  (void)server_.remove(api::kinds::quotas, {std::string(tenant), std::string(user)}, {}, "operator");
  // The Quota may come back while the sweeper still removes its record, or after the record is gone.
  co_await simulator_.clock().sleep(random_.chance(0.6) ? std::chrono::milliseconds(random_.between(0, 1000))
                                                        : std::chrono::milliseconds(random_.between(0, 120'000)));
  grant();
}

void LedgerWorld::set_hard(std::int64_t cores) {
  if (cores < hard_) {
    lowered_ = true;
    last_lowered_ = simulator_.clock().now();
  }
  hard_ = cores;
  (void)server_.update(
      {api::kinds::quotas, {std::string(tenant), std::string(user)}},
      [&](json::object& quota) {
        kube::testing::ensure_path(quota, {"spec", "resources"})["cpu"] = std::to_string(cores);
      },
      "operator");
}

void LedgerWorld::start(std::size_t number) {
  replicas_[number] = std::make_unique<Replica>(*this, number);
  Replica& replica = *replicas_[number];
  replica.group.spawn(replica.home.run());
  replica.group.spawn(replica.ledger->run());
}

asio::awaitable<void> LedgerWorld::stop(std::size_t number, bool killed) {
  const auto replica = std::move(replicas_[number]);
  *replica->killed = killed;
  co_await replica->group.stop();
}

json::object LedgerWorld::forge_shadow(int number, std::int64_t cores) {
  const std::string uid = "uid-" + std::to_string(number) + "-" + std::to_string(random_.next() % 100000);
  return {
      {"apiVersion", api::kinds::shadow_pods.api_version()},
      {"kind", api::kinds::shadow_pods.kind},
      {"metadata", json::object{{"name", "web-" + std::to_string(number % 20)},
                                {"namespace", twin},
                                {"uid", uid},
                                {"creationTimestamp", kube::format_time(simulator_.clock().wall())},
                                {"labels", json::object{{api::labels::creator_user, user},
                                                        {api::labels::reflection_origin, "rome"}}}}},
      {"spec",
       json::object{
           {"pod", json::object{{"containers",
                                 json::array{json::object{
                                     {"name", "main"},
                                     {"resources",
                                      json::object{{"requests", json::object{{"cpu", std::to_string(cores)}}}}}}}}}}}}};
}

asio::awaitable<QuotaVerdict> LedgerWorld::call(std::size_t number, json::object shadow, bool dry_run,
                                                core::Claimant claimant) {
  if (!replicas_[number]) co_return QuotaVerdict{QuotaVerdict::Ruling::unavailable, "no such process"};
  auto call = std::make_shared<Call>(simulator_.executor());
  replicas_[number]->group.spawn(
      Call::serve(*replicas_[number]->ledger, call, kube::Object(std::move(shadow)), dry_run, std::move(claimant)));
  co_await call->done.wait();
  co_return call->verdict.value_or(QuotaVerdict{QuotaVerdict::Ruling::unavailable, "the connection broke"});
}

asio::awaitable<QuotaVerdict> LedgerWorld::call_resize(std::size_t number, json::object before, json::object after) {
  if (!replicas_[number]) co_return QuotaVerdict{QuotaVerdict::Ruling::unavailable, "no such process"};
  auto call = std::make_shared<Call>(simulator_.executor());
  replicas_[number]->group.spawn(Call::serve_resize(*replicas_[number]->ledger, call, kube::Object(std::move(before)),
                                                    kube::Object(std::move(after))));
  co_await call->done.wait();
  co_return call->verdict.value_or(QuotaVerdict{QuotaVerdict::Ruling::unavailable, "the connection broke"});
}

asio::awaitable<void> LedgerWorld::resize_one(json::object before, std::int64_t cores) {
  const std::int64_t had = cores_of(kube::object_at(before, {"spec", "pod"}));
  json::object after = before;
  after["spec"].as_object()["pod"].as_object()["containers"].as_array()[0].as_object()["resources"] =
      json::object{{"requests", json::object{{"cpu", std::to_string(cores)}}}};
  const kube::TimePoint asked_at = simulator_.clock().now();
  const QuotaVerdict verdict = co_await call_resize(random_.next() % 2, before, after);
  if (verdict.ruling != QuotaVerdict::Ruling::admitted) co_return;
  const kube::ObjectKey pod{std::string(twin), std::string(kube::string_at(before, {"metadata", "name"}))};
  const std::string from = version_of(before);
  const std::uint64_t key = random_.next();
  if (cores > had) {
    growing_[key] = {.pod = pod, .from = from, .cores = cores - had};
    // A growth whose version has changed can no longer be stored, so it is not checked.
    const auto now = server_.get(api::kinds::shadow_pods, pod);
    const bool may_be_stored = now && version_of(*now) == from;
    if (may_be_stored && asked_at > last_lowered_) check("growing by " + std::to_string(cores - had));
  }
  co_await simulator_.clock().sleep(random_.chance(0.8) ? std::chrono::milliseconds(random_.between(0, 200))
                                                        : std::chrono::milliseconds(random_.between(0, 50'000)));
  growing_.erase(key);
  if (random_.chance(0.15) || simulator_.clock().now() - asked_at >= request_timeout) co_return;
  // The API server stores a change only if its version is still the stored one.
  if (const auto now = server_.get(api::kinds::shadow_pods, pod); !now || version_of(*now) != from) co_return;
  (void)server_.update(
      {api::kinds::shadow_pods, pod}, [&](json::object& next) { next["spec"] = after.at("spec"); }, "consumer");
  if (!lowered_) check("storing the growth of " + pod.name);
}

asio::awaitable<void> LedgerWorld::resize() {
  kube::async::TaskGroup group(simulator_.executor(), kube::async::TaskGroup::OnFailure::keep_others);
  while (!done_) {
    co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(100, 4000)));
    const auto shadows = server_.list(api::kinds::shadow_pods, twin);
    if (shadows.empty()) continue;
    const json::object& before = *shadows[random_.next() % shadows.size()];
    // At most one of two changes from the same version is stored.
    for (int wishes = random_.chance(0.2) ? 2 : 1; wishes > 0; --wishes)
      group.spawn(resize_one(before, random_.between(1, 5)));
  }
  co_await group.join();
}

asio::awaitable<void> LedgerWorld::ask(int number) {
  const std::int64_t cores = random_.between(1, 3);
  for (int decisions = 0; decisions < 8;) {
    json::object shadow = forge_shadow(number, cores);
    const std::string uid(kube::string_at(shadow, {"metadata", "uid"}));
    const kube::TimePoint asked_at = simulator_.clock().now();
    const bool dry_run = random_.chance(0.1);
    const core::Claimant claimant{
        .address = "10.0.0.1", .proven = random_.chance(0.7), .may_be_large = random_.chance(0.5)};
    QuotaVerdict verdict = co_await call(random_.next() % 2, shadow, dry_run, claimant);
    // The API server may send the review again with the same UID, to either replica.
    if (verdict.ruling == QuotaVerdict::Ruling::admitted && random_.chance(0.1)) {
      const QuotaVerdict again = co_await call(random_.next() % 2, shadow, dry_run, claimant);
      if (again.ruling == QuotaVerdict::Ruling::refused && !dry_run && simulator_.clock().now() - asked_at < 60s &&
          hard_ >= 1 && !lowered_ && !withdrawn_)
        violations_.push_back({"the same admission is admitted again", again.text});
    }
    // A caller without a decision asks again, so only decisions count.
    if (verdict.ruling == QuotaVerdict::Ruling::admitted || verdict.ruling == QuotaVerdict::Ruling::refused)
      ++decisions;
    if (dry_run) continue;
    if (verdict.ruling == QuotaVerdict::Ruling::refused) ++refused_;
    if (verdict.ruling == QuotaVerdict::Ruling::admitted) {
      ++admitted_;
      on_their_way_[uid] = cores;
      if (asked_at > last_lowered_) check("admitting " + uid);
      // The pod is stored at once, late or never; the API server gives up after its time-out.
      co_await simulator_.clock().sleep(random_.chance(0.8) ? std::chrono::milliseconds(random_.between(0, 200))
                                                            : std::chrono::milliseconds(random_.between(0, 50'000)));
      const bool stored = random_.chance(0.85) && simulator_.clock().now() - asked_at < request_timeout;
      on_their_way_.erase(uid);
      if (stored) store_shadow(std::move(shadow));
      co_return;
    }
    co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(100, 20'000)));
  }
}

void LedgerWorld::store_shadow(json::object shadow) {
  auto& table = server_.store().table(api::kinds::shadow_pods);
  const kube::ObjectKey key{std::string(twin), std::string(kube::string_at(shadow, {"metadata", "name"}))};
  if (table.objects.contains(key)) return;
  kube::ensure_object(shadow, "metadata")["generation"] = 1;
  server_.store().put(table, std::move(shadow), "apiserver");
  if (!lowered_) check("storing " + key.name);
}

std::int64_t LedgerWorld::held() const {
  auto& server = const_cast<kube::testing::FakeApiServer&>(server_);
  std::map<std::string, std::int64_t> by_shadow;  // the larger of ShadowPod and Pod, by the ShadowPod's UID
  std::set<std::string> over;
  for (const auto& pod : server.list(kube::resources::pods, twin)) {
    const std::string owner(owner_of(*pod));
    if (is_final(*pod)) {
      over.insert(owner);
    } else {
      by_shadow[owner] = std::max(cores_of(kube::object_at(*pod, {"spec"})), cores_at_node(*pod));
    }
  }
  for (const auto& shadow : server.list(api::kinds::shadow_pods, twin)) {
    const std::string uid(kube::string_at(*shadow, {"metadata", "uid"}));
    if (is_final(*shadow) || over.contains(uid)) continue;
    std::int64_t& cores = by_shadow[uid];
    cores = std::max(cores, cores_of(kube::object_at(*shadow, {"spec", "pod"})));
  }
  std::int64_t sum = 0;
  for (const auto& [uid, cores] : by_shadow) sum += cores;
  for (const auto& [uid, cores] : on_their_way_) sum += cores;
  // Of the growths from one version only one can be stored, so the largest counts.
  std::map<kube::ObjectKey, std::int64_t> most;
  for (const auto& [key, growth] : growing_)
    if (const auto now = server.get(api::kinds::shadow_pods, growth.pod); now && version_of(*now) == growth.from)
      most[growth.pod] = std::max(most[growth.pod], growth.cores);
  for (const auto& [pod, cores] : most) sum += cores;
  return sum;
}

void LedgerWorld::check(std::string_view when) {
  const std::int64_t cores = held();
  if (cores > hard_)
    violations_.push_back({"used is never more than hard", std::string(when) + ": " + std::to_string(cores) + " of " +
                                                               std::to_string(hard_) + " cores"});
}

void LedgerWorld::look_as_node(const kube::ObjectKey& key, bool puts_off) {
  (void)server_.update(
      {kube::resources::pods, key, "status"},
      [puts_off](json::object& next) {
        json::object& status = kube::ensure_object(next, "status");
        status["observedGeneration"] = kube::int_at(next, {"metadata", "generation"});
        const bool is_new = kube::array_at(status, {"containerStatuses"}).empty();
        if (puts_off && !is_new) {
          status["conditions"] = json::array{json::object{{"type", "PodResizePending"}, {"status", "True"}}};
          return;
        }
        status.erase("conditions");
        json::array statuses;
        for (const json::value& container : kube::array_at(next, {"spec", "containers"}))
          statuses.push_back(json::object{{"name", kube::string_at(container, {"name"})},
                                          {"resources", kube::object_at(container, {"resources"})}});
        status["containerStatuses"] = std::move(statuses);
      },
      "kubelet");
}

/// Acts on ShadowPods and Pods as the rest of the provider does.
asio::awaitable<void> LedgerWorld::live() {
  while (!done_) {
    co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(50, 1500)));
    for (const auto& shadow : server_.list(api::kinds::shadow_pods, twin)) {
      const kube::ObjectKey key{std::string(twin), std::string(kube::string_at(*shadow, {"metadata", "name"}))};
      const auto pod = server_.get(kube::resources::pods, key);
      if (!pod && !is_final(*shadow) && random_.chance(0.6)) {
        (void)server_.create(
            kube::resources::pods,
            {{"metadata",
              json::object{
                  {"name", key.name},
                  {"namespace", twin},
                  {"labels", json::object{{api::labels::managed_by, api::labels::managed_by_shadow_pod},
                                          {api::labels::creator_user, user}}},
                  {"annotations", applied_to(*shadow)},
                  {"ownerReferences", json::array{json::object{{"apiVersion", api::kinds::shadow_pods.api_version()},
                                                               {"kind", api::kinds::shadow_pods.kind},
                                                               {"name", key.name},
                                                               {"uid", kube::string_at(*shadow, {"metadata", "uid"})},
                                                               {"controller", true}}}}}},
             {"spec", kube::object_at(*shadow, {"spec", "pod"})}},
            "controller");
      } else if (pod && !is_final(*pod) && owner_of(*pod) == kube::string_at(*shadow, {"metadata", "uid"}) &&
                 random_.chance(0.5) && kube::object_at(*pod, {"spec"}) != kube::object_at(*shadow, {"spec", "pod"})) {
        (void)server_.update(
            {kube::resources::pods, key, "resize"},
            [&](json::object& next) { next["spec"] = kube::object_at(*shadow, {"spec", "pod"}); }, "controller");
        (void)server_.update(
            {kube::resources::pods, key},
            [&](json::object& next) { next["metadata"].as_object()["annotations"] = applied_to(*shadow); },
            "controller");
      } else if (random_.chance(0.04)) {
        (void)server_.remove(api::kinds::shadow_pods, key, {}, "consumer");
      } else if (pod && is_final(*pod) && !is_final(*shadow)) {
        (void)server_.update(
            {api::kinds::shadow_pods, key, "status"},
            [](json::object& next) { kube::ensure_object(next, "status")["phase"] = "Succeeded"; }, "controller");
      } else if (pod && random_.chance(0.04)) {
        (void)server_.update(
            {kube::resources::pods, key, "status"},
            [](json::object& next) { kube::ensure_object(next, "status")["phase"] = "Succeeded"; }, "kubelet");
      }
    }
    for (const auto& pod : server_.list(kube::resources::pods, twin)) {
      const kube::ObjectKey key{std::string(twin), std::string(kube::string_at(*pod, {"metadata", "name"}))};
      if (!is_final(*pod) && random_.chance(0.3)) look_as_node(key, random_.chance(0.3));
      const auto shadow = server_.get(api::kinds::shadow_pods, key);
      const bool orphan = !shadow || kube::string_at(*shadow, {"metadata", "uid"}) != owner_of(*pod);
      if (orphan && random_.chance(0.2))
        (void)server_.remove(kube::resources::pods, key, {.grace_period_seconds = 0}, "collector");
    }
  }
}

asio::awaitable<void> LedgerWorld::break_things() {
  // Delays stay short: a decision takes several round trips, and its caller waits for 8 s.
  const kube::testing::FaultRates faults = draw_faults(random_, 300ms);
  for (auto& link : links_) link->set_faults(faults);
  const bool changes_quota = random_.chance(0.3), withdraws_quota = random_.chance(0.3);
  while (!done_) {
    co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(1000, 15'000)));
    const std::size_t number = random_.next() % 2;
    if (random_.chance(0.4)) {
      co_await stop(number, random_.chance(0.7));
      co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(0, 5000)));
      start(number);
    } else if (random_.chance(0.3)) {
      links_[number]->partition();
      co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(100, 20'000)));
      links_[number]->heal();
    } else if (changes_quota && random_.chance(0.5)) {
      set_hard(random_.between(2, 12));
    } else if (withdraws_quota) {
      co_await withdraw();
    }
  }
  for (auto& link : links_) {
    link->heal();
    link->set_faults({});
  }
}

asio::awaitable<void> LedgerWorld::consume() {
  kube::async::TaskGroup group(simulator_.executor(), kube::async::TaskGroup::OnFailure::keep_others);
  kube::async::TaskGroup surroundings(simulator_.executor());
  start(0);
  start(1);
  surroundings.spawn(live());
  if (random_.chance(0.7)) surroundings.spawn(resize());
  surroundings.spawn(break_things());
  for (int number = 0; number < asks; ++number) {
    group.spawn(ask(number));
    if (random_.chance(0.4)) co_await simulator_.clock().sleep(std::chrono::milliseconds(random_.between(1, 5000)));
  }
  co_await group.join();
  done_ = true;
  co_await surroundings.join();

  // Nothing is left behind: the whole quota is free again.
  for (const kube::Resource& kind : {api::kinds::shadow_pods, kube::resources::pods})
    for (const auto& object : server_.list(kind, twin))
      (void)server_.remove(kind, {std::string(twin), std::string(kube::string_at(*object, {"metadata", "name"}))},
                           {.grace_period_seconds = 0}, "operator");
  const kube::TimePoint free_by = simulator_.clock().now() + request_timeout + 60s;
  // Consumers that keep asking for more than there is must not hold the quota.
  if (random_.chance(0.5))
    for (std::size_t number = 0; simulator_.clock().now() < free_by; number = 1 - number) {
      (void)co_await call(number, forge_shadow(2000, hard_ + 1), false);
      co_await simulator_.clock().sleep(2s);
    }
  co_await simulator_.clock().sleep_until(free_by);
  for (std::size_t number = 0; number < 2; ++number) {
    const QuotaVerdict verdict = co_await call(number, forge_shadow(1000 + int(number), hard_), true);
    if (verdict.ruling != QuotaVerdict::Ruling::admitted)
      violations_.push_back({"what has gone is free again", verdict.text});
  }
  co_await stop(0, false);
  co_await stop(1, false);
  for (auto& link : links_)
    for (Violation& violation : check_requests(*link, server_)) violations_.push_back(std::move(violation));
}

std::vector<Violation> LedgerWorld::run() {
  try {
    simulator_.run(consume(), 2h);
  } catch (const std::exception& error) {
    violations_.push_back({"the schedule comes to its end", error.what()});
  }
  return std::move(violations_);
}

}  // namespace liqo::sim
