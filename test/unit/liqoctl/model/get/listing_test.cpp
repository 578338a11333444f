// Tables of objects, and one in full.
#include "model/get/listing.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace liqoctl;
namespace json = kube::json;

namespace {

kube::Object parsed(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

kube::Object slice(std::string_view message) {
  kube::Object made = parsed(R"({"kind": "ResourceSlice", "metadata": {"name": "pool", "namespace": "liqo-tenant-milan",
      "creationTimestamp": "2026-11-21T10:00:00Z", "labels": {"liqo.io/remote-cluster-id": "milan"}},
      "spec": {"resources": {"cpu": "2"}}, "status": {"resources": {"cpu": "1"},
      "conditions": [{"type": "Resources", "status": "Denied", "reason": "RequestDenied"}]}})");
  made.mutable_status()["conditions"].as_array()[0].as_object()["message"] = message;
  return made;
}

const kube::WallTime now = *kube::parse_time("2026-11-21T10:01:00Z");

}  // namespace

TEST_CASE("the table of slices shows what is asked for and what is granted") {
  const auto& kind = *std::ranges::find(model::listed_kinds(), "resourceslice", &model::ListedKind::name);
  const std::string table = model::listing(kind, {slice("no")}, false, now);
  CHECK(table.contains("REQUESTED   GRANTED"));
  CHECK(table.contains("cpu 2       cpu 1"));
  CHECK(table.contains("Consuming"));
  kube::Object lent = slice("no");
  lent.set_label("liqo.io/replicated", "true");
  CHECK(model::listing(kind, {lent}, false, now).contains("Providing"));
}

TEST_CASE("names and amounts that a peer has written are cut in a table") {
  const auto& kind = *std::ranges::find(model::listed_kinds(), "resourceslice", &model::ListedKind::name);
  kube::Object hostile = slice("no");
  const json::object many{{std::string(32 * 1024, 'x'), "1"}, {"cpu", std::string(32 * 1024, '9')}};
  hostile.mutable_spec()["resources"] = many;
  hostile.mutable_status()["resources"] = many;
  const std::string table = model::listing(kind, {hostile}, false, now);
  CHECK(table.size() < 2000);
  CHECK(table.contains("cpu 999"));
}

TEST_CASE("the table of quotas shows whose they are, and what is left of them") {
  const auto& kind = *std::ranges::find(model::listed_kinds(), "quota", &model::ListedKind::name);
  std::vector<kube::Object> quotas{
      parsed(R"({"metadata": {"name": "pool-1", "namespace": "lent-to-rome"},
          "spec": {"resources": {"cpu": "2", "memory": "4Gi", "pods": "3"}},
          "status": {"used": {"cpu": "2500m", "memory": "1Gi"}, "reserved": {"memory": "1Gi"}}})"),
      parsed(R"({"metadata": {"name": "pool-2", "namespace": "other"}, "spec": {"resources": {"cpu": "1"}}})")};
  model::add_consumers(quotas, {parsed(R"({"metadata": {"name": "t", "namespace": "lent-to-rome"},
                                           "spec": {"clusterID": "rome"}})")});
  CHECK(quotas.front().label("liqo.io/remote-cluster-id") == "rome");
  const std::string table = model::listing(kind, quotas, false, now);
  CAPTURE(table);
  CHECK(table.contains("NAME     CONSUMER   ENFORCEMENT"));
  CHECK(table.contains("pool-1   rome "));
  CHECK(table.contains("cpu 0, memory 2Gi, pods 3"));
  // All of an unused Quota is free.
  CHECK(table.contains("nothing                 cpu 1"));
}

TEST_CASE("a quota that is closed has nothing free, and one that is drained grants nothing") {
  const auto& kind = *std::ranges::find(model::listed_kinds(), "quota", &model::ListedKind::name);
  std::vector<kube::Object> quotas{parsed(R"({"metadata": {"name": "pool", "namespace": "lent-to-rome"},
      "spec": {"resources": {"cpu": "2"}, "cordoned": true}, "status": {"used": {"cpu": "1"}}})")};
  CHECK(model::listing(kind, quotas, false, now).contains("cpu 2     cpu 1   nothing (cordoned)"));
  const auto tenant = [](const char* condition) {
    return parsed(R"({"metadata": {"name": "t", "namespace": "lent-to-rome"},
        "spec": {"clusterID": "rome", "tenantCondition": ")" +
                  std::string(condition) + R"("}})");
  };
  model::add_consumers(quotas, {tenant("Drained")});
  CHECK(model::listing(kind, quotas, false, now).contains("nothing (drained)   cpu 1   nothing "));
}

TEST_CASE("an object that is described is not cut, and its Events come in their order") {
  const std::string message = std::string(700, 'm') + " end";
  const kube::Object late = parsed(R"({"lastTimestamp": "2026-11-21T10:00:50Z", "reason": "Late"})");
  kube::Object early = parsed(R"({"lastTimestamp": "2026-11-21T10:00:10Z", "reason": "Early"})");
  early.tree()["message"] = message + "\x1b[2J";
  const std::string told = model::description(slice(message), {late, early}, now, text::Palette{});
  CHECK(told.contains(message));
  // The Event's message, too, without characters that a terminal acts on.
  CHECK(told.contains(message + "?[2J"));
  CHECK(told.find("Early") < told.find("Late"));
  CHECK_FALSE(told.contains("…"));
  const json::object document = model::forge_description(slice(message), {late, early});
  CHECK(kube::string_at(document, {"object", "metadata", "name"}) == "pool");
  CHECK_FALSE(document.contains("policy"));
  const json::object with_policy = model::forge_description(slice(message), {}, "{}");
  CHECK(kube::string_at(with_policy, {"policy"}) == "{}");
  const json::array& events = kube::array_at(document, {"events"});
  REQUIRE(events.size() == 2);
  CHECK(kube::string_at(events.front(), {"reason"}) == "Early");
}

TEST_CASE("Services and Ingresses show the addresses that providers gave to their copies") {
  const auto& kind = *std::ranges::find(model::listed_kinds(), "service", &model::ListedKind::name);
  kube::Object door = parsed(R"({"kind": "Service", "metadata": {"name": "door", "namespace": "shop"},
      "spec": {"type": "LoadBalancer"}})");
  CHECK_FALSE(model::description(door, {}, now, {}).contains("Addresses at providers"));
  door.set_annotation("offloading.liqo.io/remote-addresses",
                      R"({"milan":["198.51.100.9","198.51.100.10"],"turin":["lb.example.org"]})");
  CHECK(model::listing(kind, {door}, false, now).contains("milan: 198.51.100.9 198.51.100.10, turin: lb.example.org"));
  const std::string described = model::description(door, {}, now, {});
  CHECK(described.contains("Addresses at providers"));
  CHECK(described.contains("198.51.100.9, 198.51.100.10"));
  CHECK_FALSE(described.contains("remote-addresses"));
  // Users can write anything there.
  door.set_annotation("offloading.liqo.io/remote-addresses", R"({"milan":["\u001b[31m"]})");
  CHECK_FALSE(model::listing(kind, {door}, false, now).contains("\x1b"));
}
