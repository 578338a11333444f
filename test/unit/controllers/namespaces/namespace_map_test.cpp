// Twin namespaces over a fake API server: which are made for a consumer's NamespaceMaps, and how many.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "../cluster_fixture.hpp"
#include "core/namespaces/twin_plan.hpp"
#include "core/peering/forge.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "support/captured_stderr.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace labels = api::labels;
namespace resources = kube::resources;

/// Provider milan with the tenant namespace of rome.
struct Provider : ClusterFixture {
  explicit Provider(controllers::Settings settings = {}) : ClusterFixture("milan") {
    apply(resources::namespaces, core::forge_tenant_namespace("rome"));
    start(std::move(settings));
  }
  ~Provider() { stop(); }

  void ask(const std::string& map, const std::vector<std::pair<std::string, std::string>>& twins) {
    kube::Object object = kube::Object::make(kinds::namespace_maps, {ns, map});
    object.set_label(labels::replicated, "true");
    object.set_label(labels::replication_origin, "rome");
    json::object& wanted = kube::ensure_object(object.mutable_spec(), "desiredMapping");
    for (const auto& [local, twin] : twins) wanted[local] = twin;
    apply(kinds::namespace_maps, object);
  }
  void set_policy(std::string_view policy) {
    change(resources::namespaces, {"", ns}, "",
           [&](json::object& next) { kube::testing::set_annotation(next, "liqo.io/pod-policy", policy); });
  }
  /// "phase: message" of one entry of a map.
  std::string answer(const std::string& map, const std::string& local) {
    const auto found = find(kinds::namespace_maps, {ns, map});
    if (!found) return "";
    const std::string phase(kube::string_at(found->status(), {"currentMapping", local, "phase"}));
    return phase + ": " + std::string(kube::string_at(found->status(), {"currentMapping", local, "message"}));
  }
  bool is_accepted(const std::string& map, const std::string& local) { return answer(map, local) == "Accepted: "; }
  std::size_t twins() {
    std::size_t count = 0;
    for (const auto& found : server.list(resources::namespaces))
      if (kube::Object(*found).has_annotation(api::annotations::managed_by_namespace_map)) ++count;
    return count;
  }

  const std::string ns = "liqo-tenant-rome";
};

}  // namespace

TEST_CASE("a consumer gets no name that others may be about to use, until the provider allows it") {
  Provider milan;
  milan.ask("milan", {{"shop", "shop-rome"}, {"mail", "cert-manager"}, {"blog", "blog"}});
  REQUIRE(milan.reaches([&] { return milan.is_accepted("milan", "shop"); }));
  REQUIRE(milan.reaches([&] { return milan.answer("milan", "mail").starts_with("CreationLoopBackOff"); }));
  CHECK(milan.answer("milan", "mail").find("(twinNames)") != std::string::npos);
  CHECK_FALSE(milan.has(resources::namespaces, {"", "cert-manager"}));
  CHECK_FALSE(milan.has(resources::namespaces, {"", "blog"}));

  milan.set_policy(R"({"twinNames": ["blog"]})");
  CHECK(milan.reaches([&] { return milan.is_accepted("milan", "blog"); }));
  // What exists stays, whatever the policy says later.
  CHECK(milan.is_accepted("milan", "shop"));
  milan.set_policy(R"({"twinNames": []})");
  milan.pass(10s);
  CHECK(milan.is_accepted("milan", "blog"));
  CHECK(milan.is_accepted("milan", "shop"));
  CHECK_FALSE(milan.has(resources::namespaces, {"", "cert-manager"}));
}

TEST_CASE("the names of a cluster are kept for it from when it is known") {
  Provider milan;
  milan.ask("milan", {{"shop", "shop-east-rome"}});
  REQUIRE(milan.reaches([&] { return milan.is_accepted("milan", "shop"); }));
  milan.apply(resources::namespaces, core::forge_tenant_namespace("east-rome"));
  milan.ask("milan", {{"shop", "shop-east-rome"}, {"blog", "blog-east-rome"}});
  CHECK(milan.reaches([&] {
    return milan.answer("milan", "blog").find("keeps the name blog-east-rome for cluster east-rome") !=
           std::string::npos;
  }));
  CHECK(milan.is_accepted("milan", "shop"));
}

TEST_CASE("patterns of the whole cluster hold where a policy has none") {
  controllers::Settings settings;
  settings.namespaces.twin_names = {"team-*"};
  Provider milan(std::move(settings));
  milan.ask("milan", {{"shop", "shop-rome"}, {"blog", "team-blog"}});
  REQUIRE(milan.reaches([&] { return milan.is_accepted("milan", "blog"); }));
  CHECK(milan.answer("milan", "shop").starts_with("CreationLoopBackOff"));
  milan.set_policy(R"({"twinNames": ["*-rome"]})");
  CHECK(milan.reaches([&] { return milan.is_accepted("milan", "shop"); }));
}

TEST_CASE("a twin is told of when what it holds is counted, and its bounds follow grants and policy") {
  Provider milan;
  milan.ask("milan", {{"shop", "shop-rome"}});
  const kube::ObjectKey bounds{"shop-rome", "liqo-twin"};
  REQUIRE(milan.reaches([&] { return milan.has(kinds::resource_quotas, bounds); }));
  CHECK(milan.answer("milan", "shop") == ": ");
  REQUIRE(milan.reaches([&] { return milan.is_accepted("milan", "shop"); }));
  const auto hard = [&](std::string_view name) {
    const auto found = milan.find(kinds::resource_quotas, bounds);
    return found ? std::string(kube::string_at(found->spec(), {"hard", name})) : "";
  };
  CHECK(hard("count/secrets") == "1k");
  kube::Object grant = kube::Object::make(kinds::quotas, {milan.ns, "pool-1f"});
  grant.mutable_spec() = json::object{{"user", "pool-1f"}, {"resources", json::object{{"pods", "110"}}}};
  milan.apply(kinds::quotas, grant);
  CHECK(milan.reaches([&] { return hard("count/secrets") == "2k"; }));
  milan.set_policy(R"({"twinQuota": {"count/secrets": "7"}})");
  CHECK(milan.reaches([&] { return hard("count/secrets") == "7"; }));
  // It is restored if it is removed or widened.
  milan.change(kinds::resource_quotas, bounds, "",
               [](json::object& next) { kube::testing::ensure_path(next, {"spec", "hard"})["count/secrets"] = "1M"; });
  CHECK(milan.reaches([&] { return hard("count/secrets") == "7"; }));
  static_cast<void>(milan.server.remove(kinds::resource_quotas, bounds, {}, "operator"));
  CHECK(milan.reaches([&] { return hard("count/secrets") == "7"; }));
  CHECK(milan.is_accepted("milan", "shop"));
  milan.pass(5s);
  const std::size_t before = milan.writes();
  milan.pass(10min);
  CHECK(milan.writes() == before);
}

TEST_CASE("where nobody counts what twins hold, both sides are told") {
  Provider milan;
  milan.quota_controller.stop();
  milan.ask("milan", {{"shop", "shop-rome"}});
  milan.pass(20s);
  CHECK(milan.answer("milan", "shop") == ": ");
  CHECK(milan.reaches(
      [&] { return milan.answer("milan", "shop").starts_with("CreationLoopBackOff: nobody counts what it holds"); }));
}

TEST_CASE("an entry that was told in trouble stays while what its twin holds is counted anew") {
  Provider milan;
  bool is_refused = false;
  milan.ask("milan", {{"shop", "shop-rome"}});
  REQUIRE(milan.reaches([&] { return milan.is_accepted("milan", "shop"); }));
  // A policy of the provider refuses to recreate the ResourceQuota that was removed.
  milan.refuses = [&](const kube::HttpRequest& request) -> std::string {
    return is_refused && request.verb == "create" && request.resource == "resourcequotas" ? "not today" : "";
  };
  is_refused = true;
  milan.quota_controller.stop();
  static_cast<void>(milan.server.remove(kinds::resource_quotas, {"shop-rome", "liqo-twin"}, {}, "operator"));
  REQUIRE(milan.reaches([&] { return milan.answer("milan", "shop").starts_with("CreationLoopBackOff"); }));
  is_refused = false;
  REQUIRE(milan.reaches([&] { return milan.has(kinds::resource_quotas, {"shop-rome", "liqo-twin"}); }));
  for (int second = 0; second < 20; ++second) {
    milan.pass(1s);
    REQUIRE(milan.answer("milan", "shop").starts_with("CreationLoopBackOff: "));
  }
}

TEST_CASE("where all twins together hold what they may, none gets more, until some is free again") {
  Provider milan;
  milan.set_policy(R"({"tenantQuota": {"count/secrets": "20"}})");
  milan.ask("milan", {{"shop", "shop-rome"}, {"blog", "blog-rome"}});
  REQUIRE(milan.reaches([&] { return milan.is_accepted("milan", "shop") && milan.is_accepted("milan", "blog"); }));
  const auto hard = [&](const std::string& twin) {
    const auto found = milan.find(kinds::resource_quotas, {twin, "liqo-twin"});
    return std::string(kube::string_at(found->spec(), {"hard", "count/secrets"}));
  };
  CHECK(hard("shop-rome") == "1k");
  for (int i = 0; i < 22; ++i)
    milan.apply(resources::secrets,
                kube::Object::make(resources::secrets, {i < 15 ? "shop-rome" : "blog-rome", "s" + std::to_string(i)}));
  CHECK(milan.reaches([&] { return hard("shop-rome") == "15" && hard("blog-rome") == "7"; }));
  milan.pass(5s);
  const std::size_t before = milan.writes();
  const auto take = [&](int i) {
    static_cast<void>(milan.server.remove(resources::secrets, {"shop-rome", "s" + std::to_string(i)}, {}, "operator"));
  };
  for (int i = 0; i < 3; ++i) take(i);
  milan.pass(5s);
  // 19 are left: too many to begin again. Those that are gone cannot come back.
  CHECK(hard("blog-rome") == "7");
  CHECK(milan.writes() <= before + 2);
  take(3);
  CHECK(milan.reaches([&] { return hard("shop-rome") == "1k" && hard("blog-rome") == "1k"; }));
}

TEST_CASE("the twins of a consumer are counted over all of its maps") {
  Provider milan;
  const auto names = [](int map, std::size_t count) {
    std::vector<std::pair<std::string, std::string>> twins;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string local = "m" + std::to_string(map) + "-" + std::to_string(i);
      twins.emplace_back(local, local + "-rome");
    }
    return twins;
  };
  for (int map = 0; map < 4; ++map) milan.ask("milan-" + std::to_string(map), names(map, 300));
  milan.pass(2min);
  CHECK(milan.twins() == core::max_twins);
  std::size_t refused = 0;
  for (int map = 0; map < 4; ++map)
    for (const auto& [local, twin] : names(map, 300))
      if (milan.answer("milan-" + std::to_string(map), local).find("no more than 1000 namespaces") != std::string::npos)
        ++refused;
  CHECK(refused == 200);
  const std::size_t before = milan.writes();
  milan.pass(1min);
  CHECK(milan.writes() == before);
}

TEST_CASE("a line of the log is short where many twins cannot be removed") {
  kube::test::CapturedStderr log;
  Provider milan;
  std::vector<std::pair<std::string, std::string>> twins;
  for (int i = 0; i < 100; ++i) twins.emplace_back("m" + std::to_string(i), "m" + std::to_string(i) + "-rome");
  milan.ask("milan", twins);
  REQUIRE(milan.reaches([&] { return milan.twins() == 100; }));
  milan.refuses = [](const kube::HttpRequest& request) {
    return std::string(request.verb == "delete" && request.resource == "namespaces" ? "a guard forbids it" : "");
  };
  milan.change(kinds::namespace_maps, {milan.ns, "milan"}, "",
               [](json::object& next) { kube::ensure_object(next, "spec")["desiredMapping"] = json::object(); });
  REQUIRE(milan.reaches([&] { return log.lines_with("removing twin") > 0; }));
  std::istringstream lines(log.text());
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.contains("removing twin")) longest = std::max(longest, line.size());
  CHECK(longest < 2000);
}

}  // namespace liqo::testing
