// The sentence about pods that a drain is ending.
#include "model/tenant/ending_pods.hpp"

#include <doctest/doctest.h>

#include "kube/base/json.hpp"

using namespace liqoctl;

TEST_CASE("only pods that are ending already are told of to whoever ends a drain") {
  const kube::Object runs = kube::Object::make(kube::resources::pods, {"demo-rome", "web"});
  kube::Object ends = runs;
  ends.mutable_metadata()["deletionTimestamp"] = "2026-11-21T10:00:00Z";
  CHECK(model::ending_in_words({}).empty());
  CHECK(model::ending_in_words({runs}).empty());
  CHECK(model::ending_in_words({runs, ends}) == "the drain has begun to end 1 pod: it is not kept, and starts anew");
  CHECK(model::ending_in_words({ends, ends, runs}) ==
        "the drain has begun to end 2 pods: they are not kept, and start anew");
}

TEST_CASE("pods of a consumer are known by its ID, and those of a slice by the user of the slice") {
  const std::string all = model::pods_of_consumer("rome", "");
  CHECK(all == "liqo.io/managed-by=shadowpod,offloading.liqo.io/origin=rome");
  const std::string of_slice = model::pods_of_consumer("rome", "batch");
  CHECK(of_slice.starts_with(all + ",liqo.io/creator-user=batch-"));
  CHECK(of_slice != model::pods_of_consumer("turin", "batch"));
}
