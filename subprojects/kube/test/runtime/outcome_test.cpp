// The text of a reconcile that has failed, and what is no Outcome.
#include <doctest/doctest.h>

#include <optional>
#include <type_traits>

#include "kube/base/failure.hpp"
#include "kube/runtime/controller.hpp"

using namespace kube;

TEST_CASE("a failure that a reconciler passes on is tried again") {
  const Outcome outcome(pass_on(Failure(Errc::timeout, "too late")));
  CHECK_FALSE(outcome.is_terminal());
}

TEST_CASE("no aggregate that begins with an Outcome is made of a failure") {
  struct Step {
    std::optional<Outcome> end = {};
  };
  CHECK_FALSE(std::is_constructible_v<Step, PassedOn<Failure>>);
  CHECK_FALSE(std::is_constructible_v<std::optional<Step>, PassedOn<Failure>>);
  CHECK(std::is_constructible_v<std::optional<Outcome>, PassedOn<Failure>>);
}
