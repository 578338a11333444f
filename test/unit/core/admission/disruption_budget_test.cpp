// The PodDisruptionBudgets that a consumer may write into its twins.
#include "core/admission/disruption_budget.hpp"

#include <doctest/doctest.h>

#include "core/offloading/disruption_budget.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::core::admission {
namespace {

PodPolicy offering() {
  PodPolicy policy;
  policy.max_block = std::chrono::minutes(10);
  return policy;
}

Request writes(Operation operation) {
  kube::Object home = kube::Object::make(api::kinds::disruption_budgets, {"shop", "quorum"});
  home.mutable_spec()["selector"] = json::object();
  Request request;
  request.operation = operation;
  request.plural = "poddisruptionbudgets";
  request.name = "quorum";
  request.ns = "shop-rome";
  request.user = {.name = "pool-1f", .groups = {"rome"}};
  request.object = forge_budget_copy(home, {.local = "rome", .remote = "milan"}, "shop-rome", 3);
  return request;
}

}  // namespace

TEST_CASE("a copy passes where the policy lets budgets hold, and until they have held a drain for too long") {
  CHECK(check_disruption_budget(writes(Operation::create), "rome", offering(), false).allowed);
  const Answer closed = check_disruption_budget(writes(Operation::create), "rome", {}, false);
  CHECK(!closed.allowed);
  CHECK(closed.message.contains("no disruptionBudgets"));
  const Answer lifted = check_disruption_budget(writes(Operation::create), "rome", offering(), true);
  CHECK(!lifted.allowed);
  CHECK(lifted.message.contains("held the drain of a node for 600 s"));
  CHECK(check_disruption_budget(writes(Operation::update), "rome", offering(), true).allowed);
}

TEST_CASE("what is no copy is refused, and so is a status") {
  Request percent = writes(Operation::update);
  percent.object.mutable_spec()["minAvailable"] = "100%";
  CHECK(!check_disruption_budget(percent, "rome", offering(), false).allowed);
  Request status = writes(Operation::update);
  status.subresource = "status";
  CHECK(!check_disruption_budget(status, "rome", offering(), false).allowed);
  Request stays = writes(Operation::update);
  stays.object.mutable_metadata()["finalizers"] = json::array{"x.io/stay"};
  CHECK(!check_disruption_budget(stays, "rome", offering(), false).allowed);
}

}  // namespace liqo::core::admission
