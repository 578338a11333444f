// The state of the twins of one namespace at all providers.
#include "core/namespaces/twin_states.hpp"

#include <doctest/doctest.h>

namespace liqo::core {
namespace {

storage::RemoteData data_in(std::string twin) {
  return {.cluster = "milan",
          .twin = std::move(twin),
          .claim = {"shop", "data"},
          .claim_uid = "c1",
          .volume = "pvc-c1",
          .has_claim = true,
          .outlasts = false};
}

/// "map required|not [phase] [crowded] [held]" of each state.
std::string text(const std::vector<TwinState>& states) {
  std::string out;
  for (const TwinState& state : states) {
    out += (out.empty() ? "" : "; ") + state.map + (state.required ? " required" : " not");
    if (!state.phase.empty()) out += " " + state.phase;
    if (state.is_crowded_out) out += " crowded";
    if (!state.held.empty())
      out += state.held.starts_with("it still has the name shop-rome; the ") ? " renamed" : " held";
  }
  return out;
}

}  // namespace

TEST_CASE("the state of a twin follows its map, the selector and the data in it") {
  const ReportedTwin asked{.cluster = "milan", .asked = "shop-rome", .phase = "Accepted"};
  const ReportedTwin silent{.cluster = "milan"};
  const ReportedTwin kept{.cluster = "milan", .phase = "Accepted", .message = "data", .kept = "data"};
  const ReportedTwin renamed{
      .cluster = "milan", .asked = "store", .phase = "Accepted", .message = "data", .kept = "data"};
  const ReportedTwin full{.cluster = "milan", .is_full = true};
  const ReportedTwin ending{.cluster = "milan", .asked = "shop-rome", .phase = "Terminating", .is_deleting = true};
  const ReportedTwin ending_full{.cluster = "milan", .is_deleting = true, .is_full = true};
  struct Row {
    std::string_view what;
    std::vector<ReportedTwin> reported;
    std::set<std::string, std::less<>> selected;
    std::string_view remote_name = "shop-rome";
    bool is_wish_known = true;
    std::string_view data_in;  ///< a twin in milan that holds data, "" = none does
    std::string_view states;
  };
  for (const Row& row : std::vector<Row>{
           {.what = "nothing", .states = ""},
           {.what = "a map without it", .reported = {silent}, .states = "milan not"},
           {.what = "selected, without a map", .selected = {"milan"}, .states = "milan required"},
           {.what = "selected in another order",
            .reported = {asked},
            .selected = {"turin", "lodi"},
            .states = "lodi required; milan required Accepted; turin required"},
           {.what = "asked for", .reported = {asked}, .selected = {"milan"}, .states = "milan required Accepted"},
           {.what = "asked for, and not selected any more", .reported = {asked}, .states = "milan required Accepted"},
           {.what = "kept for data that nobody here knows", .reported = {kept}, .states = "milan not Accepted held"},
           {.what = "likewise, and wanted under another name",
            .reported = {renamed},
            .selected = {"milan"},
            .remote_name = "store",
            .states = "milan required Accepted held"},
           {.what = "likewise, with a selector that is invalid",
            .reported = {kept},
            .is_wish_known = false,
            .states = "milan not Accepted"},
           {.what = "its map goes", .reported = {ending}, .states = "milan not Terminating"},
           {.what = "its map is full", .reported = {full}, .selected = {"milan"}, .states = "milan required crowded"},
           {.what = "a full map goes", .reported = {ending_full}, .states = "milan not"},
           {.what = "not wanted, with data",
            .reported = {asked},
            .data_in = "shop-rome",
            .states = "milan not Accepted held"},
           {.what = "not wanted, with data in another twin",
            .reported = {asked},
            .data_in = "bank-rome",
            .states = "milan required Accepted"},
           {.what = "wanted, with data",
            .reported = {asked},
            .selected = {"milan"},
            .data_in = "shop-rome",
            .states = "milan required Accepted"},
           {.what = "wanted by another name, with data",
            .reported = {asked},
            .selected = {"milan"},
            .remote_name = "store",
            .data_in = "shop-rome",
            .states = "milan required Accepted renamed"},
           {.what = "wanted, by no valid name, with data",
            .reported = {asked},
            .selected = {"milan"},
            .remote_name = "",
            .data_in = "shop-rome",
            .states = "milan required Accepted"},
           {.what = "by an invalid selector, with data",
            .reported = {asked},
            .is_wish_known = false,
            .data_in = "shop-rome",
            .states = "milan required Accepted"},
           {.what = "its map goes, with data",
            .reported = {ending},
            .data_in = "shop-rome",
            .states = "milan not Terminating"},
       }) {
    CAPTURE(row.what);
    std::vector<storage::RemoteData> data;
    if (!row.data_in.empty()) data.push_back(data_in(std::string(row.data_in)));
    CHECK(text(twin_states({.ns = "shop",
                            .remote_name = std::string(row.remote_name),
                            .reported = row.reported,
                            .selected = row.selected,
                            .is_wish_known = row.is_wish_known,
                            .data = data})) == row.states);
  }
}

}  // namespace liqo::core
