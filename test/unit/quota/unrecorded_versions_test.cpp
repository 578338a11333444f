// How new the cache of ShadowPods has to be for users without a record, for every order in which records are removed.
#include "quota/unrecorded_versions.hpp"

#include <doctest/doctest.h>

#include <functional>

namespace liqo::quota {
namespace {

kube::Result<void> refused(int code) {
  return std::unexpected(kube::Failure::from_status(
      {.code = code, .reason = "", .message = "no", .causes = {}, .retry_after = std::nullopt}));
}

/// The result of a list when the newest version was 40, and the cache of records had been listed once.
UnrecordedVersions listed() {
  UnrecordedVersions versions;
  CHECK(versions.end_list(versions.begin_list(1), 40));
  return versions;
}

TEST_CASE("what was listed holds until a record goes of which nobody here knows how new it was") {
  const kube::Result<void> done;
  struct Case {
    const char* name;
    std::function<void(UnrecordedVersions&)> meanwhile;
    bool is_known;
    std::uint64_t floor;
  };
  for (const Case& c : {
           Case{"nothing", [](UnrecordedVersions&) {}, true, 40},
           Case{"another leader removed one", [](UnrecordedVersions& v) { v.see_removed("uid"); }, false, 0},
           Case{"one is being removed here", [](UnrecordedVersions& v) { v.begin_removal("uid", 50); }, true, 50},
           Case{"one was removed here",
                [&](UnrecordedVersions& v) {
                  v.begin_removal("uid", 50);
                  v.see_removal_end("uid", done);
                  v.see_removed("uid");
                },
                true, 50},
           Case{"the watch was faster than the answer",
                [&](UnrecordedVersions& v) {
                  v.begin_removal("uid", 50);
                  v.see_removed("uid");
                  v.see_removal_end("uid", done);
                },
                true, 50},
           Case{"it is gone, and the answer is not here",
                [](UnrecordedVersions& v) {
                  v.begin_removal("uid", 50);
                  v.see_removed("uid");
                },
                false, 0},
           Case{"it has changed, and is there",
                [](UnrecordedVersions& v) {
                  v.begin_removal("uid", 50);
                  v.see_removal_end("uid", refused(409));
                },
                true, 50},
           Case{"it has changed, and is gone",
                [](UnrecordedVersions& v) {
                  v.begin_removal("uid", 50);
                  v.see_removed("uid");
                  v.see_removal_end("uid", refused(409));
                },
                false, 0},
           Case{"nobody knows what came of the removal",
                [](UnrecordedVersions& v) {
                  v.begin_removal("uid", 50);
                  v.see_removal_end("uid", refused(500));
                },
                false, 0},
           Case{"one of an older version", [](UnrecordedVersions& v) { v.begin_removal("uid", 30); }, true, 40},
           Case{"this process begins to lead", [](UnrecordedVersions& v) { v.begin_to_remove(); }, false, 0},
       }) {
    CAPTURE(c.name);
    UnrecordedVersions versions = listed();
    c.meanwhile(versions);
    CHECK(versions.is_known(1) == c.is_known);
    if (c.is_known) CHECK(versions.floor() == c.floor);
    // Between two lists of records some may have been removed unseen.
    CHECK_FALSE(versions.is_known(2));
  }
}

TEST_CASE("a doubt that comes while ShadowPods are listed makes the list worthless") {
  UnrecordedVersions versions;
  CHECK_FALSE(versions.is_known(0));
  const auto listing = versions.begin_list(0);
  versions.see_removed("uid");
  CHECK_FALSE(versions.end_list(listing, 40));
  CHECK_FALSE(versions.is_known(0));
  CHECK(versions.end_list(versions.begin_list(0), 41));
  CHECK(versions.is_known(0));
  CHECK(versions.floor() == 41);
}

TEST_CASE("a new list has the pods of whoever had a record that is gone") {
  UnrecordedVersions versions = listed();
  versions.begin_removal("uid", 50);
  versions.see_removed("uid");
  const auto listing = versions.begin_list(1);
  CHECK(versions.end_list(listing, 45));
  CHECK(versions.is_known(1));
  CHECK(versions.floor() == 45);
}

}  // namespace
}  // namespace liqo::quota
