// Shares of what is granted for the twins of a consumer whose roles start pods there.
#include "core/namespaces/twin_pod_bounds.hpp"

#include <algorithm>
#include <random>

#include "twins.hpp"

namespace liqo::core {
namespace {

using namespace testing;

Resources pods(std::int64_t count) { return {{"pods", kube::Quantity(count)}}; }

/// A twin whose ResourceQuota the controller of Kubernetes has taken note of.
TwinPods twin(std::string name, std::int64_t hard, std::int64_t used, std::int64_t waiting = 0) {
  return {.twin = std::move(name),
          .exists = true,
          .hard = pods(hard),
          .admitted = pods(hard),
          .used = pods(used),
          .waiting = pods(waiting),
          .whole = pods(used + waiting)};
}
TwinPods lowered(TwinPods twin, std::int64_t to) {
  twin.hard = pods(to);
  return twin;
}
TwinPods fresh(std::string name, std::int64_t whole) {
  return {.twin = std::move(name), .waiting = pods(whole), .whole = pods(whole)};
}
TwinPods leaving(TwinPods twin) {
  twin.leaving = true;
  return twin;
}

/// "a=5 b=3": what is written of pods.
std::string written(std::int64_t granted, std::vector<TwinPods> twins) {
  std::string text;
  for (const auto& [name, hard] : plan_twin_pods(pods(granted), twins))
    text += (text.empty() ? "" : " ") + name + "=" + amount(hard, "pods").text();
  return text;
}

}  // namespace

TEST_CASE("each twin gets what it needs and a share, by lowering first, and nothing is written for little") {
  // A new one begins with what is in it, and is counted before it gets more.
  CHECK(written(10, {fresh("a", 2)}) == "a=10");
  CHECK(written(10, {fresh("a", 0), fresh("b", 4)}) == "a=3 b=7");
  CHECK(written(10, {twin("a", 10, 0), fresh("b", 0)}) == "a=5 b=0");
  CHECK(written(10, {lowered(twin("a", 10, 0), 5), twin("b", 0, 0)}) == "");
  CHECK(written(10, {twin("a", 5, 0), twin("b", 0, 0)}) == "b=5");
  // Something that took the room before the API server knew is not given twice.
  CHECK(written(10, {lowered(twin("a", 10, 8), 5), twin("b", 0, 0, 2)}) == "a=8");
  CHECK(written(10, {twin("a", 8, 8), twin("b", 0, 0, 2)}) == "b=2");
  // A few pods are no reason; half of a share is.
  CHECK(written(20, {twin("a", 10, 0), twin("b", 10, 3)}) == "");
  CHECK(written(20, {twin("a", 10, 0), twin("b", 10, 8)}) == "a=6");
  CHECK(written(20, {twin("a", 6, 0), twin("b", 10, 8)}) == "b=14");
  // What ShadowPods need is more than a share.
  CHECK(written(20, {twin("a", 10, 0), twin("b", 10, 0, 14)}) == "a=3");
  CHECK(written(20, {twin("a", 3, 0), twin("b", 10, 0, 14)}) == "b=17");
}

TEST_CASE("where not all can run nobody gets more than there is") {
  // Those that need least run.
  CHECK(written(10, {twin("a", 5, 4, 9), twin("b", 5, 4, 1)}) == "");
  CHECK(written(10, {twin("a", 6, 4, 9), twin("b", 4, 4, 1)}) == "a=5");
  CHECK(written(10, {twin("a", 5, 4, 9), twin("b", 4, 4, 1)}) == "b=5");
  // A grant that shrinks below what is in use.
  CHECK(written(4, {twin("a", 6, 6), twin("b", 4, 2)}) == "a=3 b=1");
  CHECK(written(4, {twin("a", 3, 6), twin("b", 1, 2)}) == "");
  CHECK(written(4, {twin("a", 3, 5), twin("b", 1, 2)}) == "");
  CHECK(written(0, {twin("a", 3, 0), twin("b", 1, 0)}) == "a=0 b=0");
}

TEST_CASE("a twin that goes counts what it uses, and is not written") {
  CHECK(written(10, {leaving(twin("a", 8, 4)), twin("b", 2, 2)}) == "b=6");
  CHECK(written(10, {leaving(twin("a", 8, 8)), twin("b", 2, 2, 1)}) == "");
}

TEST_CASE("amounts of cpu and memory are shared exactly, and what is no longer granted stays bounded") {
  const std::vector<TwinPods> two{{.twin = "a", .whole = amounts(R"({"requests.cpu": "250m"})")}, {.twin = "b"}};
  const auto plan = plan_twin_pods(amounts(R"({"requests.cpu": "1", "requests.memory": "3Mi"})"), two);
  CHECK(json::serialize(write_resources(plan.at("a"))) == R"({"requests.cpu":"625m","requests.memory":"1536Ki"})");
  CHECK(json::serialize(write_resources(plan.at("b"))) == R"({"requests.cpu":"375m","requests.memory":"1536Ki"})");
  TwinPods had = twin("a", 3, 0);
  had.hard["requests.example.org/gpu"] = had.admitted["requests.example.org/gpu"] = kube::Quantity(2);
  had.used["requests.example.org/gpu"] = kube::Quantity(1);
  const auto less = plan_twin_pods(pods(3), std::vector<TwinPods>{had});
  CHECK(json::serialize(write_resources(less.at("a"))) == R"({"requests.example.org/gpu":"0"})");
}

TEST_CASE("whatever is written in whatever order, no more is admitted than is granted") {
  // An API server that admits by status.hard, and a controller that brings spec.hard there, late.
  std::mt19937 random(7);
  const auto any = [&](std::int64_t below) {
    return std::uniform_int_distribution<std::int64_t>(0, below - 1)(random);
  };
  constexpr std::int64_t granted = 40;
  std::vector<TwinPods> twins;
  for (const char* name : {"a", "b", "c", "d"}) twins.push_back(twin(name, 0, 0));
  std::size_t writes = 0, admitted = 0;
  std::vector<TwinPods> seen = twins;
  for (int step = 0; step < 20'000; ++step) {
    TwinPods& one = twins[static_cast<std::size_t>(any(4))];
    const std::int64_t used = amount(one.used, "pods").value(), may = amount(one.admitted, "pods").value();
    switch (any(8)) {
      case 0:
        one.admitted = one.hard;
        break;
      case 1:
        if (used > 0) one.used = pods(used - 1);
        break;
      case 2:
        one.waiting = pods(any(6));
        break;
      case 3:
        seen = twins;
        break;  // the cache catches up
      case 4: {
        for (const auto& [name, hard] : plan_twin_pods(pods(granted), seen)) {
          const auto at = static_cast<std::size_t>(name[0] - 'a');
          // The resourceVersion: what has changed since is not written.
          const bool same = seen[at].hard == twins[at].hard && seen[at].admitted == twins[at].admitted &&
                            seen[at].used == twins[at].used;
          if (!same) continue;
          twins[at].hard = seen[at].hard = hard;
          ++writes;
        }
        break;
      }
      default:
        if (used < may) one.used = pods(used + 1), ++admitted;
    }
    std::int64_t most = 0;
    for (const TwinPods& each : twins)
      most += std::max(amount(each.used, "pods").value(), amount(each.admitted, "pods").value());
    REQUIRE(most <= granted);
  }
  CHECK(writes > 50);
  CHECK(admitted > 1000);
}

TEST_CASE("what is granted has the names of ResourceQuotas, and follows cordon and drain") {
  const auto quota = [](std::string_view user, std::string_view resources, std::string_view more = "") {
    return parse(R"({"metadata": {"name": "q"}, "spec": {"user": ")" + std::string(user) + R"(", "resources": )" +
                 std::string(resources) + std::string(more) + "}}");
  };
  const auto said = [](const std::vector<kube::Object>& quotas, const HeldByUser& held = {}) {
    return json::serialize(write_resources(granted_to_twins(quotas, held)));
  };
  const char* some = R"({"cpu": "2", "memory": "1Gi", "pods": "5", "example.org/gpu": "1", "storage": "9"})";
  CHECK(said({}) == R"({"pods":"0","requests.cpu":"0","requests.memory":"0"})");
  CHECK(said({quota("u", some)}) ==
        R"({"pods":"5","requests.cpu":"2","requests.example.org/gpu":"1","requests.memory":"1Gi"})");
  CHECK(said({quota("u", R"({"cpu": "2"})")}) == R"({"pods":"20k","requests.cpu":"2","requests.memory":"0"})");
  CHECK(said({quota("u", R"({"cpu": "1", "pods": "1"})", R"(, "limitsEnforcement": "Hard")")}) ==
        R"({"limits.cpu":"1","limits.memory":"0","pods":"1","requests.cpu":"1","requests.memory":"0"})");
  // A name that a ResourceQuota cannot have would have the whole of it refused; of too many the rest is not bounded.
  CHECK(said({quota("u", R"({"pods": "1", ")" + std::string(250, 'x') + R"(/gpu": "1"})")}) ==
        R"({"pods":"1","requests.cpu":"0","requests.memory":"0"})");
  std::vector<kube::Object> many;
  for (int one = 0; one < 200; ++one)
    many.push_back(quota("u", R"({"pods": "1", "example.org/gpu)" + std::to_string(one) + R"(": "1"})"));
  const Resources bounded = granted_to_twins(many, {});
  CHECK(bounded.size() == 64);
  CHECK(bounded.at("pods").text() == "200");
  const HeldByUser held{{"u", amounts(R"({"cpu": "500m", "pods": "9"})")}};
  CHECK(said({quota("u", some, R"(, "cordoned": true)"), quota("v", R"({"pods": "1"})")}, held) ==
        R"({"pods":"6","requests.cpu":"500m","requests.example.org/gpu":"0","requests.memory":"0"})");
  // A Quota that somebody made by hand names the user as the API server does, and the label of its pods cannot.
  const HeldByUser of_alice{{"oidc-alice", amounts(R"({"cpu": "500m", "pods": "2"})")}};
  CHECK(said({quota("oidc:alice", some, R"(, "cordoned": true)")}, of_alice) ==
        R"({"pods":"2","requests.cpu":"500m","requests.example.org/gpu":"0","requests.memory":"0"})");
  kube::Object drained = quota("u", some);
  drained.set_annotation("liqo.io/drained", "true");
  CHECK(said({drained}) == R"({"pods":"0","requests.cpu":"0","requests.memory":"0"})");
}

TEST_CASE("the second ResourceQuota of a twin is made, kept and corrected") {
  const Resources granted = pods(3);
  kube::Object made =
      forge_twin_pods_quota("shop-rome", {.consumer = "rome", .hard = pods(3), .kinds = {"widgets.example.org"}});
  CHECK(made.text() ==
        R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"liqo-twin-pods","namespace":"shop-rome",)"
        R"("labels":{"app.kubernetes.io/managed-by":"liqo","liqo.io/remote-cluster-id":"rome"}},)"
        R"("spec":{"hard":{"count/widgets.example.org":"1k","pods":"3"}}})");
  made.mutable_metadata()["resourceVersion"] = "4";
  const auto patch = [&](const Resources& hard, const std::set<std::string>& kinds) {
    const auto planned = plan_twin_pods_quota(made, {.consumer = "rome", .hard = hard, .kinds = kinds}, granted);
    return planned ? json::serialize(*planned) : "keep";
  };
  CHECK(patch({}, {"widgets.example.org"}) == "keep");
  CHECK(patch(pods(2), {"gears.example.org"}) ==
        R"({"metadata":{"resourceVersion":"4"},"spec":{"hard":{"count/gears.example.org":"1k","pods":"2",)"
        R"("count/widgets.example.org":null}}})");
  // What is not counted is changed by one, there and back, and stays so once it is.
  const auto recounted = [&] {
    const auto planned =
        plan_twin_pods_quota(made, {.consumer = "rome", .hard = {}, .kinds = {"widgets.example.org"}}, granted, true);
    return planned ? json::serialize(planned->at("spec")) : "keep";
  };
  kube::json::object& bounds = made.mutable_spec()["hard"].as_object();
  CHECK(recounted() == R"({"hard":{"count/widgets.example.org":"1001"}})");
  bounds["count/widgets.example.org"] = "1001";
  CHECK(patch({}, {"widgets.example.org"}) == "keep");
  CHECK(recounted() == R"({"hard":{"count/widgets.example.org":"1k"}})");
  made.mutable_status() = parse_value(R"({"used": {"count/widgets.example.org": "0"}})").get_object();
  CHECK(are_counted(made, {"widgets.example.org"}));
  CHECK_FALSE(are_counted(made, {"widgets.example.org", "gears.example.org"}));
  CHECK(recounted() == "keep");
  bounds["count/widgets.example.org"] = "1k";
  TwinPods read;
  read_twin_quota(made, read);
  CHECK(read.hard == pods(3));
  CHECK_FALSE(is_bounded(read, granted));
  made.mutable_status() = parse_value(R"({"hard": {"pods": "3"}, "used": {"pods": "0"}})").get_object();
  read_twin_quota(made, read);
  CHECK(is_bounded(read, granted));
}

}  // namespace liqo::core
