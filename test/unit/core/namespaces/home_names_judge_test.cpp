#include "core/namespaces/home_names_judge.hpp"

#include <doctest/doctest.h>

namespace liqo::core {
namespace {

using enum NameLook;

TEST_CASE("names of home resolve once the probe does, and the name that is not there does not") {
  const struct {
    NameLook probe, absence;
    std::optional<bool> expected;
  } cases[] = {{found, absent, true},           {found, found, false},           {found, nothing, std::nullopt},
               {absent, absent, false},         {absent, found, false},          {absent, nothing, false},
               {nothing, absent, std::nullopt}, {nothing, nothing, std::nullopt}};
  for (const auto& each : cases) {
    CAPTURE(int(each.probe));
    CAPTURE(int(each.absence));
    HomeNamesJudge judge;
    CHECK_FALSE(judge.are_on().has_value());
    judge.observe(each.probe, each.absence);
    CHECK(judge.are_on() == each.expected);
    judge.observe(found, absent);
    CHECK(judge.are_on() == true);
  }
}

TEST_CASE("a name server that is away changes nothing; one that says no several times does") {
  HomeNamesJudge judge;
  judge.observe(found, absent);
  for (int i = 0; i < 100; ++i) judge.observe(nothing, nothing);
  CHECK(judge.are_on() == true);
  judge.observe(absent, absent);
  judge.observe(nothing, nothing);
  judge.observe(absent, absent);
  CHECK(judge.are_on() == true);
  judge.observe(found, absent);
  judge.observe(absent, absent);
  judge.observe(absent, absent);
  CHECK(judge.are_on() == true);
  // A name server that begins to answer everything says no as well.
  judge.observe(found, found);
  CHECK(judge.are_on() == false);
  judge.observe(nothing, nothing);
  CHECK(judge.are_on() == false);
}

TEST_CASE("a consumer whose twins may have another one's names is known") {
  CHECK_FALSE(shares_twin_names("rome", {"rome", "naples", "rome-prod", "prodrome"}));
  CHECK(shares_twin_names("rome", {"rome", "prod-rome"}));
  CHECK_FALSE(shares_twin_names("prod-rome", {"rome", "prod-rome"}));
}

}  // namespace
}  // namespace liqo::core
