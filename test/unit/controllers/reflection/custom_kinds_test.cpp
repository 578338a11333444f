// The providers that take a custom resource, and the one whose status comes home.
#include "../offloading_fixture.hpp"
#include "core/reflection/custom_resource.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

const kube::Resource& widgets() {
  return core::reflection::custom_kind({.plural = "widgets", .group = "example.org", .brings_status = true}, "v1",
                                       "Widget")
      .resource;
}

controllers::Settings with_widgets() {
  controllers::Settings settings;
  settings.reflection.custom_resources = {{.plural = "widgets", .group = "example.org", .brings_status = true}};
  return settings;
}

/// Adds what a second provider needs while liqod runs.
struct Second {
  std::unique_ptr<kube::testing::FakeApiServer> turin;
  std::unique_ptr<kube::testing::SimLink> to_turin;
  Outage never = [](kube::HttpRequest&) { return false; };
  Refusal welcome = [](const kube::HttpRequest&) { return std::string(); };
};

/// The namespace has a twin in milan and one in turin.
struct Two : Second, Offloading {
  explicit Two(const std::function<void(Two&)>& before = {})
      : Offloading({}, with_widgets(), [this, &before](Offloading&) {
          add_turin();
          server.serve(widgets());
          turin->serve(widgets());
          if (before) before(*this);
        }) {}
  ~Two() {
    stop();
    to_turin.reset();
  }

  void add_turin() {
    turin = std::make_unique<kube::testing::FakeApiServer>(simulator.clock(), 2);
    to_turin = std::make_unique<kube::testing::SimLink>(simulator, *turin, "rome");
    connect = [this, to_others = connect](
                  const std::string& cluster,
                  const kube::Object& secret) -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
      if (secret.ns() == tenant) return to_others(cluster, secret);
      return std::make_unique<AdmittingLink>(*to_turin, admit, never, welcome);
    };
    const std::string other = "liqo-tenant-turin";
    kube::Object secret = kube::Object::make(resources::secrets, {other, "kubeconfig"});
    secret.tree()["data"] = json::object{{"kubeconfig", kube::encode_base64("turin")}};
    apply(resources::secrets, secret);
    kube::Object map = kube::Object::make(kinds::namespace_maps, {other, "turin"});
    map.set_label(api::labels::remote_cluster_id, "turin");
    map.mutable_spec()["desiredMapping"] = json::object{{shop, twin}};
    apply(kinds::namespace_maps, map);
    change(kinds::namespace_maps, {other, "turin"}, "status", [](json::object& next) {
      next["status"] = json::object{
          {"currentMapping", json::object{{shop, json::object{{"remoteNamespace", twin}, {"phase", "Accepted"}}}}}};
    });
    kube::Object node = kube::Object::make(kinds::virtual_nodes, {other, "turin"});
    node.mutable_spec() = json::object{{"clusterID", "turin"},
                                       {"createNode", true},
                                       {"kubeconfigSecretRef", json::object{{"name", "kubeconfig"}}},
                                       {"resourceQuota", json::object{{"hard", json::object{{"cpu", "8"}}}}}};
    apply(kinds::virtual_nodes, node);
  }

  void make() {
    kube::Object widget = kube::Object::make(widgets(), {shop, "one"});
    widget.mutable_spec()["size"] = 1;
    apply(widgets(), widget);
  }
  bool has_copy(kube::testing::FakeApiServer& provider) {
    return reaches([&] { return provider.serves(widgets()) && provider.get(widgets(), {twin, "one"}); }, 2min);
  }
  /// As the operator there does.
  static void report(kube::testing::FakeApiServer& provider, std::string_view phase) {
    REQUIRE(provider.update(
        {widgets(), {twin, "one"}, "status"},
        [phase](json::object& next) { next["status"] = json::object{{"phase", phase}}; }, "operator"));
  }
  std::string phase() {
    const auto widget = find(widgets(), {shop, "one"});
    return widget ? std::string(kube::string_at(widget->tree(), {"status", "phase"})) : "(gone)";
  }
};

bool is_discovery(const kube::HttpRequest& request) {
  return request.target.starts_with("/apis/example.org") && request.verb == "get" && request.resource.empty();
}

}  // namespace

TEST_CASE("a status comes from the next provider while the first one does not take the kind") {
  for (const bool has_definition : {false, true}) {
    CAPTURE(has_definition);
    bool is_forbidden = has_definition;
    Two world([&](Two& self) {
      if (!has_definition) return;
      self.milan.serve(widgets());
      self.refuse = [&is_forbidden](const kube::HttpRequest& request) {
        return std::string(is_forbidden && request.resource == "widgets" ? "no role says so" : "");
      };
    });
    world.make();
    REQUIRE(world.has_copy(*world.turin));
    Two::report(*world.turin, "of turin");
    CHECK(world.reaches([&] { return world.phase() == "of turin"; }, 2min));

    // It takes the kind now, and no operator there has written a status yet.
    world.milan.serve(widgets());
    is_forbidden = false;
    REQUIRE(world.has_copy(world.milan));
    CHECK(world.reaches([&] { return world.phase().empty(); }, 2min));
    Two::report(world.milan, "of milan");
    CHECK(world.reaches([&] { return world.phase() == "of milan"; }, 2min));
    Two::report(*world.turin, "of turin again");
    world.pass(2min);
    CHECK(world.phase() == "of milan");
  }
}

TEST_CASE("a provider that has not said whether it takes a kind is not passed over") {
  bool is_silent = true;
  Two world([&](Two& self) {
    self.milan.serve(widgets());
    self.outage = [&is_silent](kube::HttpRequest& request) { return is_silent && is_discovery(request); };
  });
  world.make();
  REQUIRE(world.has_copy(*world.turin));
  Two::report(*world.turin, "of turin");
  world.pass(3min);
  CHECK(world.phase().empty());
  is_silent = false;
  REQUIRE(world.has_copy(world.milan));
  Two::report(world.milan, "of milan");
  CHECK(world.reaches([&] { return world.phase() == "of milan"; }, 2min));
}

}  // namespace liqo::testing
