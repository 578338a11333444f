#include "core/admission/callers.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "core/admission/unproven_turns.hpp"
#include "core/admission/validations.hpp"

using namespace liqo::core::admission;
using namespace std::chrono_literals;

TEST_CASE("an address is proven for an hour since it last was") {
  ProvenCallers callers;
  const kube::TimePoint start{};
  CHECK_FALSE(callers.has("10.0.0.1", start));
  callers.prove("10.0.0.1", start);
  CHECK(callers.has("10.0.0.1", start + 59min));
  CHECK_FALSE(callers.has("10.0.0.2", start));
  CHECK_FALSE(callers.has("10.0.0.1", start + 1h));
  callers.prove("10.0.0.1", start + 30min);
  CHECK(callers.has("10.0.0.1", start + 80min));
}

TEST_CASE("all of a list are proven, or not; of no list nothing is known") {
  ProvenCallers callers;
  const kube::TimePoint start{};
  const std::vector<std::string> both{"10.0.0.1", "10.0.0.2"};
  callers.prove("10.0.0.1", start);
  CHECK_FALSE(callers.has_all(both, start));
  callers.prove("10.0.0.2", start + 30min);
  CHECK(callers.has_all(both, start + 30min));
  CHECK_FALSE(callers.has_all(both, start + 70min));
  CHECK_FALSE(callers.has_all({}, start));
}

TEST_CASE("callers that may be API servers get some answers at once, and then one in five seconds") {
  UnprovenTurns turns;
  const kube::TimePoint start = kube::TimePoint{} + 1h;
  const auto taken = [&turns](kube::TimePoint at) {
    int count = 0;
    while (turns.take(at)) ++count;
    return count;
  };
  CHECK(taken(start) == 8);
  CHECK(taken(start + 4s) == 0);
  CHECK(taken(start + 5s) == 1);
  CHECK(taken(start + 15s) == 2);
  CHECK(taken(start + 1h) == 8);
}

TEST_CASE("a probe is filled in with its caller, and nothing else is") {
  Request request;
  request.object = forge_probe();
  request.name = request.object.name();
  request.caller = "10.0.0.1";
  request.dry_run = true;
  CHECK(probed_address(request.object).empty());
  const Answer answer = mutate_foreign_cluster(request);
  REQUIRE(answer.patch.size() == 1);
  CHECK(kube::string_at(answer.patch[0], {"op"}) == "replace");
  CHECK(kube::string_at(answer.patch[0], {"path"}) == "/metadata/annotations/liqo.io~1asked-from");
  CHECK(kube::string_at(answer.patch[0], {"value"}) == "10.0.0.1");
  request.object.set_annotation("liqo.io/asked-from", "10.0.0.2");
  CHECK(probed_address(request.object) == "10.0.0.2");

  Request stored = request, other = request, update = request;
  stored.dry_run = false;
  other.object.mutable_metadata()["name"] = "milan";
  update.operation = Operation::update;
  for (const Request& each : {stored, other, update}) CHECK_FALSE(answer_probe(each));
}

TEST_CASE("of too many addresses the one is forgotten that was proven least lately") {
  ProvenCallers callers;
  kube::TimePoint now{};
  for (std::size_t i = 0; i < ProvenCallers::max_proven; ++i) callers.prove("10.0.0." + std::to_string(i), now += 1s);
  callers.prove("10.0.0.0", now += 1s);
  callers.prove("10.0.1.0", now += 1s);
  CHECK(callers.size() == ProvenCallers::max_proven);
  CHECK(callers.has("10.0.0.0", now));
  CHECK_FALSE(callers.has("10.0.0.1", now));
  CHECK(callers.has("10.0.1.0", now));
}
