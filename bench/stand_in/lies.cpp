#include "lies.hpp"

#include "kube/base/json.hpp"

namespace liqo::bench {

namespace {

namespace json = kube::json;

/// The number of foreign objects in a list.
constexpr int strangers = 200;
constexpr std::size_t long_refusal = 256U << 10;

std::string status(int code, std::string_view reason, std::string message) {
  return json::serialize(json::object{{"kind", "Status"},
                                      {"apiVersion", "v1"},
                                      {"metadata", json::object()},
                                      {"status", "Failure"},
                                      {"reason", reason},
                                      {"message", std::move(message)},
                                      {"code", code}});
}

json::object stranger(int number) {
  return {{"kind", "Pod"},
          {"apiVersion", "v1"},
          {"metadata",
           {{"name", "stranger-" + std::to_string(number)},
            {"namespace", "kube-system"},
            {"uid", ""},
            {"resourceVersion", "-1"},
            {"creationTimestamp", "0000-00-00T00:00:00Z"}}},
          {"spec", {{"nodeName", 7}, {"containers", "none"}}},
          {"status", {{"phase", {"Running"}}}}};
}

std::string events_of_strangers() {
  std::string lines;
  for (int number = 0; number < strangers; ++number)
    lines += json::serialize(json::object{{"type", "ADDED"}, {"object", stranger(number)}}) + "\n";
  return lines;
}

std::string list_of_strangers() {
  json::array items;
  for (int number = 0; number < strangers; ++number) items.push_back(stranger(number));
  return json::serialize(json::object{{"kind", "PodList"},
                                      {"apiVersion", "v1"},
                                      {"metadata", {{"resourceVersion", "-1"}}},
                                      {"items", std::move(items)}});
}

}  // namespace

Lie lie_about(const kube::HttpRequest& request, std::size_t number) {
  const bool is_watch = request.target.find("watch=true") != std::string::npos;
  switch (number % 6) {
    case 0:
      return {.body = "<html>It works!</html>\n"};
    case 1:
      return {.body = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"none","uid":"x"},"data":[1]})"
                      "\n"};
    case 2:
      return {.body = is_watch ? events_of_strangers() : list_of_strangers()};
    case 3:
      return {.status = 410, .body = status(410, "Expired", "too old resource version: 1 (9007199254740993)")};
    case 4:
      return {};
    default:
      return {.status = 403, .body = status(403, "Forbidden", std::string(long_refusal, 'x'))};
  }
}

}  // namespace liqo::bench
