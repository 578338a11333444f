// ShadowPods name their twin as their owner, and never a former twin.
#include "../offloading_fixture.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

struct Owned : Offloading {
  Owned() {
    refuse = [this](const kube::HttpRequest& request) {
      if (request.method == "GET" && request.target.ends_with("/namespaces/" + twin)) {
        ++reads;
        if (forbids) return std::string("no right to read namespaces");
      }
      return !former.empty() && request.body.contains(former)
                 ? "the metadata.ownerReferences of shadowpods name a Namespace of another UID"
                 : std::string();
    };
    make_twin();
  }
  ~Owned() { stop(); }
  void make_twin() {
    json::object made{{"metadata", json::object{{"name", twin}}}};
    kube::testing::set_annotation(made, "offloading.liqo.io/checks-owners", "true");
    REQUIRE(milan.create(resources::namespaces, made, "milan"));
  }
  std::string twin_uid() {
    return std::string(kube::string_at(*milan.get(resources::namespaces, {"", twin}), {"metadata", "uid"}));
  }
  /// "twin", the UID of another owner, "" or "(none)".
  std::string owner_of(std::string_view name) {
    const auto shadow = at_milan(kinds::shadow_pods, name);
    if (!shadow) return "(none)";
    const auto owners = shadow->owner_references();
    if (owners.empty()) return "";
    return owners.size() == 1 && owners[0].uid == twin_uid() && !owners[0].controller ? "twin" : owners[0].uid;
  }
  bool is_ordered(std::string_view name) {
    return reaches([&] { return at_milan(kinds::shadow_pods, name).has_value(); });
  }

  int reads = 0;
  bool forbids = false;
  std::string former;
};

}  // namespace

TEST_CASE("a ShadowPod names its twin as its owner, and the provider's Pod its ShadowPod as before") {
  Owned world;
  world.create_pod("web");
  REQUIRE(world.is_ordered("web"));
  CHECK(world.owner_of("web") == "twin");
  world.run_at_milan("web");
  const auto pod = world.at_milan(resources::pods, "web");
  REQUIRE(pod);
  REQUIRE(pod->owner_references().size() == 1);
  CHECK(pod->owner_references()[0].kind == "ShadowPod");
  CHECK(pod->owner_references()[0].controller);
}

TEST_CASE("a pod is ordered in a twin that was made anew unseen, with the UID that this one has, and without a word") {
  Owned world;
  world.create_pod("web");
  REQUIRE(world.is_ordered("web"));
  world.former = world.twin_uid();
  REQUIRE(world.milan.remove(resources::namespaces, {"", twin}, {}, "milan"));
  world.make_twin();
  world.create_pod("next");
  REQUIRE(world.is_ordered("next"));
  CHECK(world.owner_of("next") == "twin");
  CHECK(world.events(api::reasons::failed_reflection).empty());
}

TEST_CASE(
    "a provider that gives no right to read the twin gets pods without an owner, and one with their next change") {
  Owned world;
  world.forbids = true;
  // The copies of this namespace may have been written already.
  world.map_twin("");
  world.pass(5s);
  world.map_twin("Accepted");
  for (const char* name : {"web", "db"}) {
    world.pass(11s);
    world.create_pod(name);
    REQUIRE(world.is_ordered(name));
    CHECK(world.owner_of(name) == "");
  }
  world.forbids = false;
  world.pass(61min);
  const int before = world.reads;
  world.change(resources::pods, {shop, "web"}, "",
               [](json::object& next) { kube::testing::set_label(next, "tier", "front"); });
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web")->label("tier") == "front"; }));
  CHECK(world.owner_of("web") == "twin");
  CHECK(world.reads == before + 1);
}

TEST_CASE("a pod is ordered within seconds, without an owner, if the read of its twin is not answered") {
  Owned world;
  // What was read for the copies of this namespace is forgotten.
  world.map_twin("");
  world.pass(5s);
  world.outage = [](kube::HttpRequest& request) {
    if (request.method == "GET" && request.target.ends_with("/namespaces/" + std::string(twin))) request.verb = hang;
    return false;
  };
  world.map_twin("Accepted");
  world.create_pod("web");
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 25s));
  CHECK(world.owner_of("web") == "");
}

}  // namespace liqo::testing
