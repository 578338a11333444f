// Services that a provider refuses as they are, from home to the provider, in virtual time.
#include "controllers/reflection/narrowed_copies.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "liqo/api/kinds.hpp"
#include "reflector_fixture.hpp"

namespace liqo::controllers {
namespace {

const kube::Resource& services = kube::resources::services;
constexpr std::string_view order = "service.beta.kubernetes.io/aws-load-balancer-type";

json::object service(std::string_view type, json::object annotations = {}, int port = 80) {
  return {{"metadata", json::object{{"name", "door"}, {"namespace", "shop"}, {"annotations", std::move(annotations)}}},
          {"spec", json::object{{"type", type}, {"ports", json::array{json::object{{"port", port}}}}}}};
}

/// A provider that refuses annotations by name, with the words of its webhook.
struct Refusing : World {
  explicit Refusing(std::string_view reflected = "Service") : World(reflected) {
    milan_transport.refuses = [this](const kube::HttpRequest& asked) {
      if (asked.method != "PATCH") return false;
      milan_transport.words = "admission webhook \"x\" denied the request: door may not be in this cluster: ";
      bool is_refused = false;
      for (const std::string& key : refused)
        if (asked.body.contains("\"" + key + "\"")) {
          milan_transport.words +=
              "annotation " + key + " is an order to X; the policy key serviceAnnotations would allow it; ";
          is_refused = true;
        }
      if (is_refused) ++refusals;
      return is_refused;
    };
  }
  template <class Change>
  void change(Change how) {
    REQUIRE(rome.update({services, {"shop", "door"}}, how, actor));
  }
  void annotate(std::string_view key, std::string_view value) {
    change([&](json::object& tree) { kube::ensure_object(tree["metadata"].as_object(), "annotations")[key] = value; });
  }
  std::string type() {
    const auto tree = milan.get(services, {"shop-rome", "door"});
    return tree ? std::string(kube::string_at(*tree, {"spec", "type"})) : "(none)";
  }
  std::int64_t port() {
    const auto tree = milan.get(services, {"shop-rome", "door"});
    return tree ? kube::int_at(kube::array_at(*tree, {"spec", "ports"}).at(0), {"port"}) : 0;
  }

  std::vector<std::string> refused{std::string(order)};
  int refusals = 0;
};

}  // namespace

TEST_CASE(
    "a LoadBalancer with a refused annotation is copied as a ClusterIP, told once, and whole again when it may be") {
  Refusing w;
  REQUIRE(w.rome.create(services, service("LoadBalancer", {{order, "external"}, {"team", "a"}}), actor));
  REQUIRE(w.reaches([&] { return w.type() == "ClusterIP"; }, 5s));
  CHECK(w.refusals == 1);
  w.pass(1s);
  CHECK(w.events("OffloadingLeftOut") == 1);
  CHECK(w.events("FailedReflection") == 0);
  // It goes on following home.
  w.change([](json::object& tree) { tree["spec"].as_object()["ports"] = json::array{json::object{{"port", 81}}}; });
  CHECK(w.reaches([&] { return w.port() == 81; }, 5s));
  // Tries that are refused write nothing, and become rare.
  const std::size_t writes = w.writes();
  w.pass(10h);
  CHECK(w.writes() == writes);
  CHECK(w.refusals <= 18);
  CHECK(w.events("OffloadingLeftOut") == 1);
  w.refused.clear();
  REQUIRE(w.reaches([&] { return w.type() == "LoadBalancer"; }, 61min));
  w.pass(10min);
  CHECK(w.writes() == writes + 1);
}

TEST_CASE("a NodePort is narrowed too, and whole soon after the annotation is gone at home") {
  Refusing w;
  REQUIRE(w.rome.create(services, service("NodePort", {{order, "external"}}), actor));
  REQUIRE(w.reaches([&] { return w.type() == "ClusterIP"; }, 5s));
  w.change([](json::object& tree) { tree["metadata"].as_object()["annotations"] = json::object(); });
  CHECK(w.reaches([&] { return w.type() == "NodePort"; }, 5s));
}

TEST_CASE(
    "a copy that was whole is narrowed when a refused annotation comes, and changes that go on are not flapping") {
  Refusing w;
  REQUIRE(w.rome.create(services, service("LoadBalancer"), actor));
  REQUIRE(w.reaches([&] { return w.type() == "LoadBalancer"; }, 5s));
  w.annotate(order, "external");
  REQUIRE(w.reaches([&] { return w.type() == "ClusterIP"; }, 5s));
  w.pass(20s);
  const std::size_t writes = w.writes();
  const int refusals = w.refusals;
  for (int i = 0; i < 30; ++i) {
    w.annotate("note", std::to_string(i));
    w.pass(2s);
    CHECK(w.type() == "ClusterIP");
  }
  CHECK(w.writes() <= writes + 30);
  CHECK(w.refusals <= refusals + 8);
}

TEST_CASE("each refusal may name other annotations, and one that names nothing new ends the tries") {
  Refusing w;
  const json::object annotations{{"a.example.com/one", "1"}, {"b.example.com/two", "1"}, {"c.example.com/three", "1"}};
  w.milan_transport.refuses = [&w](const kube::HttpRequest& asked) {
    if (asked.method != "PATCH") return false;
    for (const char* key : {"a.example.com/one", "b.example.com/two", "c.example.com/three"})
      if (asked.body.contains(key)) {
        w.milan_transport.words = "annotation " + std::string(key) + " is unknown";
        return true;
      }
    return false;
  };
  REQUIRE(w.rome.create(services, service("LoadBalancer", annotations), actor));
  REQUIRE(w.reaches([&] { return w.type() == "ClusterIP"; }, 5s));
  w.pass(1s);
  CHECK(w.events("OffloadingLeftOut") == 1);

  Refusing other;
  other.milan_transport.refuses = [&other](const kube::HttpRequest& asked) {
    other.milan_transport.words = "annotation " + std::string(order) + " is an order, and so is all else";
    if (asked.method == "PATCH") ++other.refusals;
    return asked.method == "PATCH";
  };
  REQUIRE(other.rome.create(services, service("LoadBalancer", {{order, "external"}}), actor));
  other.pass(1min);
  CHECK(other.type() == "(none)");
  CHECK(other.events("FailedReflection") >= 1);
  CHECK(other.refusals < 40);
}

TEST_CASE("a ClusterIP, and a Service that may keep an Ingress shut, is not copied without") {
  for (std::string_view type : {"LoadBalancer", "ClusterIP"}) {
    CAPTURE(type);
    Refusing w;
    w.refused = {"konghq.com/plugins"};
    REQUIRE(w.rome.create(services, service(type, {{"konghq.com/plugins", "auth"}}), actor));
    w.pass(1min);
    CHECK(w.type() == "(none)");
    CHECK(w.events("FailedReflection") == 1);
    CHECK(w.events("OffloadingLeftOut") == 0);
  }
}

TEST_CASE("a Service is not copied without what may keep an Ingress shut, although something else of it is refused") {
  Refusing w;
  REQUIRE(
      w.rome.create(services, service("LoadBalancer", {{order, "external"}, {"konghq.com/plugins", "auth"}}), actor));
  w.pass(1min);
  CHECK(w.type() == "(none)");
  CHECK(w.events("FailedReflection") == 1);
}

TEST_CASE(
    "a provider that refuses one annotation of the whole copy and another one of the narrowed copy is given time") {
  Refusing w;
  static constexpr std::string_view lock = "haproxy.org/allow-list";
  w.milan_transport.refuses = [&w](const kube::HttpRequest& asked) {
    if (asked.method != "PATCH") return false;
    const std::string_view refused = asked.body.contains(order) ? order : lock;
    if (!asked.body.contains(refused)) return false;
    w.milan_transport.words = "annotation " + std::string(refused) + " is an order";
    ++w.refusals;
    return true;
  };
  REQUIRE(w.rome.create(services, service("LoadBalancer", {{order, "external"}, {lock, "192.0.2.0/24"}}), actor));
  w.pass(1min);
  CHECK(w.type() == "(none)");
  CHECK(w.events("FailedReflection") >= 1);
  CHECK(w.refusals < 40);
  // Without the lock at home it is narrowed.
  w.change([](json::object& tree) { tree["metadata"].as_object()["annotations"] = json::object{{order, "external"}}; });
  CHECK(w.reaches([&] { return w.type() == "ClusterIP"; }, 5min));
}

TEST_CASE("a copy that was whole goes if neither the whole nor the narrowed one is taken") {
  Refusing w;
  REQUIRE(w.rome.create(services, service("LoadBalancer"), actor));
  REQUIRE(w.reaches([&] { return w.type() == "LoadBalancer"; }, 5s));
  w.milan_transport.refuses = [&w](const kube::HttpRequest& asked) {
    w.milan_transport.words = asked.body.contains(order) ? "annotation " + std::string(order) + " is an order" : "no";
    return asked.method == "PATCH";
  };
  w.annotate(order, "external");
  CHECK(w.reaches([&] { return w.type() == "(none)"; }, 10s));
}

TEST_CASE("a copy that is a door goes if home shuts the Service and adds what is refused") {
  Refusing w;
  REQUIRE(w.rome.create(services, service("LoadBalancer"), actor));
  REQUIRE(w.reaches([&] { return w.type() == "LoadBalancer"; }, 5s));
  w.change([](json::object& tree) {
    tree["spec"].as_object()["type"] = "ClusterIP";
    kube::ensure_object(tree["metadata"].as_object(), "annotations")[order] = "external";
  });
  CHECK(w.reaches([&] { return w.type() == "(none)"; }, 5s));
}

TEST_CASE("the copy of an Ingress goes when a refused annotation comes that it lacks") {
  const kube::Resource& ingresses = api::kinds::ingresses;
  Refusing w("Ingress");
  w.refused = {"nginx.ingress.kubernetes.io/auth-url"};
  const json::object ingress{{"metadata", json::object{{"name", "door"}, {"namespace", "shop"}}},
                             {"spec", json::object{{"rules", json::array{json::object{{"host", "a.example.org"}}}}}}};
  REQUIRE(w.rome.create(ingresses, ingress, actor));
  REQUIRE(w.reaches([&] { return w.milan.get(ingresses, {"shop-rome", "door"}) != nullptr; }, 5s));
  REQUIRE(w.rome.update(
      {ingresses, {"shop", "door"}},
      [](json::object& tree) {
        kube::ensure_object(tree["metadata"].as_object(), "annotations")["nginx.ingress.kubernetes.io/auth-url"] = "x";
      },
      actor));
  CHECK(w.reaches([&] { return !w.milan.get(ingresses, {"shop-rome", "door"}); }, 5s));
  w.pass(1min);
  CHECK(w.events("FailedReflection") >= 1);
  CHECK_FALSE(w.milan.get(ingresses, {"shop-rome", "door"}));
}

}  // namespace liqo::controllers
