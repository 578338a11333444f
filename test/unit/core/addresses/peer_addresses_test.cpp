// Which addresses of a provider's pods are shown at home, and as what.
#include "core/addresses/peer_addresses.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using Basis = PeerAddresses::Basis;

kube::Object peer(const char* declared, std::string_view status = "{}") {
  kube::Object made = parse(R"({"metadata": {"name": "milan"}, "spec": {"clusterID": "milan"}})");
  made.mutable_status() = parse_value(status).get_object();
  if (declared) made.set_annotation("liqo.io/remote-pod-cidrs", declared);
  return made;
}

/// As the network module writes it: pods 10.10/16 and 10.11/16 are reached at 10.30/16 and 10.50/16.
kube::Object configuration(std::string_view condition = R"("status": "True", "observedGeneration": 2)") {
  return parse(R"({"metadata": {"name": "milan", "namespace": "liqo-tenant-milan", "generation": 2},
    "spec": {"remote": {"cidr": {"pod": ["10.10.0.0/16", "10.11.0.0/16"], "external": ["10.70.0.0/16"]}}},
    "status": {"remote": {"cidr": {"pod": ["10.30.0.0/16", "10.50.0.0/16"], "external": ["10.71.0.0/16"]}},
               "conditions": [{"type": "Other", "status": "True"}, {"type": "NetworkCIDRsConfigured", )" +
               std::string(condition) + "}]}}");
}

kube::Object ip(std::string_view from, std::string_view to) {
  kube::Object made = parse(R"({"metadata": {"name": "one", "namespace": "liqo-tenant-milan"}})");
  made.mutable_spec()["ip"] = from;
  if (!to.empty()) made.mutable_status()["ip"] = to;
  return made;
}

std::string shown(const PeerAddresses& addresses, std::string_view address) {
  const auto found = addresses.shown(address);
  return found ? found->text() : "-";
}

constexpr const char* older = R"({"role": "Provider"})";

}  // namespace

TEST_CASE("an address is shown only where it is declared") {
  struct Case {
    const char *title, *declared, *status;
    std::vector<kube::Object> configurations;
    Basis basis;
    std::vector<std::pair<const char*, const char*>> shown;
  };
  const std::vector<Case> cases{
      {"nothing", nullptr, "{}", {}, Basis::undeclared, {{"10.2.0.5", "-"}, {"10.96.0.10", "-"}}},
      {"ranges",
       "10.2.0.0/16,fd00:2::/64",
       "{}",
       {},
       Basis::declared,
       {{"10.2.0.5", "10.2.0.5"},
        {"10.2.255.255", "10.2.255.255"},
        {"10.3.0.0", "-"},
        {"10.96.0.10", "-"},
        {"fd00:2::0:5", "fd00:2::5"},
        {"fd00:3::5", "-"},
        {"::ffff:10.2.0.5", "-"},
        {"rubbish", "-"},
        {"", "-"}}},
      {"none", "none", older, {}, Basis::none, {{"10.2.0.5", "-"}}},
      {"none, whatever the network says", "none", "{}", {configuration()}, Basis::none, {{"10.10.0.1", "-"}}},
      {"no ranges", "all of them", older, {}, Basis::invalid, {{"10.2.0.5", "-"}}},
      {"older",
       nullptr,
       older,
       {},
       Basis::unchecked,
       {{"10.96.0.10", "10.96.0.10"}, {"rubbish", "-"}, {"127.0.0.1", "-"}, {"169.254.169.254", "-"}, {"::1", "-"}}},
      {"older, its network not ready",
       nullptr,
       older,
       {configuration(R"("status": "False")")},
       Basis::unchecked,
       {{"10.10.0.1", "10.10.0.1"}}},
      {"network",
       nullptr,
       "{}",
       {configuration()},
       Basis::mapped,
       {{"10.10.0.1", "10.30.0.1"},
        {"10.11.0.1", "10.50.0.1"},
        {"10.70.3.4", "10.71.3.4"},
        {"10.30.0.1", "-"},
        {"10.96.0.10", "-"}}},
      {"network, its condition without generation",
       nullptr,
       "{}",
       {configuration(R"("status": "True")")},
       Basis::mapped,
       {{"10.10.0.1", "10.30.0.1"}}},
      {"network and ranges",
       "10.2.0.0/16",
       "{}",
       {configuration()},
       Basis::declared,
       {{"10.10.0.1", "10.30.0.1"}, {"10.2.0.5", "10.2.0.5"}, {"10.96.0.10", "-"}}},
      {"network of yesterday",
       nullptr,
       "{}",
       {configuration(R"("status": "True", "observedGeneration": 1)")},
       Basis::invalid,
       {{"10.10.0.1", "-"}}},
      {"network, not ready",
       nullptr,
       "{}",
       {configuration(R"("status": "False", "observedGeneration": 2)")},
       Basis::invalid,
       {{"10.10.0.1", "-"}}},
      {"two networks", nullptr, "{}", {configuration(), configuration()}, Basis::invalid, {{"10.10.0.1", "-"}}},
      {"ranges, and a network that is not ready",
       "10.10.0.0/16",
       "{}",
       {configuration(R"("status": "False")")},
       Basis::declared,
       {{"10.10.0.1", "10.10.0.1"}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const auto addresses = PeerAddresses::of(peer(c.declared, c.status), c.configurations, {});
    CHECK(addresses.basis() == c.basis);
    CHECK_FALSE(addresses.words().empty());
    CHECK(addresses.reports_left_out() == (c.basis == Basis::declared || c.basis == Basis::mapped));
    for (const auto& [address, expected] : c.shown) {
      CAPTURE(address);
      CHECK(shown(addresses, address) == expected);
    }
    CHECK(addresses == PeerAddresses::of(peer(c.declared, c.status), c.configurations, {}));
  }
}

TEST_CASE("an address that an IP object names is shown as the one that was assigned to it") {
  const std::vector<kube::Object> ips{ip("192.0.2.9", "10.70.0.1"), ip("10.2.0.7", ""), ip("x", "10.70.0.3"),
                                      ip("192.0.2.8", "x")};
  for (const char* declared : {"10.2.0.0/16", static_cast<const char*>(nullptr)}) {
    const auto addresses = PeerAddresses::of(peer(declared), {}, ips);
    CHECK(shown(addresses, "192.0.2.9") == "10.70.0.1");
    CHECK(shown(addresses, "10.2.0.7") == "-");
    CHECK(shown(addresses, "192.0.2.8") == "-");
    CHECK(shown(addresses, "10.2.0.8") == (declared ? "10.2.0.8" : "-"));
    CHECK(addresses != PeerAddresses::of(peer(declared), {}, {}));
  }
  CHECK(shown(PeerAddresses::of(peer("none"), {}, ips), "192.0.2.9") == "-");
  CHECK(
      PeerAddresses::of(peer(nullptr), {}, ips).words().contains("no addresses here but those that IP objects assign"));
  CHECK(PeerAddresses::of(peer(nullptr), {}, {}).words().contains("no addresses here, because nobody has declared"));
}

TEST_CASE("where nothing is shown, one sentence says why and what to do") {
  const auto words = [](const char* declared, std::string_view status, std::vector<kube::Object> configurations) {
    return PeerAddresses::of(peer(declared, status), configurations, {}).words();
  };
  const std::string command = "kubectl annotate foreigncluster milan --overwrite liqo.io/remote-pod-cidrs=";
  CHECK(words(nullptr, "{}", {}).contains(command));
  CHECK(words(nullptr, older, {}).contains(command));
  CHECK(words("10.2.0.0", "{}", {}).contains("\"10.2.0.0\" is no range"));
  CHECK(words("10.2.0.0", "{}", {}).contains(command));
  CHECK(
      words(nullptr, "{}", {configuration(R"("status": "False")")}).contains("liqo-tenant-milan/milan has no ranges"));
  CHECK(words("10.2.1.0/16", "{}", {}) == "pods at milan show their addresses in 10.2.0.0/16");
}

TEST_CASE("an address that is shown leads back to that of the pod, if it is declared as one") {
  const auto original = [](const PeerAddresses& addresses, std::string_view shown) {
    const auto found = addresses.original_of(*IpAddress::parse(shown));
    return found ? found->text() : "-";
  };
  const std::vector<kube::Object> mapped{configuration()}, none;
  const std::vector<kube::Object> ips{ip("10.10.0.9", "10.99.0.1"), ip("10.10.0.8", "")};
  const auto all = PeerAddresses::of(peer("10.2.0.0/16"), mapped, ips);
  CHECK(original(all, "10.30.0.5") == "10.10.0.5");
  CHECK(original(all, "10.50.0.5") == "10.11.0.5");
  CHECK(original(all, "10.99.0.1") == "10.10.0.9");
  CHECK(original(all, "10.2.0.5") == "10.2.0.5");
  // Its pod is shown as 10.99.0.1.
  CHECK(original(all, "10.30.0.9") == "-");
  CHECK(original(all, "10.10.0.5") == "-");
  CHECK(original(all, "8.8.8.8") == "-");
  CHECK(original(PeerAddresses::of(peer("none"), mapped, none), "10.30.0.5") == "-");
  CHECK(original(PeerAddresses::of(peer(nullptr, older), none, none), "10.2.0.5") == "-");
  CHECK(original(PeerAddresses(), "10.2.0.5") == "-");
}

}  // namespace liqo::core
