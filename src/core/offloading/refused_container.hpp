// The status at home of a container that the provider refuses to run.
// Tested by test/unit/core/offloading/node_debugger_test.cpp and
// test/unit/core/offloading/ephemeral_containers_test.cpp.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::core {

/// A terminated status with the reason and `message`.
inline kube::json::object refused_container(const kube::json::value& container, std::string_view message) {
  namespace json = kube::json;
  json::object ended{{"exitCode", 1}, {"reason", api::reasons::offloading_refused}, {"message", message}};
  return json::object{{"name", kube::string_at(container, {"name"})},
                      {"image", kube::string_at(container, {"image"})},
                      {"imageID", ""},
                      {"ready", false},
                      {"restartCount", 0},
                      {"state", json::object{{"terminated", std::move(ended)}}}};
}

}  // namespace liqo::core
