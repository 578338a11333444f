// The values that an installation takes over from the platform of its cluster.
#include "model/install/platform.hpp"

#include <doctest/doctest.h>

namespace {

using namespace liqoctl;
using model::Platform;
namespace json = kube::json;

kube::Object object(const std::string& text) { return kube::Object(json::parse(text).as_object()); }

json::value ranges(const json::object& values) {
  const json::value* found = kube::find(values, {"ipam", "podCIDRs"});
  return found ? *found : json::value();
}

TEST_CASE("three kinds of clusters are known, and of others it is told what to type") {
  CHECK(model::read_platform("kubeadm").value() == Platform::kubeadm);
  CHECK(model::read_platform("k3s").value() == Platform::k3s);
  CHECK(model::read_platform("openshift").value() == Platform::openshift);
  CHECK(model::read_platform("kind").error().text().contains("liqoctl install kubeadm"));
  for (const char* cloud : {"aks", "eks", "gke"})
    CHECK(model::read_platform(cloud).error().text().contains("liqoctl install without " + std::string(cloud)));
  CHECK(model::read_platform("k8s").error().text().contains("none of kubeadm, k3s and openshift"));
}

TEST_CASE("kubeadm tells the ranges of pods by its controller manager") {
  const auto pod = [](const char* words) {
    return object(R"({"spec":{"containers":[{"command":)" + std::string(words) + "}]}}");
  };
  const auto values = [&](const char* words) {
    return model::platform_values(Platform::kubeadm, {.managers = {pod(words)}, .nodes = {}, .network = {}});
  };
  CHECK(ranges(values(R"(["kube-controller-manager","--cluster-cidr=10.1.0.0/16,fd00::/48"])")) ==
        json::array{"10.1.0.0/16", "fd00::/48"});
  CHECK(ranges(values(R"(["--cluster-cidr","10.1.0.0/16"])")) == json::array{"10.1.0.0/16"});
  CHECK(ranges(values(R"(["--cluster-cidr=all"])")).is_null());
  CHECK(ranges(values(R"(["--cluster-cidr-more=10.1.0.0/16"])")).is_null());
  CHECK(kube::string_at(json::value(values("[]")), {"discovery", "config", "clusterLabels", "liqo.io/provider"}) ==
        "kubeadm");
}

TEST_CASE("k3s has a range of its own unless a server names another") {
  const auto node = [](const std::string& arguments) {
    return kube::Object(json::object{
        {"metadata", json::object{{"name", "n"}, {"annotations", json::object{{"k3s.io/node-args", arguments}}}}}});
  };
  const auto of = [&](const std::string& arguments) {
    return ranges(model::platform_values(Platform::k3s, {.managers = {}, .nodes = {node(arguments)}, .network = {}}));
  };
  CHECK(of("rubbish") == json::array{"10.42.0.0/16"});
  CHECK(of(R"(["server","--cluster-cidr","10.7.0.0/16"])") == json::array{"10.7.0.0/16"});
}

TEST_CASE("OpenShift tells its ranges, and chooses the user of the daemon") {
  const auto network = object(R"({"spec":{"clusterNetwork":[{"cidr":"10.128.0.0/14","hostPrefix":23}]}})");
  const auto values = model::platform_values(Platform::openshift, {.managers = {}, .nodes = {}, .network = network});
  CHECK(ranges(values) == json::array{"10.128.0.0/14"});
  CHECK(kube::bool_at(json::value(values), {"openshiftConfig", "enabled"}));
  CHECK(ranges(model::platform_values(Platform::openshift, {})).is_null());
  CHECK(model::platform_values(Platform::any, {}).empty());
}

}  // namespace
