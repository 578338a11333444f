// The VirtualNode of a granted slice over a fake API server: it follows the slice, and holds it.
#include <doctest/doctest.h>

#include "../adds.hpp"
#include "slices_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;

}  // namespace

TEST_CASE("an accepted slice becomes a VirtualNode that follows it, and keeps its size when a request is denied") {
  SliceConsumer rome;
  rome.add_slice();
  rome.add_slice("gpu");
  rome.add_slice("none", R"({"liqo.io/create-virtual-node": "false"})");
  rome.pass(2s);
  CHECK_FALSE(rome.has(kinds::virtual_nodes, rome.key));
  rome.answer(R"({"cpu": "4"})", "Accepted", "pool", R"({"nodeLabels": {"region": "eu"}})");
  rome.answer(R"({"cpu": "1", "nvidia.com/gpu": "2"})", "Accepted", "gpu");
  rome.answer(R"({"cpu": "1"})", "Accepted", "none");
  CHECK(rome.reaches([&] { return rome.capacity() == R"(cpu="4")"; }));
  CHECK(rome.reaches([&] { return rome.capacity("gpu") == R"(cpu="1",nvidia.com/gpu="2")"; }));
  const auto node = rome.find(kinds::virtual_nodes, rome.key);
  CHECK(kube::string_at(node->spec(), {"kubeconfigSecretRef", "name"}) == "kubeconfig-resourceslice-pool");
  CHECK(kube::string_at(node->spec(), {"labels", "region"}) == "eu");
  rome.answer(R"({"cpu": "6"})");
  CHECK(rome.reaches([&] { return rome.capacity() == R"(cpu="6")"; }));
  CHECK(rome.reaches([&] {
    return !kube::object_at(rome.find(kinds::virtual_nodes, rome.key)->spec(), {"labels"}).contains("region");
  }));
  rome.answer(R"({"cpu": "1"})", "Denied");
  rome.pass(10s);
  CHECK(rome.capacity() == R"(cpu="6")");
  CHECK_FALSE(rome.has(kinds::virtual_nodes, {rome.ns, "none"}));
}

TEST_CASE("a virtual node is in the zone of its provider's nodes while home's operator wants that") {
  SliceConsumer rome;
  rome.add_slice();
  rome.answer(R"({"cpu": "4"})", "Accepted", "pool", R"({"nodeLabels": {"liqo.io/zone": "a"}})");
  const auto zone = [&] {
    const auto node = rome.find(kinds::virtual_nodes, rome.key);
    return node ? std::string(kube::string_at(node->spec(), {"labels", "topology.kubernetes.io/zone"})) : "(none)";
  };
  REQUIRE(rome.reaches([&] { return zone().empty(); }));
  for (const bool wanted : {true, false}) {
    controllers::Settings settings;
    settings.nodes.takes_provider_zones = wanted;
    rome.stop();
    rome.start(settings);
    CHECK(rome.reaches([&] { return zone() == (wanted ? "a" : ""); }));
  }
}

TEST_CASE("a deleted slice stays, with its identity, until its virtual nodes are gone") {
  SliceConsumer rome;
  rome.add_slice();
  rome.answer(R"({"cpu": "4"})");
  REQUIRE(rome.reaches([&] { return rome.has(kinds::virtual_nodes, rome.key); }));
  // A second node that shares the slice, and that something holds.
  kube::Object second = kube::Object::make(kinds::virtual_nodes, {rome.ns, "second"});
  second.set_label(api::labels::resource_slice_name, "pool");
  second.mutable_metadata()["finalizers"] = json::array{"example.com/drain"};
  rome.apply(kinds::virtual_nodes, second);
  static_cast<void>(rome.server.remove(kinds::resource_slices, rome.key, {}, "operator"));
  CHECK(rome.reaches([&] { return !rome.has(kinds::virtual_nodes, rome.key); }));
  rome.pass(10s);
  CHECK(rome.has(kinds::resource_slices, rome.key));
  CHECK(rome.has(kinds::identities, {rome.ns, "resourceslice-pool"}));
  rome.change(kinds::virtual_nodes, {rome.ns, "second"}, "",
              [](json::object& next) { kube::ensure_object(next, "metadata")["finalizers"] = json::array{}; });
  CHECK(rome.reaches([&] { return !rome.has(kinds::resource_slices, rome.key); }));
  CHECK(rome.reaches([&] { return !rome.has(kinds::identities, {rome.ns, "resourceslice-pool"}); }));
}

TEST_CASE("a VirtualNode that is wanted no more goes, one that a user made is left alone") {
  SliceConsumer rome;
  rome.add_slice();
  rome.answer(R"({"cpu": "4"})");
  REQUIRE(rome.reaches([&] { return rome.has(kinds::virtual_nodes, rome.key); }));
  rome.add_slice("pool", R"({"liqo.io/create-virtual-node": "false"})");
  CHECK(rome.reaches([&] { return !rome.has(kinds::virtual_nodes, rome.key); }));

  kube::Object own = kube::Object::make(kinds::virtual_nodes, {rome.ns, "mine"});
  own.mutable_spec()["clusterID"] = "milan";
  rome.apply(kinds::virtual_nodes, own);
  rome.add_slice("mine");
  rome.answer(R"({"cpu": "4"})", "Accepted", "mine");
  CHECK(rome.reaches([&] { return !rome.events("VirtualNodeExists").empty(); }));
  CHECK(rome.capacity("mine") == "");
}

TEST_CASE("a VirtualNode that admission refuses is told at its slice, and made once its name is free") {
  bool is_taken = true;
  SliceConsumer rome;
  rome.refuses = [&](const kube::HttpRequest& request) -> std::string {
    const bool is_refused = is_taken && request.verb == "create" && request.resource == "virtualnodes";
    return is_refused ? "there is a VirtualNode of that name already, liqo-tenant-naples/pool" : "";
  };
  rome.add_slice();
  rome.answer(R"({"cpu": "4"})");
  REQUIRE(rome.reaches([&] { return !rome.events("VirtualNodeRefused").empty(); }));
  CHECK(rome.events("VirtualNodeRefused").front().contains("liqo-tenant-naples/pool"));
  is_taken = false;
  CHECK(rome.reaches([&] { return rome.has(kinds::virtual_nodes, rome.key); }));
}

TEST_CASE("a VirtualNode that goes while it is corrected is made anew, and nothing has failed") {
  SliceConsumer rome;
  rome.add_slice();
  rome.answer(R"({"cpu": "4"})");
  REQUIRE(rome.reaches([&] { return rome.capacity() == R"(cpu="4")"; }));
  rome.pass(10s);
  const auto failures = [&] {
    const std::string text = rome.metrics();
    const std::string series = R"(controller_runtime_reconcile_errors_total{controller="resourceslice_vncreator"} )";
    const std::size_t at = text.find(series);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + series.size()));
  };
  const double before = failures();
  int corrected = 0;
  rome.link.on_send([&](const kube::HttpRequest& request) {
    if (request.verb != "patch" || request.resource != "virtualnodes" || !request.body.contains("resourceQuota") ||
        ++corrected > 1)
      return;
    rome.change(kinds::virtual_nodes, rome.key, "",
                [](json::object& next) { kube::ensure_object(next, "metadata")["finalizers"] = json::array{}; });
    static_cast<void>(rome.server.remove(kinds::virtual_nodes, rome.key, {}, "operator"));
  });
  rome.answer(R"({"cpu": "6"})");
  CHECK(rome.reaches([&] { return rome.capacity() == R"(cpu="6")"; }));
  CHECK(corrected > 0);
  CHECK(failures() == before);
}

TEST_CASE("a grant that changes has its own slice looked at, of many of one provider") {
  SliceConsumer rome;
  const auto name = [](int number) { return "pool-" + std::to_string(number); };
  constexpr int slices = 20;
  for (int i = 0; i < slices; ++i) {
    rome.add_slice(name(i));
    rome.answer(R"({"cpu": "4"})", "Accepted", name(i));
  }
  REQUIRE(rome.reaches([&] { return rome.capacity(name(slices - 1)) == R"(cpu="4")"; }));
  rome.pass(30s);
  const double before = adds(rome.metrics(), "resourceslice_vncreator");
  rome.answer(R"({"cpu": "6"})", "Accepted", name(3));
  REQUIRE(rome.reaches([&] { return rome.capacity(name(3)) == R"(cpu="6")"; }));
  rome.pass(2s);
  CHECK(adds(rome.metrics(), "resourceslice_vncreator") - before <= 8);
  // One that is removed still shows its slice, and is recreated.
  static_cast<void>(rome.server.remove(kinds::virtual_nodes, {rome.ns, name(5)}, {}, "operator"));
  CHECK(rome.reaches([&] {
    const auto made = rome.find(kinds::virtual_nodes, {rome.ns, name(5)});
    return made && !made->is_deleting();
  }));
}

}  // namespace liqo::testing
