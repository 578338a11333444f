// The ranges of a peer in the Configuration of a network module.
#include "core/addresses/network_configuration.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;

constexpr const char* ready = R"("status": "True", "observedGeneration": 2)";

/// Pods 10.10/16 are reached at 10.30/16, and external addresses 10.70/16 at 10.71/16.
kube::Object configuration(std::string_view condition = ready, std::string_view remapped = R"("10.30.0.0/16")") {
  return parse(R"({"metadata": {"name": "rome", "namespace": "liqo-tenant-rome", "generation": 2},
    "spec": {"remote": {"cidr": {"pod": ["10.10.0.0/16"], "external": ["10.70.0.0/16"]}}},
    "status": {"remote": {"cidr": {"pod": [)" +
               std::string(remapped) + R"(], "external": ["10.71.0.0/16"]}},
               "conditions": [{"type": "Other", "status": "False"}, {"type": "NetworkCIDRsConfigured", )" +
               std::string(condition) + "}]}}");
}

}  // namespace

TEST_CASE("ranges are mapped once the network module has mapped all of them") {
  struct Case {
    const char* title;
    std::vector<kube::Object> configurations;
    kube::Errc expected;
  };
  const Case cases[] = {
      {"several", {configuration(), configuration()}, kube::Errc::invalid_input},
      {"not ready", {configuration(R"("status": "False", "observedGeneration": 2)")}, kube::Errc::missing},
      {"ready before its last change",
       {configuration(R"("status": "True", "observedGeneration": 1)")},
       kube::Errc::missing},
      {"without a status", {parse(R"({"metadata": {"name": "rome"}})")}, kube::Errc::missing},
      {"fewer ranges than asked for", {configuration(ready, "")}, kube::Errc::invalid_input},
      {"another size", {configuration(ready, R"("10.30.0.0/17")")}, kube::Errc::invalid_input},
      {"no range", {configuration(ready, R"("rubbish")")}, kube::Errc::invalid_input},
      {"no text", {configuration(ready, "7")}, kube::Errc::invalid_input},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const auto mapping = read_network_mapping(c.configurations);
    REQUIRE_FALSE(mapping.has_value());
    CHECK(mapping.error().code() == c.expected);
  }
  CHECK(read_network_mapping({}).value().empty());
  for (const char* condition : {ready, R"("status": "True")"}) {
    CAPTURE(condition);
    const std::vector<kube::Object> one{configuration(condition)};
    const auto mapping = read_network_mapping(one);
    REQUIRE(mapping.has_value());
    CHECK(mapping->remap("10.10.3.4") == "10.30.3.4");
    CHECK(mapping->remap("10.70.3.4") == "10.71.3.4");
    CHECK(mapping->remap("10.96.0.1") == "10.96.0.1");
  }
}

TEST_CASE("an address is in a range of the peer also where the range is not mapped yet") {
  const std::vector<kube::Object> one{configuration(R"("status": "False")")};
  CHECK(is_in_range_of_peer(one, "10.10.3.4"));
  CHECK(is_in_range_of_peer(one, "10.70.3.4"));
  CHECK_FALSE(is_in_range_of_peer(one, "10.30.3.4"));
  CHECK_FALSE(is_in_range_of_peer(one, "rubbish"));
  CHECK_FALSE(is_in_range_of_peer({}, "10.10.3.4"));
}

}  // namespace liqo::core
