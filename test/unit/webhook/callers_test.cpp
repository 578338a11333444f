// The callers that ask for reservations: API servers that can be probed or not, and a client that only claims to be
// one.
#include "webhook/callers.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "../kubelet/fakes.hpp"
#include "kube/base/base64.hpp"
#include "kube/net/tls/x509.hpp"
#include "kube/testing/one_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "quota/quota_ledger.hpp"
#include "webhook/reviews.hpp"

namespace {

using namespace liqo::webhook;
using namespace kube::testing;
using namespace std::chrono_literals;
using liqo::quota::QuotaLedger;
namespace json = kube::json;
namespace kinds = liqo::api::kinds;
namespace labels = liqo::api::labels;

const std::string api_server = "10.0.0.1", second_api_server = "10.0.0.2", forger = "10.244.3.7";

/// Carries liqod's requests, and has those that are dry runs reviewed as the API server would.
class AskingTransport final : public kube::net::Transport {
 public:
  explicit AskingTransport(SimLink& link) : next_(link) {}
  kube::async::asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request,
                                                                       kube::Deadline deadline) override {
    if (asks && request.method == "POST" && request.target.contains("dryRun=All"))
      request.body = co_await asks(request.body);
    co_return co_await next_.send(std::move(request), deadline);
  }
  std::function<asio::awaitable<std::string>(std::string body)> asks;

 private:
  SimTransport next_;
};

/// The answer to a caller.
struct Told {
  int code = 0;  ///< 0 = not yet
  std::string text;
};

/// A liqod that has just started, and its callers. The quota grants 8 cores.
class World : public BasicOneCluster<AskingTransport> {
 public:
  World()
      : BasicOneCluster({.name = "milan",
                         .actor = "liqod",
                         .component = "liqo",
                         .random = 1,
                         .on_failure = kube::async::TaskGroup::OnFailure::keep_others}),
        leadership_(simulator.executor()),
        ledger_({environment(), informers, events, leadership_}, api, liqo::quota::LedgerSettings{}),
        callers(environment(), api),
        reviews_({.home = informers, .replica_api = api, .ledger = &ledger_, .callers = &callers}),
        admission_(environment(), tls(), {.address = "127.0.0.1", .port = 0}) {
    for (const kube::Resource& kind :
         {kinds::shadow_pods, kinds::quotas, kinds::foreign_clusters, kinds::namespace_offloadings,
          kinds::resource_slices, kinds::limit_ranges, kinds::runtime_classes})
      server.serve(kind);
    make(kube::resources::namespaces, R"({"metadata":{"name":"shop","labels":{"liqo.io/remote-cluster-id":"rome"}}})");
    make(kube::resources::namespaces, R"({"metadata":{"name":"liqo-tenant-rome","labels":{
        "liqo.io/remote-cluster-id":"rome","liqo.io/tenant-namespace":"true"}}})");
    for (const std::string_view user : {"pool", "lab"})
      REQUIRE(server.create(
          kinds::quotas,
          {{"metadata", json::object{{"name", user}, {"namespace", "liqo-tenant-rome"}}},
           {"spec",
            json::object{{"user", user}, {"limitsEnforcement", "None"}, {"resources", json::object{{"cpu", "8"}}}}}},
          "admin"));
    ledger_.on_confirmed([this](const std::string& address) { callers.confirm(address); });
    reviews_.add_to(admission_);
    group.spawn(informers.run());
    group.spawn(ledger_.run());
    group.spawn(callers.run());
    REQUIRE(reaches([&] { return ledger_.has_synced() && reviews_.waiting_for().empty(); }));
  }
  ~World() { stop(); }

  /// The address from which liqod's own requests are reviewed.
  void probes_come_from(std::string address) {
    transport.asks = [this, address](std::string body) { return ask_about_probe(body, address); };
  }
  /// The addresses that the cluster lists as its API servers.
  void list(const std::vector<std::string>& addresses) {
    json::array all(addresses.begin(), addresses.end());
    json::object slice{{"metadata", json::object{{"name", "kubernetes"}, {"namespace", "default"}}},
                       {"addressType", "IPv4"},
                       {"endpoints", json::array{json::object{{"addresses", std::move(all)}}}}};
    REQUIRE(server.create({"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"}, std::move(slice), "admin"));
  }
  /// An API server that stores allowed objects.
  Told& creates(const std::string& name, std::string_view cpu, const std::string& from) {
    return sends(shadow(name, cpu, next_uid()), from, true);
  }
  /// The same question from a client that stores nothing.
  Told& forges(const std::string& name, std::string_view cpu, const std::string& from = forger, bool dry_run = false) {
    return sends(shadow(name, cpu, next_uid()), from, false, dry_run);
  }
  Told& sends(json::object shadow, const std::string& from, bool stores, bool dry_run = false) {
    told_.push_back(std::make_unique<Told>());
    group.spawn(ask(std::move(shadow), from, stores, dry_run, *told_.back()));
    return *told_.back();
  }
  static json::object shadow(const std::string& name, std::string_view cpu, const std::string& uid,
                             std::string_view user = "pool") {
    const json::object requests{{"cpu", cpu}};
    return {{"apiVersion", "offloading.liqo.io/v1beta1"},
            {"kind", "ShadowPod"},
            {"metadata",
             json::object{{"name", name},
                          {"namespace", "shop"},
                          {"uid", uid},
                          {"labels", json::object{{labels::creator_user, user}, {labels::reflection_origin, "rome"}}}}},
            {"spec", json::object{{"pod", json::object{{"containers",
                                                        json::array{json::object{
                                                            {"name", "main"},
                                                            {"resources", json::object{{"requests", requests}}}}}}}}}}};
  }
  /// Waits for the answer.
  int code(const Told& told) {
    REQUIRE(reaches([&] { return told.code != 0; }));
    return told.code;
  }
  void pass(kube::Duration time) { static_cast<void>(simulator.run_for(time)); }
  std::string reserved_cpu() const {
    return liqo::core::amount(ledger_.usage({"liqo-tenant-rome", "pool"}).reserved, "cpu").text();
  }
  std::string next_uid() { return "uid-" + std::to_string(++asked_); }
  double counted(const std::string& series) const {
    const std::string text = metrics.text();
    const std::size_t at = text.find("\n" + series + " ");
    return at == std::string::npos ? 0 : std::stod(text.substr(at + series.size() + 2));
  }

 private:
  static kube::net::TlsContext tls() {
    static const auto pair =
        kube::net::make_self_signed({.common_name = "x"}, VirtualClock::default_start, 24h).value();
    return kube::net::TlsContext::server(
               {.certificate_pem = pair.certificate_pem, .key_pem = pair.key_pem, .client_ca_pem = {}})
        .value();
  }
  void make(const kube::Resource& kind, std::string_view object) {
    REQUIRE(server.create(kind, json::parse(object).as_object(), "admin"));
  }
  /// A review, and its answer.
  asio::awaitable<json::object> review(std::string path, json::object object, std::string from, bool dry_run) {
    json::object request{{"uid", "1"}, {"operation", "CREATE"}, {"dryRun", dry_run}};
    request["namespace"] = kube::string_at(object, {"metadata", "namespace"});
    request["name"] = kube::string_at(object, {"metadata", "name"});
    request["userInfo"] =
        json::object{{"username", kube::string_at(object, {"metadata", "labels", labels::creator_user})},
                     {"groups", json::array{json::string("rome")}}};
    request["object"] = std::move(object);
    json::object review{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}};
    review["request"] = std::move(request);
    kube::net::ServerRequest asked;
    asked.method = "POST";
    asked.target = std::move(path);
    asked.body = json::serialize(review);
    asked.peer_address = std::move(from);
    liqo::test::FakeResponse response;
    co_await admission_.handle(asked, response);
    co_return kube::object_at(kube::parse_json(response.body).value(), {"response"});
  }
  asio::awaitable<std::string> ask_about_probe(std::string body, std::string from) {
    json::object object = kube::parse_json(body).value().as_object();
    const json::object answer = co_await review("/mutate/foreign-cluster", object, std::move(from), true);
    const auto patch = kube::parse_json(kube::decode_base64(kube::string_at(answer, {"patch"})).value()).value();
    for (const json::value& operation : patch.as_array())
      object["metadata"].as_object()["annotations"].as_object()["liqo.io/asked-from"] =
          kube::string_at(operation, {"value"});
    co_return json::serialize(object);
  }
  asio::awaitable<void> ask(json::object shadow, std::string from, bool stores, bool dry_run, Told& told) {
    const json::object answer = co_await review("/validate/shadowpods", shadow, std::move(from), dry_run);
    const bool allowed = kube::bool_at(answer, {"allowed"});
    if (allowed && stores) {
      co_await simulator.clock().sleep(3ms);
      server.store().put(server.store().table(kinds::shadow_pods), std::move(shadow), "apiserver");
    }
    told.text = kube::string_at(answer, {"status", "message"});
    told.code = allowed ? 200 : static_cast<int>(kube::int_at(answer, {"status", "code"}));
  }

  kube::SoleLeader leadership_;
  QuotaLedger ledger_;

 public:
  Callers callers;

 private:
  Reviews reviews_;
  AdmissionServer admission_;
  std::vector<std::unique_ptr<Told>> told_;
  int asked_ = 0;
};

/// Many pods, as many at once as an API server has under way: how many were admitted, and how long it took.
struct Burst {
  int admitted = 0;
  kube::Duration time{};
};

Burst burst(World& world, std::string_view cpu, int count) {
  constexpr int under_way = 600;
  std::vector<Told*> told;
  const kube::TimePoint start = world.simulator.clock().now();
  for (int i = 0; i < count; ++i) {
    if (i >= under_way) (void)world.code(*told[static_cast<std::size_t>(i - under_way)]);
    told.push_back(&world.creates("web-" + std::to_string(i), cpu, api_server));
  }
  Burst result;
  for (const Told* each : told)
    if (world.code(*each) == 200) ++result.admitted;
  result.time = world.simulator.clock().now() - start;
  return result;
}

}  // namespace

TEST_CASE("a thousand creations right after a start are all let in, and a probe tells who asks") {
  World world;
  world.probes_come_from(api_server);
  const Burst result = burst(world, "8m", 1000);
  CHECK(result.admitted == 1000);
  CHECK(result.time < 1s);
  CHECK(world.counted(R"(liqod_admission_probes_total{outcome="answered"})") == 1);
  CHECK(world.counted("liqod_admission_proven_callers") == 1);
  // From now on no probe is sent any more.
  CHECK(world.code(world.creates("late", "0", api_server)) == 200);
  world.pass(1min);
  CHECK(world.counted(R"(liqod_admission_probes_total{outcome="answered"})") == 1);
}

TEST_CASE("so they are through an API server that no probe comes from: what it stores tells") {
  for (const std::string_view cpu : {"8m", "1"}) {
    CAPTURE(cpu);
    World world;
    const int fitting = cpu == "1" ? 8 : 1000;
    const Burst result = burst(world, cpu, fitting);
    CHECK(result.admitted == fitting);
    // Large ones wait for the probe that might have succeeded.
    CHECK(result.time < (cpu == "1" ? 2s : 1s));
    CHECK(world.counted(R"(liqod_admission_probes_total{outcome="lost"})") == 1);
  }
}

TEST_CASE("whoever only says that it is an API server holds a tenth, and nobody notices") {
  World world;
  world.probes_come_from(api_server);
  world.list({api_server});
  // The client asks first, and for everything.
  Told& all = world.forges("web", "8");
  CHECK(world.code(all) == 503);
  CHECK(all.text.contains("quota liqo-tenant-rome/pool"));
  CHECK_FALSE(all.text.contains("8"));
  std::vector<Told*> small;
  for (int i = 0; i < 40; ++i) small.push_back(&world.forges("small-" + std::to_string(i), "50m"));
  int held = 0;
  for (const Told* each : small)
    if (world.code(*each) == 200) ++held;
  CHECK(held == 16);
  CHECK(world.reserved_cpu() == "800m");
  CHECK(world.counted("liqo_quota_unproven_reservations") == 16);
  CHECK(world.code(world.creates("web", "7", api_server)) == 200);
  // What it holds must not make the quota look full to other callers.
  CHECK(world.code(world.creates("db", "1", api_server)) == 503);
  CHECK(world.code(world.creates("db", "2", api_server)) == 403);
  world.pass(90s);
  CHECK(world.counted("liqo_quota_unproven_reservations") == 0);
  CHECK(world.code(world.creates("db", "1", api_server)) == 200);
}

TEST_CASE("refusals and dry runs tell such a caller nothing of what is in use") {
  World world;
  world.probes_come_from(api_server);
  world.list({api_server});
  CHECK(world.code(world.creates("web", "7500m", api_server)) == 200);
  Told& full = world.forges("small", "600m");
  CHECK(world.code(full) == 403);
  CHECK(full.text == "quota liqo-tenant-rome/pool has not enough cpu");
  for (const std::string_view cpu : {"0", "1m", "499m", "500m", "501m", "801m", "4", "9"})
    CHECK(world.code(world.forges("probe", cpu, forger, true)) == 503);
  CHECK(world.code(world.creates("db", "1", api_server)) == 403);
}

TEST_CASE("such callers wait to be known in bounded numbers, and everybody else is answered meanwhile") {
  World world;
  world.probes_come_from(api_server);
  // If the API servers cannot be listed, only a caller that has waited may get more than the share, and none here has.
  CHECK(world.code(world.creates("web", "1", api_server)) == 200);
  const kube::TimePoint start = world.simulator.clock().now();
  std::vector<Told*> told;
  for (int i = 0; i < 900; ++i)
    told.push_back(
        &world.forges("large-" + std::to_string(i), "6", "10.244.0." + std::to_string(i < 700 ? 1 : i - 700 + 2)));
  const auto answered = [&] { return std::ranges::count_if(told, [](const Told* each) { return each->code == 503; }); };
  CHECK(world.reaches([&] { return answered() >= 900 - 768; }));
  CHECK(world.simulator.clock().now() - start < 500ms);
  CHECK(world.counted("liqod_admission_not_awaited_total") == 900 - 768);
  CHECK(world.code(world.creates("db", "1", api_server)) == 200);
  CHECK(world.simulator.clock().now() - start < 500ms);
  CHECK(answered() == 900 - 768);
  CHECK(world.reaches([&] { return answered() == 899; }));
  CHECK(std::ranges::count_if(told, [](const Told* each) { return each->code == 200; }) == 1);
  // No request waits any more: there is room for others.
  CHECK(world.code(world.forges("large", "6")) == 503);
  CHECK(world.counted("liqod_admission_not_awaited_total") == 900 - 768);
}

TEST_CASE("such a caller does not keep the pod of a name out") {
  World world;
  world.probes_come_from(api_server);
  world.list({api_server});
  for (int i = 0; i < 5; ++i) (void)world.code(world.forges("web-0", "0"));
  CHECK(world.code(world.creates("web-0", "2", api_server)) == 200);
}

TEST_CASE("where API servers are not all known, more than a tenth is held by one, and seldom in vain") {
  World world;
  world.probes_come_from(api_server);
  world.list({api_server, second_api_server});
  CHECK(world.code(world.forges("web", "8")) == 200);
  CHECK(world.code(world.creates("db", "1", api_server)) == 503);
  // For an hour, by a client that never gives up.
  kube::Duration full{};
  for (int i = 0; i < 720; ++i) {
    (void)world.code(world.forges("web", "8"));
    if (world.reserved_cpu() == "8") full += 5s;
    world.pass(5s);
  }
  CHECK(full < 10min);
  // The second API server is admitted once, and is known from then on.
  world.pass(90min);
  Told& large = world.creates("large", "5", second_api_server);
  CHECK(world.code(large) == 200);
  Told& next = world.creates("next", "3", second_api_server);
  CHECK(world.code(next) == 200);
  CHECK(world.callers.knows_all());
}

TEST_CASE("the UID of what is stored already proves nothing, by nobody's quota") {
  World world;
  world.probes_come_from(api_server);
  CHECK(world.code(world.creates("first", "1", api_server)) == 200);
  // The watch is late: a reader of ShadowPods knows more than liqod.
  world.link.set_faults({.stalled = 1, .stalled_by = 3s});
  const std::string uid = world.next_uid();
  CHECK(world.code(world.sends(World::shadow("web", "1", uid), api_server, true)) == 200);
  (void)world.code(world.sends(World::shadow("web", "1", uid), forger, false));
  (void)world.code(world.sends(World::shadow("other", "1m", uid), forger, false));
  // Of another quota's record it is not known.
  CHECK(world.code(world.sends(World::shadow("web", "1m", uid, "lab"), forger, false)) == 200);
  world.link.set_faults({});
  world.pass(10s);
  CHECK(world.counted("liqod_admission_proven_callers") == 1);
}
