// The ranges that clusters publish for their pods, and which of them may be declared.
#include "model/peer/pod_ranges.hpp"

#include <doctest/doctest.h>

namespace {

using namespace liqoctl;
namespace json = kube::json;
using liqo::core::in_words;

kube::Object object(const char* text) { return kube::Object(json::parse(text).as_object()); }

TEST_CASE("the flag gives ranges, or none") {
  const auto words = [](const std::vector<std::string>& flags) {
    const auto ranges = model::read_pod_ranges(flags);
    return ranges ? ranges->annotation() : "error: " + ranges.error().text();
  };
  CHECK(words({"10.2.0.0/16"}) == "10.2.0.0/16");
  CHECK(words({"10.3.0.0/16", "10.2.0.0/16,fd00:2::/64"}) == "10.2.0.0/15, fd00:2::/64");
  CHECK(words({"none"}) == "none");
  CHECK(words({"none", "10.2.0.0/16"}).starts_with("error: --pod-cidr"));
  CHECK(words({"10.2.0.0"}).contains("\"10.2.0.0\" is no range"));
  CHECK(words({","}).starts_with("error: --pod-cidr"));
}

TEST_CASE("what a provider publishes is proposed, and rubbish is not") {
  const auto told = object(R"({"data": {"CLUSTER_ID": "milan", "POD_CIDRS": "10.2.0.0/16, fd00:2::/64"}})");
  const auto silent = object(R"({"data": {"CLUSTER_ID": "milan"}})");
  const auto lies = object(R"({"data": {"CLUSTER_ID": "milan", "POD_CIDRS": "all"}})");
  const std::vector<kube::Object> networks{
      object(R"({"metadata": {"labels": {"ipam.liqo.io/network-type": "pod-cidr"}}, "spec": {"cidr": "10.5.0.0/16"}})"),
      object(
          R"({"metadata": {"labels": {"ipam.liqo.io/network-type": "service-cidr"}}, "spec": {"cidr": "10.96.0.0/16"}})"),
      object(R"({"metadata": {}, "spec": {"cidr": "10.7.0.0/16"}})")};
  CHECK(in_words(model::published_ranges(&told, networks)) == "10.2.0.0/16, fd00:2::/64");
  CHECK(in_words(model::published_ranges(&silent, networks)) == "10.5.0.0/16");
  CHECK(in_words(model::published_ranges(nullptr, networks)) == "10.5.0.0/16");
  CHECK(model::published_ranges(&silent, {}).empty());
  CHECK(model::published_ranges(&lies, networks).empty());
  std::string many;
  for (int i = 0; i < 65; ++i) many += "10." + std::to_string(2 * i) + ".0.0/16,";
  kube::Object flood = silent;
  kube::ensure_object(flood.tree(), "data")["POD_CIDRS"] = many;
  CHECK(model::published_ranges(&flood, {}).empty());
}

TEST_CASE("ranges of nodes are those of real ones, merged") {
  const std::vector<kube::Object> nodes{
      object(
          R"({"metadata": {"name": "a"}, "spec": {"podCIDR": "10.2.0.0/24", "podCIDRs": ["10.2.0.0/24", "fd00::/64"]}})"),
      object(R"({"metadata": {"name": "b"}, "spec": {"podCIDR": "10.2.1.0/24"}})"),
      object(R"({"metadata": {"name": "c"}})"),
      object(
          R"({"metadata": {"name": "turin", "labels": {"liqo.io/type": "virtual-node"}}, "spec": {"podCIDR": "10.9.0.0/24"}})")};
  CHECK(in_words(model::node_ranges(nodes)) == "10.2.0.0/23, fd00::/64");
  CHECK(model::node_ranges({}).empty());
}

TEST_CASE("ranges that overlap with this cluster's are refused, and the sentence says what to do") {
  const std::vector<kube::Object> services{
      object(R"({"metadata": {"name": "kubernetes"}, "spec": {"cidrs": ["10.96.0.0/16", "fd96::/112"]}})")};
  const auto api = object(R"({"spec": {"clusterIP": "172.20.0.1"}})");
  const std::vector<kube::Object> nodes{
      object(R"({"metadata": {"name": "one"}, "spec": {"podCIDRs": ["10.1.0.0/24"]},
                 "status": {"addresses": [{"type": "InternalIP", "address": "192.168.1.1"}, {"type": "Hostname", "address": "one"}]}})"),
      object(R"({"metadata": {"name": "milan", "labels": {"liqo.io/type": "virtual-node"}},
                 "status": {"addresses": [{"type": "InternalIP", "address": "10.2.0.1"}]}})")};
  const auto own = model::own_ranges(services, &api, nodes);
  const auto checked = [&own](const char* text) {
    const auto apart = model::check_overlap("milan", *liqo::core::parse_ranges(text), own);
    return apart ? std::string() : apart.error().text();
  };
  CHECK(checked("10.2.0.0/16") == "");
  CHECK(checked("") == "");
  CHECK(checked("10.2.0.0/16,10.96.4.0/24").contains("pods of milan in 10.96.4.0/24"));
  CHECK(checked("10.96.4.0/24").contains("Services (ServiceCIDR kubernetes) in 10.96.0.0/16"));
  CHECK(checked("10.96.4.0/24").contains("--pod-cidr none"));
  CHECK(checked("fd96::/64").contains("fd96::/112"));
  CHECK(checked("10.0.0.0/15").contains("pods of node one in 10.1.0.0/24"));
  CHECK(checked("192.168.0.0/16").contains("node one in 192.168.1.1/32"));
  CHECK(checked("172.20.0.0/16").contains("Service kubernetes in 172.20.0.1/32"));
  CHECK(checked("0.0.0.0/0") != "");
}

}  // namespace
