// Replication from one consumer to one provider: rights that are lost while an object ends, and a namespace of another
// consumer.
#include <doctest/doctest.h>

#include <algorithm>

#include "../adds.hpp"
#include "../cluster_fixture.hpp"
#include "core/peering/forge.hpp"
#include "kube/base/url.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kept_twins.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace labels = api::labels;
namespace resources = kube::resources;

enum class Rights { all, one_object, none };

kube::net::Response forbidden() {
  class Text final : public kube::net::Body {
   public:
    asio::awaitable<kube::Result<std::string>> read() override { co_return std::exchange(text_, ""); }

   private:
    std::string text_ = R"({"kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403})";
  };
  return {.head = {.status = 403, .headers = {{"content-type", "application/json"}}}, .body = std::make_unique<Text>()};
}

/// A link that can refuse reads of several objects, or all requests. Its server has a clock of its own, and may answer
/// with the objects of all consumers.
class GuardedLink final : public PlainLink {
 public:
  GuardedLink(kube::testing::SimLink& link, kube::async::Clock& clock, const Rights& rights,
              const std::chrono::seconds& ahead, const bool& tells_all)
      : PlainLink(link), clock_(clock), rights_(rights), ahead_(ahead), tells_all_(tells_all) {}
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline deadline) override {
    const bool is_list = request.verb == "list" || request.verb == "watch";
    if (rights_ == Rights::none || (rights_ == Rights::one_object && is_list)) co_return forbidden();
    if (is_list && tells_all_) {
      leave_out(request.target, "namespaces/liqo-tenant-rome/", "nr");
      leave_out(request.target, "labelSelector=", "&");
    }
    auto response = co_await PlainLink::send(std::move(request), deadline);
    if (response) response->head.headers.emplace_back("date", http_date(clock_.wall() + ahead_));
    co_return response;
  }

 private:
  /// That part, and the text behind it up to one of `ends`.
  static void leave_out(std::string& target, std::string_view part, std::string_view ends) {
    const std::size_t at = target.find(part);
    if (at != std::string::npos) target.erase(at, target.find_first_of(ends, at + part.size()) - at);
  }

  kube::async::Clock& clock_;
  const Rights& rights_;
  const std::chrono::seconds& ahead_;
  const bool& tells_all_;
};

/// Consumer rome with a slice that is replicated to provider milan.
struct Consumer : ClusterFixture {
  /// `owner`: the cluster that the label of the namespace names.
  explicit Consumer(std::string_view owner = "milan", controllers::Settings settings = {})
      : ClusterFixture("rome"), milan(simulator.clock()), to_milan(simulator, milan, "rome") {
    for (const kube::Resource& kind : {kinds::namespace_maps, kinds::resource_slices, kinds::renews}) milan.serve(kind);
    connect = [this](const std::string&,
                     const kube::Object&) -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
      return std::make_unique<GuardedLink>(to_milan, simulator.clock(), rights, ahead, tells_all);
    };
    give_namespace(owner);
    kube::Object secret = kube::Object::make(resources::secrets, {slice_key.ns, "kubeconfig-controlplane-milan"});
    secret.set_label(labels::remote_cluster_id, "milan");
    secret.set_label(labels::identity_type, api::control_plane_identity);
    secret.set_annotation(api::annotations::remote_tenant_namespace, replica_key.ns);
    apply(resources::secrets, secret);
    give_slice(slice_key.name);
    start(std::move(settings));
  }
  ~Consumer() { stop(); }

  void give_slice(const std::string& name) {
    kube::Object slice = kube::Object::make(kinds::resource_slices, {slice_key.ns, name});
    slice.set_label(labels::replication, "true");
    slice.set_label(labels::replication_destination, "milan");
    slice.set_label(labels::remote_cluster_id, "milan");
    slice.mutable_spec() = json::object{
        {"class", "custom"}, {"consumerClusterID", "rome"}, {"providerClusterID", "milan"}, {"csr", "Q1NS"}};
    apply(kinds::resource_slices, slice);
  }
  void give_namespace(std::string_view owner) {
    kube::Object ns = core::forge_tenant_namespace("milan");
    ns.set_label(labels::remote_cluster_id, owner);
    apply(resources::namespaces, ns);
  }
  std::optional<kube::Object> replica() {
    const auto tree = milan.get(kinds::resource_slices, replica_key);
    return tree ? std::optional(kube::Object(*tree)) : std::nullopt;
  }
  /// Milan makes slices that look like replicas of `origin`, 2 MiB of them.
  void flood(const std::string& ns, std::string_view origin) {
    for (int i = 0; i < 32; ++i) {
      kube::Object slice = kube::Object::make(kinds::resource_slices, {ns, "flood-" + std::to_string(i)});
      slice.set_label(labels::replication_origin, origin);
      slice.set_label(labels::replicated, "true");
      slice.set_annotation("example.com/x", std::string(64 << 10, 'x'));
      static_cast<void>(milan.create(kinds::resource_slices, slice.tree(), "milan"));
    }
  }
  void end_flood(const std::string& ns) {
    for (int i = 0; i < 32; ++i)
      static_cast<void>(milan.remove(kinds::resource_slices, {ns, "flood-" + std::to_string(i)}, {}, "milan"));
  }
  bool has_replica(const std::string& name) {
    return milan.get(kinds::resource_slices, {replica_key.ns, name}) != nullptr;
  }
  /// Milan's status of a slice, with that many bytes.
  void answer(std::size_t bytes, char of = 'x', const std::string& name = "pool") {
    const json::object condition{{"type", "Resources"}, {"status", "Accepted"}, {"message", std::string(bytes, of)}};
    static_cast<void>(milan.update(
        {kinds::resource_slices, {replica_key.ns, name}, "status"},
        [&](json::object& next) { next["status"] = json::object{{"conditions", json::array{condition}}}; }, "milan"));
  }
  std::string reported_message() {
    const auto slice = find(kinds::resource_slices, slice_key);
    const json::array conditions = slice ? kube::array_at(slice->status(), {"conditions"}) : json::array();
    return conditions.empty() ? "" : std::string(kube::string_at(conditions.front().as_object(), {"message"}));
  }
  double held() { return metric("kube_store_budget_bytes{cluster=\"milan\"} "); }
  double metric(std::string_view line) {
    const std::string all = metrics();
    const std::size_t at = all.find(line);
    return at == std::string::npos ? -1 : std::stod(all.substr(at + line.size()));
  }
  /// A finalizer of the provider.
  void hold_replica(bool held) {
    static_cast<void>(milan.update(
        {kinds::resource_slices, replica_key},
        [&](json::object& next) {
          kube::ensure_object(next, "metadata")["finalizers"] =
              held ? json::array{"milan.example/clean-up"} : json::array{};
        },
        "milan"));
  }

  const kube::ObjectKey slice_key{"liqo-tenant-milan", "pool"}, replica_key{"liqo-tenant-rome", "pool"};
  kube::testing::FakeApiServer milan;
  kube::testing::SimLink to_milan;
  Rights rights = Rights::all;
  std::chrono::seconds ahead{0};  ///< milan's clock
  bool tells_all = false;         ///< whatever is requested
};

}  // namespace

TEST_CASE("an object is let go whose replica was last seen going, before the provider took our rights away") {
  struct Case {
    const char* title;
    Rights left;
    bool ends;  ///< the replica is removed, unseen
  };
  for (const Case& c :
       {Case{"nothing may be read any more", Rights::none, false}, Case{"no watch", Rights::one_object, true}}) {
    CAPTURE(c.title);
    Consumer rome;
    REQUIRE(rome.reaches([&] { return rome.replica().has_value(); }));
    rome.hold_replica(true);
    static_cast<void>(rome.server.remove(kinds::resource_slices, rome.slice_key, {}, "operator"));
    REQUIRE(rome.reaches([&] { return rome.replica()->is_deleting(); }));
    rome.pass(2min);
    CHECK(rome.has(kinds::resource_slices, rome.slice_key));
    rome.rights = c.left;
    rome.to_milan.cut_watches();
    rome.pass(5s);
    if (c.ends) rome.hold_replica(false);
    CHECK(rome.reaches([&] { return !rome.has(kinds::resource_slices, rome.slice_key); }, 2min));
    CHECK(rome.replica().has_value() != c.ends);
  }
}

TEST_CASE("a replica that the watch loses while home is asked whether it is wanted goes all the same") {
  Consumer rome;
  REQUIRE(rome.reaches([&] { return rome.replica().has_value(); }));
  // The watch shows the loss before home answers.
  rome.link.set_faults({.latency_low = 100ms, .latency_high = 100ms});
  bool is_asked = false;
  rome.refuses = [&](const kube::HttpRequest& request) {
    if (request.verb == "get" && request.resource == "resourceslices" && !std::exchange(is_asked, true))
      static_cast<void>(rome.milan.update(
          {kinds::resource_slices, rome.replica_key},
          [](json::object& next) { kube::testing::remove_label(next, labels::replicated); }, "milan"));
    return std::string();
  };
  static_cast<void>(rome.server.remove(kinds::resource_slices, rome.slice_key, {}, "operator"));
  CHECK(rome.reaches([&] { return !rome.has(kinds::resource_slices, rome.slice_key); }));
  CHECK(is_asked);
  CHECK_FALSE(rome.replica());
}

TEST_CASE("of the maps that a provider shows and home does not know, home makes its own alone") {
  Consumer rome;
  REQUIRE(rome.reaches([&] { return rome.replica().has_value(); }));
  const auto show = [&](const std::string& name) {
    kube::Object map = kube::Object::make(kinds::namespace_maps, {rome.replica_key.ns, name});
    map.set_label(labels::replication_origin, "rome");
    map.set_label(labels::replicated, "true");
    map.mutable_spec()["desiredMapping"] = json::object{{"blog", "blog-rome"}};
    REQUIRE(rome.milan.create(kinds::namespace_maps, map.tree(), "milan").has_value());
  };
  const std::size_t before = rome.writes();
  for (int i = 0; i < 50; ++i) show("x" + std::to_string(i));
  rome.pass(2min);
  CHECK(rome.server.list(kinds::namespace_maps).empty());
  CHECK(rome.writes() - before < 20);
  CHECK(rome.milan.get(kinds::namespace_maps, {rome.replica_key.ns, "x0"}) != nullptr);
  show("milan");
  CHECK(rome.reaches([&] {
    const auto map = rome.find(kinds::namespace_maps, {rome.slice_key.ns, "milan"});
    return map && map->annotation(api::annotations::holds_data) == "blog";
  }));
  CHECK(rome.server.list(kinds::namespace_maps).size() == 1);
}

TEST_CASE("a provider whose clock is an hour off is told of, once, until it is right") {
  Consumer rome;
  const auto condition = [&] {
    const auto peer = rome.find(kinds::foreign_clusters, {"", "milan"});
    const json::array conditions = peer ? kube::array_at(peer->status(), {"conditions"}) : json::array();
    return conditions.empty() ? json::object() : conditions.front().as_object();
  };
  const auto says = [&](std::string_view words) {
    return kube::string_at(condition(), {"message"}).contains(words) &&
           kube::string_at(condition(), {"reason"}) == "APIServerReady";
  };
  REQUIRE(rome.reaches([&] { return says("API server of the peer is ready"); }));
  CHECK_FALSE(says("clock"));
  rome.ahead = 1h;
  CHECK(rome.reaches([&] { return says("; its clock is 60 min ahead of ours"); }, 2min));
  CHECK(kube::string_at(condition(), {"status"}) == "Established");
  const std::size_t before = rome.writes();
  for (int minute = 0; minute < 60; ++minute) {
    rome.ahead += minute % 2 ? 2s : -2s;
    rome.pass(1min);
  }
  CHECK(rome.writes() == before);
  rome.ahead = -90s;
  CHECK(rome.reaches([&] { return says(" s behind ours"); }, 2min));
  rome.ahead = 0s;
  CHECK(rome.reaches([&] { return !says("clock"); }, 2min));
}

TEST_CASE("credentials in a namespace of another cluster are taken once its label is corrected") {
  Consumer rome("turin");
  REQUIRE(rome.reaches([&] { return !rome.events(api::reasons::credentials_unusable).empty(); }));
  rome.pass(1min);
  CHECK(!rome.replica());
  rome.give_namespace("milan");
  CHECK(rome.reaches([&] { return rome.replica().has_value(); }));
}

TEST_CASE("a provider is not lost any more whose ForeignCluster has gone, whatever that was called") {
  Consumer rome;
  const kube::ObjectKey other{rome.slice_key.ns, "other"};
  rome.give_slice(other.name);
  REQUIRE(rome.reaches(
      [&] { return rome.milan.get(kinds::resource_slices, {rome.replica_key.ns, other.name}) != nullptr; }));
  rome.to_milan.refuse();
  rome.refuses = [](const kube::HttpRequest& request) {
    return request.verb == "create" && request.resource == "foreignclusters" ? std::string("people make them here")
                                                                             : "";
  };
  static_cast<void>(rome.server.remove(kinds::foreign_clusters, {"", "milan"}, {}, "operator"));
  kube::Object peer = kube::Object::make(kinds::foreign_clusters, {"", "my-milan"});
  peer.mutable_spec()["clusterID"] = "milan";
  peer.set_annotation(api::annotations::permanently_unreachable, "true");
  rome.apply(kinds::foreign_clusters, peer);
  static_cast<void>(rome.server.remove(kinds::resource_slices, other, {}, "operator"));
  CHECK(rome.reaches([&] { return !rome.has(kinds::resource_slices, other); }, 2min));

  static_cast<void>(rome.server.remove(kinds::foreign_clusters, peer.key(), {}, "operator"));
  rome.pass(5s);
  static_cast<void>(rome.server.remove(kinds::resource_slices, rome.slice_key, {}, "operator"));
  rome.pass(1min);
  CHECK(rome.has(kinds::resource_slices, rome.slice_key));
  rome.to_milan.heal();
  CHECK(rome.reaches([&] { return !rome.has(kinds::resource_slices, rome.slice_key); }, 2min));
  CHECK_FALSE(rome.replica());
}

TEST_CASE("a status that may not be written at home is told as that, and makes no rights at the provider doubtful") {
  Consumer rome;
  REQUIRE(rome.reaches([&] { return rome.replica().has_value(); }));
  const auto asked_in_ten_minutes = [&] {
    const std::uint64_t before = rome.to_milan.requests();
    rome.pass(10min);
    return rome.to_milan.requests() - before;
  };
  const std::uint64_t calm = asked_in_ten_minutes();
  rome.refuses = [](const kube::HttpRequest& request) {
    const bool is_status = kube::path_of(request.target).ends_with("/resourceslices/pool/status");
    return std::string(is_status ? "statuses are frozen" : "");
  };
  static_cast<void>(rome.milan.update(
      {kinds::resource_slices, rome.replica_key, "status"},
      [](json::object& next) {
        next["status"] =
            json::object{{"conditions", json::array{json::object{{"type", "Resources"}, {"status", "Accepted"}}}}};
      },
      "milan"));
  REQUIRE(rome.reaches([&] { return !rome.events(api::reasons::failed_replication).empty(); }));
  const std::string told = rome.events(api::reasons::failed_replication).front();
  CHECK(told.starts_with("ResourceSlice pool does not show the status that it has in milan, which is tried again: "));
  CHECK(told.contains("statuses are frozen"));
  CHECK(asked_in_ten_minutes() < calm + 15);
}

TEST_CASE("a provider that shows slices without end stops its own session, is told of, and is tried again") {
  controllers::Settings settings;
  settings.links.provider_cache_mib = 1;
  Consumer rome("milan", settings);
  REQUIRE(rome.reaches([&] { return rome.replica().has_value() && rome.held() > 0; }));
  rome.flood(rome.replica_key.ns, "rome");
  REQUIRE(rome.reaches([&] { return !rome.events(api::reasons::provider_unusable).empty(); }));
  CHECK(rome.events(api::reasons::provider_unusable).front().contains("--provider-cache-mib"));
  CHECK(rome.events(api::reasons::provider_unusable).front().contains("resourceslices of liqo-tenant-rome"));
  CHECK(rome.reaches([&] {
    const auto peer = rome.find(kinds::foreign_clusters, {"", "milan"});
    return peer && peer->text().contains("APIServerNotReady") && peer->text().contains("--provider-cache-mib");
  }));
  CHECK(rome.held() == 0);
  const std::uint64_t before = rome.to_milan.requests();
  rome.give_slice("later");
  rome.pass(4min);
  CHECK(rome.to_milan.requests() == before);
  // It is tried again, and held no more than the budget, whether the flood lasts or not.
  CHECK(rome.reaches([&] { return rome.to_milan.requests() > before; }, 2min));
  rome.pass(10s);
  CHECK(rome.held() == 0);
  CHECK_FALSE(rome.has_replica("later"));
  rome.end_flood(rome.replica_key.ns);
  CHECK(rome.reaches([&] { return rome.has_replica("later"); }, 6min));
}

TEST_CASE("slices of others that a provider shows are not held, and replication goes on") {
  controllers::Settings settings;
  settings.links.provider_cache_mib = 1;
  Consumer rome("milan", settings);
  rome.tells_all = true;
  REQUIRE(rome.reaches([&] { return rome.replica().has_value(); }));
  rome.flood("liqo-tenant-turin", "rome");
  rome.flood(rome.replica_key.ns, "turin");
  rome.pass(1min);
  rome.to_milan.cut_watches();
  rome.pass(1min);
  rome.give_slice("later");
  CHECK(rome.reaches([&] { return rome.has_replica("later"); }));
  CHECK(rome.events(api::reasons::provider_unusable).empty());
  CHECK(rome.held() > 0);
  CHECK(rome.held() < 64 << 10);
}

TEST_CASE("a status that is too large does not come home, and its object says so") {
  Consumer rome;
  REQUIRE(rome.reaches([&] { return rome.replica().has_value(); }));
  rome.answer(10);
  REQUIRE(rome.reaches([&] { return rome.reported_message().size() == 10; }));
  rome.answer(100 << 10);
  REQUIRE(rome.reaches([&] { return !rome.events(api::reasons::failed_replication).empty(); }));
  const std::string told = rome.events(api::reasons::failed_replication).front();
  CHECK(told.starts_with("ResourceSlice pool does not show the status that it has in milan: it has 101 KiB there"));
  CHECK(told.contains("at most 64 KiB"));
  for (int i = 0; i < 20; ++i) {
    rome.answer((100 << 10) + std::size_t(i) * 1024);
    rome.pass(1s);
  }
  CHECK(rome.times_reported(api::reasons::failed_replication) == 1);
  CHECK(rome.reported_message().size() == 10);
  rome.answer(20);
  CHECK(rome.reaches([&] { return rome.reported_message().size() == 20; }));
}

TEST_CASE("more than can be read of a provider is told at what is replicated there, and read again later") {
  controllers::Settings settings;
  settings.links.provider_cache_mib = 64;
  Consumer rome("milan", settings);
  REQUIRE(rome.reaches([&] { return rome.replica().has_value(); }));
  rome.answer(10);
  REQUIRE(rome.reaches([&] { return rome.reported_message().size() == 10; }));
  // 600 KB of text become a tree of more than 16 MiB with what its parser holds besides.
  const auto set_numbers = [&rome](std::size_t count) {
    static_cast<void>(rome.milan.update(
        {kinds::resource_slices, rome.replica_key, "status"},
        [count](json::object& next) { kube::ensure_object(next, "status")["numbers"] = json::array(count, 0); },
        "milan"));
  };
  set_numbers(300'000);
  REQUIRE(rome.reaches([&] { return !rome.events(api::reasons::failed_replication).empty(); }, 1min));
  const std::string told = rome.events(api::reasons::failed_replication).front();
  CHECK(told.starts_with("ResourceSlice pool is not replicated to milan, which is tried again: "));
  CHECK(told.contains("than is left for what is read of cluster milan: "));
  rome.pass(4min);
  CHECK(rome.times_reported(api::reasons::failed_replication) == 1);
  CHECK(rome.reported_message().size() == 10);
  set_numbers(0);
  rome.answer(20);
  CHECK(rome.reaches([&] { return rome.reported_message().size() == 20; }, 6min));
}

TEST_CASE("statuses that a provider flips are written home at the pace of its budget, and the last one arrives") {
  Consumer rome;
  std::vector<std::string> names{"pool"};
  for (int i = 1; i < 8; ++i) rome.give_slice(names.emplace_back("pool-" + std::to_string(i)));
  REQUIRE(
      rome.reaches([&] { return std::ranges::all_of(names, [&](const auto& of) { return rome.has_replica(of); }); }));
  const auto delayed = [&] { return rome.metric("liqo_provider_bytes_delayed_total{cluster_id=\"milan\"} "); };
  for (const std::string& name : names) rome.answer(10, 'x', name);
  REQUIRE(rome.reaches([&] { return rome.reported_message().size() == 10; }));
  rome.pass(10s);
  CHECK(delayed() == 0);
  const std::size_t before = rome.writes();
  for (int i = 0; i < 100; ++i) {
    for (const std::string& name : names) rome.answer(60 << 10, i % 2 ? 'a' : 'b', name);
    rome.pass(100ms);
  }
  // 16 MiB at once and 512 KiB in each of ten seconds, by 52 KiB.
  CHECK(rome.writes() - before < 500);
  CHECK(rome.writes() - before > 300);
  CHECK(delayed() > 0);
  rome.answer(20);
  CHECK(rome.reaches([&] { return rome.reported_message().size() == 20; }));
}

TEST_CASE("the status of a ForeignCluster has neither its session nor the replicated objects looked at") {
  Consumer rome;
  REQUIRE(rome.reaches([&] { return rome.replica() && rome.has(kinds::foreign_clusters, {"", "milan"}); }));
  for (int i = 0; i < 10; ++i) rome.give_slice("more-" + std::to_string(i));
  rome.pass(1min);
  const auto looked = [&] {
    return adds(rome.metrics(), "replication-session") + adds(rome.metrics(), "replication-orphan");
  };
  const double before = looked();
  for (int i = 0; i < 5; ++i) {
    rome.change(kinds::foreign_clusters, {"", "milan"}, "",
                [&](json::object& next) { kube::testing::set_annotation(next, "example.com/x", std::to_string(i)); });
    rome.pass(1s);
  }
  CHECK(looked() == before);
}

}  // namespace liqo::testing
