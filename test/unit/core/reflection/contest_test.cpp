// When a copy that somebody overwrites is left to them.
#include "core/reflection/contest.hpp"

#include "../objects.hpp"

namespace liqo::core::reflection {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using Verdict = Contest::Verdict;

constexpr kube::TimePoint start{std::chrono::hours(1)};

/// A copy of that wish, which somebody has overwritten.
Contest::Sight theirs(std::string_view wish = "a") {
  return {.wish = wish, .was_written = true, .is_overwritten = true};
}
/// A copy of an older wish.
Contest::Sight older(std::string_view wish) { return {.wish = wish, .was_written = false, .is_overwritten = true}; }

std::string entry(std::string_view manager, int second, std::string_view more = "") {
  return R"({"manager": ")" + std::string(manager) + R"(", "time": "2026-11-21T10:00:0)" + std::to_string(second) +
         R"(Z")" + std::string(more) + "}";
}

}  // namespace

TEST_CASE("the third overwriting in two minutes is left, for an hour") {
  Contest contest;
  CHECK(contest.judge(theirs(), start) == Verdict::write);
  CHECK(contest.judge(theirs(), start + 20s) == Verdict::write);
  CHECK_FALSE(contest.leaves_for(start + 20s));
  CHECK(contest.judge(theirs(), start + 40s) == Verdict::give_up);
  CHECK(contest.judge(theirs(), start + 60s) == Verdict::leave);
  CHECK(contest.leaves_for(start + 40s) == 1h);
  CHECK_FALSE(contest.is_due(start + 59min));
  CHECK_FALSE(contest.is_over(start + 59min));
  const kube::TimePoint later = start + 61min;
  CHECK(contest.is_due(later));
  // It is tried once, and not three times again.
  CHECK(contest.judge(theirs(), later) == Verdict::write);
  CHECK_FALSE(contest.leaves_for(later));
  CHECK(contest.judge(theirs(), later + 20s) == Verdict::give_up);
  CHECK(contest.leaves_for(later + 20s) == 1h);
}

TEST_CASE("overwritings that are further apart are corrected for ever, and forgotten") {
  Contest contest;
  for (int i = 0; i < 20; ++i) CHECK(contest.judge(theirs(), start + i * 70s) == Verdict::write);
  CHECK_FALSE(contest.is_over(start + 19 * 70s));
  CHECK(contest.is_over(start + 19 * 70s + 5min));
}

TEST_CASE("only what somebody has written over the same wish counts") {
  Contest contest;
  // A webhook of the provider changes what is written, and is no manager.
  for (int i = 0; i < 9; ++i)
    CHECK(contest.judge({.wish = "a", .was_written = true, .is_overwritten = false}, start + i * 5s) == Verdict::write);
  // Home changes its object each time.
  for (int i = 0; i < 9; ++i) CHECK(contest.judge(older("b" + std::to_string(i)), start + i * 5s) == Verdict::write);
  // The digest is gone each time, and memory knows that the wish was written.
  CHECK(contest.judge(older("c"), start + 60s) == Verdict::write);
  CHECK(contest.judge(older("c"), start + 65s) == Verdict::write);
  CHECK(contest.judge(older("c"), start + 70s) == Verdict::write);
  CHECK(contest.judge(older("c"), start + 75s) == Verdict::give_up);
}

TEST_CASE("a write that fails, or that a webhook changes, is nobody's overwriting") {
  Contest contest;
  // A controller has put its finalizer on the copy, and the provider does not take the new wish.
  for (int i = 0; i < 9; ++i) {
    CHECK(contest.judge(older("b"), start + i * 5s) == Verdict::write);
    contest.see_failed();
  }
  // What is taken is changed by a webhook, and the finalizer is as old as before.
  Contest::Sight changed = theirs("b");
  changed.at = "2026-11-21T10:00:00Z";
  for (int i = 0; i < 9; ++i) CHECK(contest.judge(changed, start + 60s + i * 5s) == Verdict::write);
  // News that could not be written while theirs stays are tried again.
  Contest lost;
  for (auto at : {0s, 20s}) CHECK(lost.judge(theirs(), start + at) == Verdict::write);
  CHECK(lost.judge(theirs(), start + 40s) == Verdict::give_up);
  CHECK(lost.judge(older("b"), start + 160s) == Verdict::write);
  lost.see_failed();
  CHECK(lost.judge(older("b"), start + 161s) == Verdict::leave);
  CHECK(lost.leaves_for(start + 161s) == 119s);
  CHECK(lost.judge(older("b"), start + 280s) == Verdict::write);
}

TEST_CASE("new content of home is written once while theirs stays, and not more often than each two minutes") {
  Contest contest;
  for (auto at : {0s, 20s}) CHECK(contest.judge(theirs(), start + at) == Verdict::write);
  CHECK(contest.judge(theirs(), start + 40s) == Verdict::give_up);
  CHECK(contest.judge(older("b"), start + 60s) == Verdict::leave);
  CHECK(contest.leaves_for(start + 60s) == 100s);
  CHECK(contest.is_due(start + 160s));
  CHECK(contest.judge(older("b"), start + 160s) == Verdict::write);
  // They overwrite that, too: the hour goes on as it was.
  CHECK(contest.judge(theirs("b"), start + 180s) == Verdict::leave);
  CHECK(contest.leaves_for(start + 40s + 30min) == 30min);
  // A copy that was found as it is wanted does not wait for anything.
  CHECK(contest.judge(older("c"), start + 200s) == Verdict::leave);
  contest.see_kept();
  CHECK_FALSE(contest.is_due(start + 10min));
}

TEST_CASE("the one who has written a copy is read from managedFields") {
  struct Row {
    std::string_view title;
    std::vector<std::string> entries;
    std::string_view expected;  ///< "-" = nobody
  };
  const Row rows[] = {
      {"no managedFields", {}, "-"},
      {"ours alone", {entry("us", 3)}, "-"},
      {"before us", {entry("us", 3), entry("istiod", 2)}, "-"},
      {"after us", {entry("us", 3), entry("istiod", 4)}, "istiod"},
      {"in the same second", {entry("us", 3), entry("istiod", 3)}, "istiod"},
      {"of two the newest", {entry("istiod", 5), entry("us", 3), entry("kubectl", 4)}, "istiod"},
      {"after our apply, before our patch", {entry("us", 3), entry("us", 6), entry("istiod", 5)}, "-"},
      {"a status", {entry("us", 3), entry("controller", 5, R"(, "subresource": "status")")}, "-"},
      {"nothing is ours any more", {entry("istiod", 1)}, "istiod"},
      {"without a time", {R"({"manager": "istiod"})"}, "-"},
      {"no object", {R"("x")"}, "-"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.title);
    std::string entries;
    for (const std::string& one : row.entries) entries += (entries.empty() ? "" : ", ") + one;
    const auto found =
        overwriter(parse(R"({"metadata": {"name": "words", "managedFields": [)" + entries + "]}}"), "us");
    CHECK((found ? found->manager : "-") == row.expected);
  }
}

}  // namespace liqo::core::reflection
