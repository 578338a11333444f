// The fields that a server has dropped of a pod, and what is no such thing.
#include "core/offloading/lost_fields.hpp"

#include <doctest/doctest.h>

#include "core/offloading/left_out.hpp"

namespace liqo::core {
namespace {

namespace json = kube::json;
using Paths = std::vector<std::string>;

Paths lost(std::string_view sent, std::string_view stored) {
  return lost_fields(json::parse(sent).as_object(), json::parse(stored).as_object());
}

}  // namespace

TEST_CASE("fields that a server does not know are found at any depth") {
  const struct {
    std::string_view sent, stored;
    Paths expected;
  } cases[] = {
      {R"({"hostname":"h","hostUsers":true})", R"({"hostname":"h"})", {"hostUsers"}},
      {R"({"hostname":"h"})", R"({"hostname":null})", {"hostname"}},
      // Values that mean nothing elsewhere ask for users of the pod's own, or for a file that is root's.
      {R"({"hostUsers":false})", "{}", {"hostUsers"}},
      {R"({"volumes":[{"name":"s","secret":{"secretName":"s","defaultUser":0}}]})",
       R"({"volumes":[{"name":"s","secret":{"secretName":"s"}}]})",
       {"volumes[0].secret.defaultUser"}},
      {R"({"containers":[{"name":"a","livenessProbe":{"grpc":{"port":1,"mode":"TLS"}}}]})",
       R"({"containers":[{"name":"a","livenessProbe":{"grpc":{"port":1,"service":""}}}]})",
       {"containers[0].livenessProbe.grpc.mode"}},
      {R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"b","emptyDir":{"mode":448}}]})",
       R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"b","emptyDir":{}}]})",
       {"volumes[1].emptyDir.mode"}},
      // A source of a volume that the server does not know: nothing is left of it but its name.
      {R"({"volumes":[{"name":"a","tomorrow":{"b":1}}]})", R"({"volumes":[{"name":"a"}]})", {"volumes[0].tomorrow"}},
      {R"({"evictionResponders":[{"name":"x"}],"resources":{"limits":{"cpu":"1"}}})",
       "{}",
       {"evictionResponders", "resources"}},
      // Lists without names are compared by their place.
      {R"({"volumes":[{"name":"p","projected":{"sources":[{"configMap":{"name":"c"}},{"secret":{"name":"s",
           "items":[{"key":"k","path":"p","user":6}]}}]}}]})",
       R"({"volumes":[{"name":"p","projected":{"sources":[{"configMap":{"name":"c"}},{"secret":{"name":"s",
           "items":[{"key":"k","path":"p"}]}}]}}]})",
       {"volumes[0].projected.sources[1].secret.items[0].user"}},
  };
  for (const auto& each : cases) {
    CAPTURE(each.sent);
    CHECK(lost(each.sent, each.stored) == each.expected);
  }
}

TEST_CASE("what asks for nothing is not missed, and what a server or its webhooks add or change is not a loss") {
  CHECK(lost(R"({"hostNetwork":false,"hostname":"","volumes":[],"nodeSelector":{},"os":null})", "{}") == Paths{});
  CHECK(lost(R"({"containers":[{"name":"a","tty":false,"ports":[{"containerPort":80,"hostPort":0}]}]})",
             R"({"containers":[{"name":"a","ports":[{"containerPort":80}]}]})") == Paths{});
  CHECK(lost(R"({"containers":[{"name":"a","image":"i:1"}]})",
             R"({"containers":[{"name":"a","image":"mirror/i:1","imagePullPolicy":"Always"}],"dnsPolicy":"x"})") ==
        Paths{});
  // A sidecar stands in front, and a mount of a token behind.
  CHECK(lost(R"({"containers":[{"name":"a","tty":true,"volumeMounts":[{"name":"v","mountPath":"/a","readOnly":true},
               {"name":"v","mountPath":"/b"}]}]})",
             R"({"containers":[{"name":"proxy"},{"name":"a","tty":true,"volumeMounts":[{"name":"v","mountPath":"/b"},
               {"name":"v","mountPath":"/a","readOnly":true},{"name":"t","mountPath":"/t"}]}]})") == Paths{});
  // Who has been taken away altogether, or cannot be found again, is none of a server that does not know a field.
  CHECK(lost(R"({"containers":[{"name":"a","tty":true}],"tolerations":[{"operator":"Exists"}]})",
             R"({"containers":[{"name":"b"}],"tolerations":[{"key":"x"},{"key":"y"}]})") == Paths{});
  // Two variables of one name are distinguished by their place.
  CHECK(lost(R"({"env":[{"name":"A","value":"1"},{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"p"}}}]})",
             R"({"env":[{"name":"A","value":"1"},{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"p"}}}]})") ==
        Paths{});
  CHECK(lost(R"({"volumes":[7,"x",null],"containers":{"a":1}})", R"({"volumes":[8],"containers":[]})") == Paths{});
}

TEST_CASE("what probes do anyway is not missed, also where a server has written it, and another choice is") {
  const auto probe = [](std::string_view http, std::string_view grpc) {
    return lost(R"({"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":1,"protocol":")" + std::string(http) +
                    R"("}},"readinessProbe":{"grpc":{"port":1,"mode":")" + std::string(grpc) + R"("}}}]})",
                R"({"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":1}},
                    "readinessProbe":{"grpc":{"port":1}}}]})");
  };
  CHECK(probe("HTTP1", "Plaintext") == Paths{});
  CHECK(probe("HTTP2", "TLS") ==
        Paths{"containers[0].livenessProbe.httpGet.protocol", "containers[0].readinessProbe.grpc.mode"});
  // These values are defaults of those fields only.
  CHECK(lost(R"({"mode":"HTTP1","protocol":"Plaintext"})", "{}") == Paths{"mode", "protocol"});
}

TEST_CASE("an entry is found near its place, however long the list is") {
  constexpr std::size_t entries = 20'000;
  json::array sent;
  for (std::size_t i = 0; i < entries; ++i) sent.push_back(json::object{{"name", std::to_string(i)}, {"tty", true}});
  // Searches among all of them would be some 200 million comparisons.
  const auto lost_where_shifted = [&sent](std::size_t places) {
    json::array stored;
    for (std::size_t i = 0; i < places; ++i) stored.push_back(json::object{{"name", "proxy" + std::to_string(i)}});
    stored.insert(stored.end(), sent.begin(), sent.end());
    stored.back().as_object().erase("tty");
    return lost_fields(json::object{{"containers", sent}}, json::object{{"containers", std::move(stored)}});
  };
  CHECK(lost_where_shifted(1) == Paths{"containers[19999].tty"});
  CHECK(lost_where_shifted(64) == Paths{"containers[19999].tty"});
  CHECK(lost_where_shifted(65) == Paths{});
}

TEST_CASE("an entry that a webhook has put further to the front is found") {
  CHECK(lost(R"({"env":[{"name":"A"},{"name":"B"},{"name":"C","value":"1"}]})",
             R"({"env":[{"name":"C"},{"name":"A"},{"name":"B"}]})") == Paths{"env[2].value"});
}

TEST_CASE("as many are named as are told") {
  json::object sent;
  for (int i = 0; i < 1'000; ++i) sent["field" + std::to_string(i)] = 1;
  CHECK(lost_fields(sent, json::object()).size() == max_left_out);
  json::array many;
  for (int i = 0; i < 1'000; ++i) many.push_back(json::object{{"name", std::to_string(i)}, {"tty", true}});
  json::array kept = many;
  for (json::value& entry : kept) entry.as_object().erase("tty");
  const json::object wanted{{"containers", many}}, stored{{"containers", kept}};
  CHECK(lost_fields(wanted, stored).size() == max_left_out);
}

}  // namespace liqo::core
