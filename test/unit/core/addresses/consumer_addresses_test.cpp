// Which addresses the endpoints of a consumer's Services may have here.
#include "core/addresses/consumer_addresses.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;

/// As the network module writes it: pods 10.10/16 of the consumer are reached at 10.30/16.
kube::Object configuration(std::string_view status = "True") {
  return parse(R"({"metadata": {"name": "rome", "namespace": "liqo-tenant-rome"},
    "spec": {"remote": {"cidr": {"pod": ["10.10.0.0/16"]}}},
    "status": {"remote": {"cidr": {"pod": ["10.30.0.0/16"]}},
               "conditions": [{"type": "NetworkCIDRsConfigured", "status": ")" +
               std::string(status) + R"("}]}})");
}

/// A policy with these endpointCIDRs; null = it does not name any.
kube::Result<PodPolicy> policy(const char* ranges) {
  PodPolicy made;
  if (ranges) made.endpoint_ranges = parse_ranges(ranges).value();
  return made;
}

}  // namespace

TEST_CASE("endpoints have the addresses that are declared, and those that the network maps") {
  struct Case {
    const char* title;
    kube::Result<PodPolicy> policy;
    const char* annotated;  // on the ForeignCluster; null = there is none
    std::vector<kube::Object> configurations;
    const char *of_declared, *of_network;  // what 10.1.0.5 and 10.10.0.1 become, "-" = left out
    const char* words;
  };
  const Case cases[] = {
      {"nothing", policy(nullptr), nullptr, {}, "-", "-", "because nobody has declared which they may have"},
      {"the policy", policy("10.1.0.0/16"), nullptr, {}, "10.1.0.5", "-", "lead here to addresses in 10.1.0.0/16; "},
      {"the ForeignCluster", policy(nullptr), "10.1.0.0/16", {}, "10.1.0.5", "-", "in 10.1.0.0/16; "},
      {"the policy before the ForeignCluster", policy("10.2.0.0/16"), "10.1.0.0/16", {}, "-", "-", "in 10.2.0.0/16; "},
      {"no range in the policy", policy(""), "10.1.0.0/16", {configuration()}, "-", "-", "has declared"},
      {"none at the ForeignCluster", policy(nullptr), "none", {configuration()}, "-", "-", "has declared"},
      {"rubbish at the ForeignCluster", policy(nullptr), "all", {configuration()}, "-", "-", "of ForeignCluster rome"},
      {"a policy that cannot be read",
       kube::fail(kube::Errc::parse, "no JSON"),
       "10.1.0.0/16",
       {configuration()},
       "-",
       "-",
       "cannot be understood (annotation liqo.io/pod-policy): no JSON"},
      {"the network", policy(nullptr), nullptr, {configuration()}, "-", "10.30.0.1", "that the network maps; "},
      {"the network and a range",
       policy("10.1.0.0/16"),
       nullptr,
       {configuration()},
       "10.1.0.5",
       "10.30.0.1",
       "in 10.1.0.0/16, and to those that the network maps; "},
      {"a network that is not ready",
       policy(nullptr),
       nullptr,
       {configuration("False")},
       "-",
       "-",
       "wait for the network module"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    kube::Object peer = parse(R"({"metadata": {"name": "rome"}})");
    if (c.annotated) peer.set_annotation("liqo.io/remote-pod-cidrs", c.annotated);
    const auto addresses = ConsumerAddresses::of(
        "rome", "liqo-tenant-rome",
        {.policy = c.policy, .foreign_cluster = c.annotated ? &peer : nullptr, .configurations = c.configurations});
    const auto reached = [&addresses](const char* address) {
      const auto found = addresses.reached(*IpAddress::parse(address));
      return found ? found->text() : "-";
    };
    CHECK(reached("10.1.0.5") == c.of_declared);
    CHECK(reached("10.10.0.1") == c.of_network);
    CAPTURE(addresses.words());
    CHECK(addresses.words().contains(c.words));
    CHECK(addresses.words().starts_with("Services of rome lead "));
  }
}

}  // namespace liqo::core
