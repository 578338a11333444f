// A provider's Warnings about copies are reported at home on their objects.
#include "../offloading_fixture.hpp"
#include "liqo/api/names.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

controllers::Settings with_storage() {
  controllers::Settings settings;
  settings.storage.storage_class = "liqo";
  return settings;
}

struct Warned : Offloading {
  explicit Warned(controllers::Settings settings = {}) : Offloading({}, std::move(settings)) {
    outage = [this](kube::HttpRequest& request) {
      if (request.resource != "events" || !request.target.contains("kind%21%3DPod")) return false;
      if (request.verb != "list") FAIL("the Events of a provider are listed, and nothing else");
      ++looks;
      return is_down;
    };
  }
  void make(const kube::Resource& resource, std::string_view name, json::object fields = {}) {
    kube::Object object = kube::Object::make(resource, {shop, std::string(name)});
    for (auto& [key, value] : fields) object.tree()[key] = value;
    apply(resource, object);
    REQUIRE(reaches([&] { return at_milan(resource, name).has_value(); }));
  }
  /// An Event in the twin about an object of that kind.
  void warn(std::string_view kind, std::string_view name, std::string_view uid, std::string_view message,
            std::string_view type = "Warning", kube::Duration ago = 0s) {
    kube::Object event = kube::Object::make(resources::events, {twin, "event-" + std::to_string(++events_made_)});
    event.tree()["involvedObject"] = json::object{{"kind", kind}, {"name", name}, {"uid", uid}};
    event.tree()["type"] = type;
    event.tree()["reason"] = "Failed";
    event.tree()["message"] = message;
    event.tree()["lastTimestamp"] =
        kube::format_time(simulator.clock().wall() - std::chrono::duration_cast<std::chrono::microseconds>(ago));
    REQUIRE(milan.create(resources::events, event.tree(), "operator").has_value());
  }
  void warn(const kube::Resource& resource, std::string_view name, std::string_view message,
            std::string_view type = "Warning", kube::Duration ago = 0s) {
    const auto copy = at_milan(resource, name);
    REQUIRE(copy);
    warn(resource.kind, name, copy->uid(), message, type, ago);
  }
  std::vector<std::string> told() { return events("RemoteWarning"); }

  int looks = 0;
  bool is_down = false;

 private:
  int events_made_ = 0;
};

json::object data(std::string_view value) { return {{"data", json::object{{"key", value}}}}; }

}  // namespace

TEST_CASE("a warning about a copy of any kind is an Event of its object within 30 s, once") {
  Warned world;
  kube::Object secret = kube::Object::make(resources::secrets, {shop, "keys"});
  secret.set_annotation(api::annotations::allow_reflection, "true");
  world.apply(resources::secrets, secret);
  REQUIRE(world.reaches([&] { return world.at_milan(resources::secrets, "keys").has_value(); }, 2min));
  world.make(resources::config_maps, "words", data("ciao"));
  world.make(resources::services, "web", {{"spec", json::object{{"ports", json::array{json::object{{"port", 80}}}}}}});
  world.make(kinds::ingresses, "door");
  world.pass(10s);

  world.warn(resources::secrets, "keys", "no such key");
  world.warn(resources::config_maps, "words", "no such word");
  world.warn(resources::services, "web", "no\nroom");
  world.warn(kinds::ingresses, "door", "no such class");
  world.warn(resources::services, "web", "all is well", "Normal");
  REQUIRE(world.reaches([&] { return world.told().size() == 4; }, 30s));
  for (const auto& event : world.server.list(resources::events)) {
    if (kube::string_at(*event, {"reason"}) != "RemoteWarning") continue;
    const std::string kind(kube::string_at(*event, {"involvedObject", "kind"}));
    CAPTURE(kind);
    CHECK(kube::string_at(*event, {"type"}) == "Warning");
    CHECK(kube::string_at(*event, {"metadata", "namespace"}) == shop);
    const std::string name(kube::string_at(*event, {"involvedObject", "name"}));
    for (const kube::Resource& resource :
         {resources::secrets, resources::config_maps, resources::services, kinds::ingresses})
      if (resource.kind == kind)
        CHECK(kube::string_at(*event, {"involvedObject", "uid"}) == world.find(resource, {shop, name})->uid());
    if (kind == "Service")
      CHECK(kube::string_at(*event, {"message"}) == "cluster milan warns of its copy: no room (Failed)");
  }
  world.pass(30min);
  CHECK(world.told().size() == 4);
}

TEST_CASE("Events about what is no copy are nobody's at home") {
  Warned world;
  world.make(resources::config_maps, "words", data("ciao"));
  // An object of another owner, under a name that is wanted, and under one that is not.
  for (const char* name : {"taken", "theirs"}) {
    kube::Object theirs = kube::Object::make(resources::config_maps, {twin, name});
    REQUIRE(world.milan.create(resources::config_maps, theirs.tree(), "operator").has_value());
  }
  world.apply(resources::config_maps, kube::Object::make(resources::config_maps, {shop, "taken"}));
  REQUIRE(world.reaches([&] { return !world.events("FailedReflection").empty(); }));
  world.warn(resources::config_maps, "taken", "no");
  world.warn(resources::config_maps, "theirs", "no");
  world.warn("ConfigMap", "words", "another-uid", "no");
  world.warn("Secret", "words", world.at_milan(resources::config_maps, "words")->uid(), "no");
  world.warn("PersistentVolumeClaim", "words", "another-uid", "no");
  world.warn("Pod", "words", world.at_milan(resources::config_maps, "words")->uid(), "no");
  world.pass(2min);
  CHECK(world.told().empty());
}

TEST_CASE("a warning about the copy of a claim is told on the claim") {
  Warned world(with_storage());
  // Nothing of the namespace's own was copied before.
  world.pass(10min);
  kube::Object claim = kube::Object::make(kinds::claims, {shop, "data"});
  claim.set_annotation(api::annotations::volume_provisioner, api::storage_provisioner);
  world.apply(kinds::claims, claim);
  kube::Object copy = kube::Object::make(kinds::claims, {twin, "data"});
  copy.set_label(api::labels::reflection_origin, "rome");
  copy.set_label(api::labels::reflection_destination, "milan");
  REQUIRE(world.milan.create(kinds::claims, copy.tree(), "rome").has_value());
  kube::Object theirs = kube::Object::make(kinds::claims, {twin, "theirs"});
  world.apply(kinds::claims, kube::Object::make(kinds::claims, {shop, "theirs"}));
  REQUIRE(world.milan.create(kinds::claims, theirs.tree(), "operator").has_value());
  world.warn(kinds::claims, "data", "the disk is full");
  world.warn(kinds::claims, "theirs", "the disk is full");
  CHECK(world.reaches([&] { return !world.told().empty(); }, 30s));
  world.pass(1min);
  CHECK(world.told() == std::vector<std::string>{"cluster milan warns of its copy: the disk is full (Failed)"});
}

TEST_CASE("what was told or happened before is not told by who leads next") {
  Warned world;
  world.make(resources::config_maps, "words", data("ciao"));
  world.warn(resources::config_maps, "words", "first");
  REQUIRE(world.reaches([&] { return world.told().size() == 1; }, 30s));
  world.stop();
  world.warn(resources::config_maps, "words", "missed");
  world.pass(1min);
  world.start();
  world.pass(2min);
  CHECK(world.told().size() == 1);
  world.warn(resources::config_maps, "words", "second");
  CHECK(world.reaches([&] { return world.told().size() == 2; }, 30s));
}

TEST_CASE("at rest a twin costs one list of Events in 17 s at most, whatever the kinds, and one without copies none") {
  Warned world;
  world.pass(5min);
  CHECK(world.looks == 0);
  world.make(resources::config_maps, "words", data("ciao"));
  world.make(resources::services, "web");
  world.looks = 0;
  world.pass(10min);
  CHECK(world.looks >= 26);
  CHECK(world.looks <= 36);
}

TEST_CASE("what a look does not show because the provider is out of reach is told when it is back") {
  Warned world;
  world.make(resources::config_maps, "words", data("ciao"));
  world.pass(1min);
  world.is_down = true;
  world.warn(resources::config_maps, "words", "no");
  world.pass(2min);
  CHECK(world.told().empty());
  world.is_down = false;
  CHECK(world.reaches([&] { return world.told().size() == 1; }, 30s));
}

TEST_CASE("a provider that refuses its Events is asked for them rarely, and what it says then is told") {
  Warned world;
  world.outage = [](kube::HttpRequest&) { return false; };
  int asked = 0;
  bool refuses = true;
  world.refuse = [&](const kube::HttpRequest& request) {
    if (request.resource != "events") return std::string();
    ++asked;
    return refuses ? std::string("events is forbidden") : std::string();
  };
  world.make(resources::config_maps, "words", data("ciao"));
  world.pass(1h);
  CHECK(asked >= 5);
  CHECK(asked <= 7);
  refuses = false;
  world.warn(resources::config_maps, "words", "no");
  CHECK(world.reaches([&] { return world.told().size() == 1; }, 11min));
}

TEST_CASE("a flood of warnings about one copy is cut, and those about another one are told") {
  Warned world;
  world.make(resources::config_maps, "words", data("ciao"));
  world.make(resources::config_maps, "others", data("ciao"));
  world.pass(30s);
  for (int i = 0; i < 50; ++i) world.warn(resources::config_maps, "words", "no " + std::to_string(i));
  world.warn(resources::config_maps, "others", "mine");
  world.pass(2min);
  CHECK(world.told().size() == 5);
}

}  // namespace liqo::testing
