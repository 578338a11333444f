// The objects that twins may hold: bounds, what is spent, and the ResourceQuota of a twin.
#include "core/namespaces/twin_quota.hpp"

#include "twins.hpp"

namespace liqo::core {
namespace {

using namespace testing;

kube::Object granting(std::string_view resources) {
  return parse(R"({"metadata": {"name": "q"}, "spec": {"user": "u", "resources": )" + std::string(resources) + "}}");
}

}  // namespace

TEST_CASE("granted pods are counted in thousands") {
  struct Case {
    std::vector<kube::Object> quotas;
    std::int64_t pods;
  };
  const Case cases[] = {{{}, 0},
                        {{granting(R"({"pods": "0"})")}, 0},
                        {{granting(R"({"pods": "1"})")}, 1000},
                        {{granting(R"({"pods": "110"})"), granting(R"({"pods": "890"})")}, 1000},
                        {{granting(R"({"pods": "110"})"), granting(R"({"pods": "1k"})")}, 2000},
                        {{granting(R"({"cpu": "1"})")}, 20000},
                        {{granting(R"({"pods": "1M"})")}, 20000}};
  for (const Case& c : cases) CHECK(counted_pods(c.quotas) == c.pods);
}

TEST_CASE("a policy changes single bounds") {
  const TwinBounds usual = twin_bounds(2000, {}, {});
  CHECK(amount(usual.twin, "count/secrets").text() == "3k");
  CHECK(amount(usual.consumer, "count/secrets").text() == "22k");
  CHECK(amount(usual.twin, "services.nodeports").text() == "100");
  CHECK(amount(usual.twin, "count/endpointslices.discovery.k8s.io").text() == "10k");
  CHECK(amount(usual.consumer, "count/endpointslices.discovery.k8s.io").text() == "40k");
  const TwinBounds own = twin_bounds(0, amounts(R"({"count/secrets": "5", "count/jobs.batch": "0"})"),
                                     amounts(R"({"requests.storage": "1Ti"})"));
  CHECK(amount(own.twin, "count/secrets").text() == "5");
  CHECK(own.twin.contains("count/jobs.batch"));
  CHECK(amount(own.twin, "count/configmaps").text() == "1k");
  // To be known for all twins it has to be counted in each.
  CHECK(amount(own.twin, "requests.storage").text() == "1Ti");
}

TEST_CASE("what all twins together have used up is spent until a tenth of it is free") {
  const TwinBounds bounds{.twin = {}, .consumer = amounts(R"({"count/secrets": "100", "count/services": "10"})")};
  const auto spent = [&](const char* used, const std::set<std::string>& before) {
    return spent_bounds(bounds, amounts(used), before).contains("count/secrets");
  };
  CHECK_FALSE(spent(R"({"count/secrets": "99"})", {}));
  CHECK(spent(R"({"count/secrets": "100"})", {}));
  CHECK(spent(R"({"count/secrets": "101"})", {}));
  CHECK(spent(R"({"count/secrets": "91"})", {"count/secrets"}));
  CHECK_FALSE(spent(R"({"count/secrets": "90"})", {"count/secrets"}));
  CHECK_FALSE(spent("{}", {"count/services"}));
  CHECK(spent_bounds({.twin = {}, .consumer = amounts(R"({"count/secrets": "0"})")}, {}, {"count/secrets"}).size() ==
        1);
}

TEST_CASE("the ResourceQuota of a twin is made, kept, corrected, and ends where a bound is spent") {
  const TwinBounds bounds{.twin = amounts(R"({"count/secrets": "50", "count/services": "10"})"), .consumer = {}};
  kube::Object made = forge_twin_quota("shop-rome", ctx(), twin_hard(bounds, {}, nullptr));
  CHECK(made.text() ==
        R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"liqo-twin","namespace":"shop-rome","labels":)"
        R"({"app.kubernetes.io/managed-by":"liqo","liqo.io/remote-cluster-id":"rome"}},)"
        R"("spec":{"hard":{"count/secrets":"50","count/services":"10"}}})");
  made.mutable_metadata()["resourceVersion"] = "4";
  const auto patch = [&](const kube::Object& quota, const std::set<std::string>& spent) {
    const auto planned = plan_twin_quota(quota, ctx(), twin_hard(bounds, spent, &quota));
    return planned ? json::serialize(*planned) : "keep";
  };
  CHECK(patch(made, {}) == "keep");
  made.mutable_status() = parse_value(R"({"used": {"count/secrets": "7", "count/services": "0"}})").get_object();
  CHECK(patch(made, {"count/secrets"}) ==
        R"({"metadata":{"resourceVersion":"4"},"spec":{"hard":{"count/secrets":"7"}}})");
  kube::Object changed = made;
  changed.mutable_spec()["hard"] = json::object{{"count/secrets", "50"}, {"count/services", "10000m"}, {"pods", "1"}};
  CHECK(patch(changed, {}) == R"({"metadata":{"resourceVersion":"4"},"spec":{"hard":{"pods":null}}})");
  changed = made;
  changed.mutable_metadata().erase("labels");
  CHECK(patch(changed, {}) ==
        R"({"metadata":{"labels":{"app.kubernetes.io/managed-by":"liqo","liqo.io/remote-cluster-id":"rome"},)"
        R"("resourceVersion":"4"}})");
}

TEST_CASE("a twin is usable when everything in it has been counted, but for kinds of Liqo") {
  const auto quota = [](std::string_view used) {
    return parse(
        R"({"metadata": {"name": "liqo-twin"}, "spec": {"hard": {"count/secrets": "5", "services.nodeports": "1",
                     "count/shadowendpointslices.offloading.liqo.io": "3"}}, "status": )" +
        std::string(used) + "}");
  };
  CHECK_FALSE(is_counted(quota("{}")));
  CHECK_FALSE(is_counted(quota(R"({"used": {"count/secrets": "0"}})")));
  CHECK(is_counted(quota(R"({"used": {"count/secrets": "0", "services.nodeports": "0"}})")));
}

}  // namespace liqo::core
