// By which addresses a provider reaches what is at home.
#include "core/reflection/home_endpoints.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"

namespace liqo::core::reflection {
namespace {

kube::Object configuration(std::string_view spec) {
  auto made = kube::Object::parse(R"({"metadata": {"name": "milan"}, "spec": )" + std::string(spec) + "}");
  REQUIRE(made.has_value());
  return std::move(*made);
}

}  // namespace

TEST_CASE("with a network between the clusters pods are reached, and what has an IP object with an address") {
  const std::vector<kube::Object> network{
      configuration(R"({"local": {"cidr": {"pod": ["10.200.0.0/16", 7, "no range"], "external": ["10.70.0.0/16"]}}})")};
  const std::vector<Cidr> declared{*Cidr::parse("10.201.0.0/16")}, nothing;
  struct Case {
    const char *title, *address;
    std::optional<std::string_view> assigned;
    const char *with, *without;  ///< network; "" = it is not reached
  };
  for (const Case& c : {
           Case{"a pod", "10.200.3.4", {}, "10.200.3.4", "10.200.3.4"},
           Case{"a pod with an IP object", "10.200.3.4", "10.70.0.9", "10.200.3.4", "10.200.3.4"},
           Case{"a pod in a declared range", "10.201.3.4", {}, "10.201.3.4", "10.201.3.4"},
           Case{"a host", "192.0.2.9", {}, "", "192.0.2.9"},
           Case{"a host with an IP object", "192.0.2.9", "10.70.0.1", "10.70.0.1", "192.0.2.9"},
           Case{"a host whose IP object has no address yet", "192.0.2.9", "", "", "192.0.2.9"},
           Case{"a host whose IP object has nonsense", "192.0.2.9", "here", "", "192.0.2.9"},
           Case{"the external range is none of pods", "10.70.0.1", {}, "", "10.70.0.1"},
           Case{"IPv6", "fd00::1", {}, "", "fd00::1"},
       }) {
    CAPTURE(c.title);
    const auto text = [&](const OutwardAddresses& addresses) {
      const auto reached = addresses.outward(*IpAddress::parse(c.address), c.assigned);
      return reached ? reached->text() : "";
    };
    CHECK(text(OutwardAddresses::of(network, declared)) == c.with);
    CHECK(text(OutwardAddresses::of({}, declared)) == c.without);
  }
  CHECK(OutwardAddresses::of(network, declared) != OutwardAddresses::of(network, nothing));
  CHECK(OutwardAddresses::of({}, declared) == OutwardAddresses::of({}, nothing));
}

}  // namespace liqo::core::reflection
