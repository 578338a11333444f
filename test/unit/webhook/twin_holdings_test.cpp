// The number of objects in the twins of consumers follows their ResourceQuotas, however those change.
#include "webhook/twin_holdings.hpp"

#include <doctest/doctest.h>

#include "kube/testing/one_cluster.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/kinds.hpp"

namespace {

using namespace kube::testing;
using namespace std::chrono_literals;
namespace json = kube::json;
namespace kinds = liqo::api::kinds;

struct Milan : OneCluster {
  Milan() : OneCluster({.name = "milan", .actor = "liqod"}), holdings(informers) {
    group.spawn(informers.run());
    simulator.run_for(1s);
    REQUIRE(holdings.has_synced());
  }
  ~Milan() { stop(); }

  void make(std::string_view ns, std::string_view consumer, std::string_view name = "liqo-twin") {
    const json::object marks{{"app.kubernetes.io/managed-by", "liqo"}, {"liqo.io/remote-cluster-id", consumer}};
    const json::object metadata{{"name", name}, {"namespace", ns}, {"labels", marks}};
    static_cast<void>(server.create(kinds::resource_quotas, {{"metadata", metadata}}, "liqod"));
  }
  void count(std::string_view ns, std::string_view secrets, std::string_view name = "liqo-twin") {
    static_cast<void>(server.update(
        {kinds::resource_quotas, {std::string(ns), std::string(name)}, "status"},
        [secrets](json::object& next) {
          kube::ensure_object(next, "status")["used"] = json::object{{"count/secrets", secrets}, {"pods", "90"}};
        },
        "controller-manager"));
  }
  std::int64_t objects_of(std::string_view consumer) {
    simulator.run_for(1s);
    return holdings.objects_of(consumer);
  }

  liqo::webhook::TwinHoldings holdings;
};

}  // namespace

TEST_CASE("objects of all twins of a consumer are added up, and taken off again") {
  Milan milan;
  milan.make("shop-rome", "rome");
  CHECK(milan.objects_of("rome") == 0);
  milan.count("shop-rome", "3");
  milan.make("blog-rome", "rome");
  milan.count("blog-rome", "4");
  milan.make("shop-turin", "turin");
  milan.count("shop-turin", "5");
  CHECK(milan.objects_of("rome") == 7);
  CHECK(milan.objects_of("turin") == 5);
  milan.count("shop-rome", "1");
  CHECK(milan.objects_of("rome") == 5);
  static_cast<void>(milan.server.remove(kinds::resource_quotas, {"blog-rome", "liqo-twin"}, {}, "liqod"));
  CHECK(milan.objects_of("rome") == 1);
  milan.count("shop-rome", "0");
  CHECK(milan.objects_of("rome") == 0);
}

TEST_CASE("other ResourceQuotas of a twin do not count, and a twin can pass to another consumer") {
  Milan milan;
  milan.make("shop-rome", "rome", "liqo-twin-pods");
  milan.count("shop-rome", "3", "liqo-twin-pods");
  milan.make("shop-rome", "rome");
  milan.count("shop-rome", "2");
  CHECK(milan.objects_of("rome") == 2);
  static_cast<void>(milan.server.update(
      {kinds::resource_quotas, {"shop-rome", "liqo-twin"}, ""},
      [](json::object& next) { set_label(next, "liqo.io/remote-cluster-id", "turin"); }, "somebody"));
  CHECK(milan.objects_of("rome") == 0);
  CHECK(milan.objects_of("turin") == 2);
}
