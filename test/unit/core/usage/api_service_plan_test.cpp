#include "core/usage/api_service_plan.hpp"

#include <doctest/doctest.h>

#include "kube/base/json.hpp"

namespace {

using namespace std::chrono_literals;
using namespace liqo::core;
using Step = ApiServiceStep;
using Stored = ApiServiceSnapshot::Stored;
using Answers = ApiServiceAnswers;
using Memory = ApiServiceMemory;

const kube::TimePoint now{10h};

kube::Object with_conditions(std::string_view conditions) {
  return kube::Object(
      kube::json::parse(R"({"metadata":{"name":"a"},"status":{"conditions":)" + std::string(conditions) + "}}")
          .as_object());
}

}  // namespace

TEST_CASE("whether an APIService answers is what its condition says") {
  CHECK(read_available(with_conditions(R"([{"type":"Available","status":"True"}])")) == Answers::yes);
  CHECK(read_available(with_conditions(R"([{"type":"Available","status":"False","reason":"MissingEndpoints"}])")) ==
        Answers::no_endpoints);
  CHECK(read_available(with_conditions(R"([{"type":"Available","status":"False","reason":"FailedDiscoveryCheck"}])")) ==
        Answers::no);
  CHECK(read_available(with_conditions(R"([{"type":"Available","status":"Unknown"}])")) == Answers::no);
  CHECK(read_available(with_conditions("[]")) == Answers::no);
}

TEST_CASE("the APIService of figures is there as long as it answers, and not for long where it does not") {
  struct Row {
    const char* when;
    ApiServiceSnapshot snapshot;
    Memory memory;
    Step step;
    Memory after;
    std::optional<kube::Duration> again;
  };
  const Memory fresh{.is_on_trial = true, .silent_since = now};
  const auto ours = [](Answers answers, bool is_right = true) {
    return ApiServiceSnapshot{.stored = Stored::ours, .is_right = is_right, .answers = answers};
  };
  const auto unready = [](ApiServiceSnapshot snapshot) {
    snapshot.is_ready = false;
    return snapshot;
  };
  const auto bare = [](ApiServiceSnapshot snapshot) {
    snapshot.has_front_proxy = false;
    return snapshot;
  };
  const auto leaving = [](ApiServiceSnapshot snapshot) {
    snapshot.is_namespace_going = true;
    return snapshot;
  };
  const auto silent = [](kube::Duration time, bool on_trial = false) {
    return Memory{.is_on_trial = on_trial, .silent_since = now - time};
  };
  const auto withdrawn = [](kube::Duration time) { return Memory{.withdrawn = now - time}; };
  const Memory none;
  const Row rows[] = {
      {"nothing is there", {}, none, Step::write, fresh, 1min},
      {"nothing is there, and nobody could answer", unready({}), none, Step::leave, none, 5s},
      {"it answers", ours(Answers::yes), none, Step::leave, none, {}},
      {"it answers again", ours(Answers::yes), silent(2min), Step::leave, none, {}},
      {"the trial went well", ours(Answers::yes), silent(30s, true), Step::leave, none, {}},
      {"somebody changed it", ours(Answers::yes, false), none, Step::write, none, {}},
      {"it falls silent", ours(Answers::no), none, Step::leave, silent(0s), 3min},
      {"it is silent, and wrong", ours(Answers::no, false), silent(1min), Step::write, silent(1min), 2min},
      {"it is silent for a while", ours(Answers::no), silent(2min), Step::leave, silent(2min), 1min},
      {"it is silent for too long", ours(Answers::no), silent(3min), Step::withdraw, withdrawn(0s), 1h},
      {"this process is not ready to answer", unready(ours(Answers::no)), silent(3min), Step::leave, none, 5s},
      {"no replica is ready", ours(Answers::no_endpoints), silent(3min), Step::leave, none, {}},
      {"the trial goes on", ours(Answers::no), silent(20s, true), Step::leave, silent(20s, true), 40s},
      {"the trial has failed", ours(Answers::no), silent(1min, true), Step::withdraw, withdrawn(0s), 1h},
      {"no replica behind it in the trial", ours(Answers::no_endpoints), silent(1min, true), Step::withdraw,
       withdrawn(0s), 1h},
      {"a trial of a process that is not ready", unready(ours(Answers::no)), silent(1min, true), Step::leave,
       Memory{.is_on_trial = true}, 5s},
      {"it was withdrawn a while ago", {}, withdrawn(10min), Step::leave, withdrawn(10min), 50min},
      {"it was withdrawn an hour ago", {}, withdrawn(1h), Step::write, fresh, 1min},
      {"there is no front proxy", bare({}), none, Step::leave, none, {}},
      {"it is there without a front proxy", bare(ours(Answers::no)), none, Step::remove_without_front_proxy, none, {}},
      {"the namespace goes", leaving(ours(Answers::yes)), none, Step::remove_with_namespace, none, {}},
      {"the namespace goes, and it is not there", leaving({}), none, Step::leave, none, {}},
      {"it is for another Service", bare({.stored = Stored::others}), none, Step::leave, none, {}},
      {"that of another goes with no namespace of ours",
       leaving({.stored = Stored::others}),
       none,
       Step::leave,
       none,
       {}},
      {"it is being deleted", bare({.stored = Stored::going}), silent(1min), Step::leave, silent(1min), {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.when);
    const ApiServicePlan plan = plan_api_service(row.snapshot, row.memory, now);
    CHECK(plan.step == row.step);
    CHECK((plan.memory == row.after));
    CHECK((plan.again == row.again));
  }
}
