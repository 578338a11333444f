// The annotation with the addresses that providers gave to copies.
#include "core/reflection/remote_addresses.hpp"

#include "../objects.hpp"

namespace liqo::core::reflection {
namespace {

using namespace testing;
using Texts = std::vector<std::string>;

kube::Object copy(std::string_view ingress, std::string_view spec = R"({"type": "LoadBalancer"})") {
  return parse(R"({"metadata": {"name": "door", "namespace": "shop-rome"}, "spec": )" + std::string(spec) +
               R"(, "status": {"loadBalancer": {"ingress": )" + std::string(ingress) + "}}}");
}

std::string long_name(char letter) {
  const std::string label(60, letter);
  return label + "." + label + "." + label + "." + label;
}

}  // namespace

TEST_CASE("of the status of a copy IP addresses and DNS names are taken, and nothing else") {
  struct Case {
    const char *title, *ingress;
    Texts taken;
  };
  for (const Case& each : {
           Case{"an address", R"([{"ip": "198.51.100.9"}])", {"198.51.100.9"}},
           Case{"a name", R"([{"hostname": "LB.example.org"}])", {"lb.example.org"}},
           Case{"both of one entry", R"([{"ip": "198.51.100.9", "hostname": "lb"}])", {"198.51.100.9", "lb"}},
           Case{"in order, and once",
                R"([{"ip": "198.51.100.9"}, {"ip": "198.51.100.10"}, {"ip": "198.51.100.9"}])",
                {"198.51.100.10", "198.51.100.9"}},
           Case{"IPv6 in one spelling", R"([{"ip": "2001:DB8:0::1"}, {"ip": "2001:db8::1"}])", {"2001:db8::1"}},
           Case{
               "no address and no name",
               R"([{"ip": "<b>"}, {"hostname": "a b"}, {"hostname": "http://x"}, {"ip": 7}, {"hostname": "-"}, 7, {}])",
               {}},
           Case{"words of a terminal", R"([{"hostname": "\u001b[31mlb"}])", {}},
           Case{"no list", "7", {}},
           Case{"many",
                R"([{"ip": "192.0.2.1"}, {"ip": "192.0.2.2"}, {"ip": "192.0.2.3"}, {"ip": "192.0.2.4"},
                {"ip": "192.0.2.5"}, {"ip": "192.0.2.6"}, {"ip": "192.0.2.7"}, {"ip": "192.0.2.8"}, {"ip": "192.0.2.9"}])",
                {"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", "192.0.2.6", "192.0.2.7",
                 "192.0.2.8"}},
       }) {
    CAPTURE(each.title);
    CHECK(addresses_given(copy(each.ingress)) == each.taken);
    CHECK(addresses_given(copy(each.ingress, R"({"rules": []})")) == each.taken);
    CHECK(addresses_given(copy(each.ingress, R"({"type": "ClusterIP"})")).empty());
  }
}

TEST_CASE("each provider has its own entry, and none takes the room of another") {
  RemoteAddresses all = RemoteAddresses::read("");
  CHECK(all.text().empty());
  all.set("milan", {"198.51.100.9"});
  all.set("turin", {"lb.example.org", "192.0.2.7"});
  CHECK(all.text() == R"({"milan":["198.51.100.9"],"turin":["lb.example.org","192.0.2.7"]})");
  CHECK(RemoteAddresses::read(all.text()).entries() == all.entries());
  all.set("milan", {});
  CHECK(all.text() == R"({"turin":["lb.example.org","192.0.2.7"]})");
  CHECK(all.of("milan").empty());
  all.set("turin", {});
  CHECK(all.text().empty());

  Texts many;
  for (char letter = 'a'; letter < 'k'; ++letter) many.push_back(long_name(letter));
  all.set("greedy", many);
  CHECK(all.of("greedy").size() == 4);
  all.set("milan", {"198.51.100.9"});
  CHECK(all.of("milan") == Texts{"198.51.100.9"});
  for (int i = 0; i < 20; ++i) all.set("cluster-" + std::to_string(i), many);
  CHECK(all.text().size() <= max_remote_addresses_bytes);
  CHECK(all.of("greedy").size() == 4);
  CHECK(all.of("milan") == Texts{"198.51.100.9"});
  CHECK(RemoteAddresses::read(all.text()).entries() == all.entries());
}

TEST_CASE("of an annotation that a user wrote only what is in its form counts") {
  for (const char* text : {"milan", "[]", "{", "7", R"({"milan": "198.51.100.9"})", R"({"Milan!": ["198.51.100.9"]})",
                           R"({"milan": [7, "a b"]})", R"({"milan": [[["x"]]]})"}) {
    CAPTURE(text);
    CHECK(RemoteAddresses::read(text).entries().empty());
  }
  CHECK(RemoteAddresses::read(R"({"milan": ["a b", "198.51.100.9"], "turin": 7})").text() ==
        R"({"milan":["198.51.100.9"]})");
  CHECK(RemoteAddresses::read(R"({"milan": ["198.51.100.9"], "x": ")" + std::string(3'000, 'x') + R"("})")
            .entries()
            .empty());
}

}  // namespace liqo::core::reflection
