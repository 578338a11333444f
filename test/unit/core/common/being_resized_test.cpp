#include "core/common/being_resized.hpp"

#include <doctest/doctest.h>

namespace json = kube::json;

TEST_CASE("a pod is being resized until its node has seen it and has no resize left to do") {
  struct Row {
    std::string_view status;
    bool is_resized;
  };
  constexpr Row rows[] = {
      {R"({})", false},
      {R"({"observedGeneration":3})", false},
      {R"({"observedGeneration":2})", true},
      {R"({"conditions":[{"type":"PodResizePending","status":"True"}]})", true},
      {R"({"observedGeneration":3,"conditions":[{"type":"PodResizeInProgress","status":"True"}]})", true},
      {R"({"conditions":[{"type":"Ready","status":"True"}]})", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.status);
    kube::Object pod = kube::Object::make(kube::resources::pods, {"shop", "web"});
    pod.mutable_metadata()["generation"] = 3;
    pod.tree()["status"] = json::parse(row.status);
    CHECK(liqo::core::is_being_resized(pod) == row.is_resized);
  }
}
