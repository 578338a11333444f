#include "kube/base/failure.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

using namespace kube;

namespace {

Result<int> number(bool fails) {
  if (fails) return fail(Errc::missing, "no number");
  return 7;
}

Result<int> twice(bool fails) {
  KUBE_TRY(found, number(fails));
  found += found;
  return found;
}

Result<> in_phases(bool fails) {
  KUBE_TRYV(number(fails), "counting");
  return {};
}

Result<std::unique_ptr<int>> owned(bool fails) {
  KUBE_TRY(found, number(fails));
  return std::make_unique<int>(found);
}

Result<std::unique_ptr<int>> handed_on(bool fails) {
  KUBE_TRY(found, owned(fails));
  return std::move(found);
}

std::expected<int, std::string> in_words(bool fails) {
  const auto say = [](bool now) -> std::expected<int, std::string> {
    if (now) return std::unexpected("no number");
    return 7;
  };
  KUBE_TRY(found, say(fails));
  return found + 1;
}

}  // namespace

TEST_CASE("KUBE_TRY names what a Result has, and passes its failure on") {
  CHECK(twice(false) == 14);
  const auto failed = twice(true);
  REQUIRE(!failed);
  CHECK(failed.error().code() == Errc::missing);
  CHECK(failed.error().text() == "no number");
}

TEST_CASE("a phase is put in front of what KUBE_TRYV passes on") {
  CHECK(in_phases(false));
  CHECK(in_phases(true).error().text() == "counting: no number");
}

TEST_CASE("what cannot be copied is handed on by moving it") {
  CHECK(*handed_on(false).value() == 7);
  CHECK(handed_on(true).error().code() == Errc::missing);
}

TEST_CASE("a failure of another type is passed on as it is") {
  CHECK(in_words(false) == 8);
  CHECK(in_words(true).error() == "no number");
}
