// The provider's decision on a slice: classes, defaults, what is granted already, cordon and drain, broken requests.
#include "core/slices/grant.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using namespace grant_action;

Resources amounts(std::string_view text) {
  auto read = read_resources(parse_value(text).get_object());
  REQUIRE(read.has_value());
  return *read;
}

SliceRequest request(std::string_view resources, std::string_view slice_class = "default") {
  return read_slice_request(parse(R"({"metadata": {"name": "gpu-pool"}, "spec": {"class": ")" +
                                  std::string(slice_class) + R"(", "resources": )" + std::string(resources) + "}}"));
}

ReadPolicy usual() {
  ReadPolicy policy;
  policy.defaults = amounts(R"({"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "20Gi"})");
  return policy;
}

SliceRecord record(std::string_view request, std::string_view granted, std::string_view slice_class = "default") {
  return {.slice_class = std::string(slice_class), .request = amounts(request), .granted = amounts(granted)};
}

struct Case {
  std::string_view request = "{}";
  std::string_view slice_class = "default";
  api::TenantCondition tenant = api::TenantCondition::active;
  bool cordoned = false, drained = false;
  std::optional<SliceRecord> record = std::nullopt;
  bool answered = false;
  GrantLimits limits = {};
};

GrantPlan decide(const Case& c, const ReadPolicy& policy = usual(), const Resources* free = nullptr,
                 std::optional<PendingShare> pending = {}, kube::TimePoint now = {}) {
  const SliceRequest asked = request(c.request, c.slice_class);
  return plan_grant({.request = asked,
                     .policy = policy,
                     .tenant = c.tenant,
                     .slice_cordoned = c.cordoned,
                     .slice_drained = c.drained,
                     .answered = c.answered,
                     .sharing_percentage = policy.sharing_percentage,
                     .record = c.record ? &*c.record : nullptr,
                     .free = free,
                     .limits = c.limits,
                     .pending = std::move(pending),
                     .now = now});
}

const Accept& accepted(const GrantPlan& plan) {
  REQUIRE(std::holds_alternative<Accept>(plan));
  return std::get<Accept>(plan);
}

const Deny& denied(const GrantPlan& plan) {
  REQUIRE(std::holds_alternative<Deny>(plan));
  return std::get<Deny>(plan);
}

std::string granted(const GrantPlan& plan) { return json::serialize(write_resources(accepted(plan).record.granted)); }

/// The plan in one word, and the reason of the condition that reports it.
std::string summary(const GrantPlan& plan) {
  if (const auto* accept = std::get_if<Accept>(&plan)) return "accept " + accept->reason;
  if (const auto* deny = std::get_if<Deny>(&plan)) return "deny " + deny->reason;
  if (std::holds_alternative<Keep>(plan)) return "keep";
  return std::holds_alternative<Foreign>(plan) ? "foreign" : "wait";
}

const char* const only_cpu_granted = R"({"cpu":"8","ephemeral-storage":"20Gi","memory":"8Gi","pods":"110"})";

}  // namespace

TEST_CASE("defaults fill the keys that a request leaves open, and no others") {
  for (const auto& [asked, expected] :
       {std::pair{R"({"cpu": "8"})", only_cpu_granted},
        {R"({"cpu": "8000m"})", only_cpu_granted},
        {R"({"cpu": 8})", only_cpu_granted},
        {R"({})", R"({"cpu":"4","ephemeral-storage":"20Gi","memory":"8Gi","pods":"110"})"},
        {R"({"cpu": "0", "nvidia.com/gpu": "2"})",
         R"({"cpu":"0","ephemeral-storage":"20Gi","memory":"8Gi","nvidia.com/gpu":"2","pods":"110"})"}}) {
    CAPTURE(asked);
    const auto plan = decide({.request = asked});
    CHECK(summary(plan) == "accept ResourceSliceResourcesAccepted");
    CHECK(accepted(plan).message == "ResourceSlice resources accepted");
    CHECK(granted(plan) == expected);
  }
}

TEST_CASE("a policy bounds one slice, and all slices of a consumer together") {
  GrantLimits limits{.slice = amounts(R"({"cpu": "8"})"),
                     .consumer = amounts(R"({"cpu": "10", "nvidia.com/gpu": "0"})"),
                     .others = amounts(R"({"cpu": "4", "memory": "1Ti"})"),
                     .mistake = {}};
  CHECK(std::holds_alternative<Accept>(decide({.request = R"({"cpu": "6"})", .limits = limits})));
  const auto too_big = decide({.request = R"({"cpu": "9"})", .limits = limits});
  CHECK(summary(too_big) == "deny RequestDenied");
  CHECK(
      denied(too_big).message ==
      "the provider grants a slice of this cluster no more than 8 of cpu, and this one would have 9: ask for less, or "
      "its operator for more (maxSliceResources in the policy)");
  CHECK(
      denied(decide({.request = R"({"cpu": "7"})", .limits = limits})).message ==
      "the provider grants all slices of this cluster together no more than 10 of cpu, the others have 4 and this one "
      "would have 7: ask for less, or its operator for more (maxResources in the policy)");
  CHECK(std::holds_alternative<Deny>(decide({.request = R"({"cpu": "1", "nvidia.com/gpu": "1"})", .limits = limits})));
  // Defaults count as what is asked for, and what is granted already stays.
  limits.slice = amounts(R"({"memory": "4Gi"})");
  CHECK(std::holds_alternative<Deny>(decide({.request = R"({})", .limits = limits})));
  const auto kept = record(R"({"cpu": "8"})", only_cpu_granted);
  CHECK(std::holds_alternative<Accept>(decide({.request = R"({"cpu": "8"})", .record = kept, .limits = limits})));
  const auto denied_edit = decide({.request = R"({"cpu": "9"})", .record = kept, .limits = limits});
  CHECK(summary(denied_edit) == "deny RequestDenied");
  CHECK(denied(denied_edit)
            .message.ends_with("; what was granted before stays: set the spec back to what it was, and "
                               "the slice is accepted again"));
  limits.mistake = "the policy cannot be understood";
  CHECK(std::holds_alternative<Accept>(decide({.request = R"({"cpu": "8"})", .record = kept, .limits = limits})));
  const auto unread = decide({.request = R"({"cpu": "1"})", .limits = limits});
  CHECK(summary(unread) == "deny RequestDenied");
  CHECK(denied(unread).message == "the policy cannot be understood");
  const Resources free = amounts(R"({"cpu": "10"})");
  CHECK(summary(decide({.slice_class = "share", .limits = limits}, usual(), &free)) == "deny RequestDenied");
}

TEST_CASE("of another slice the larger of its grant and its use counts") {
  struct Row {
    std::string_view what;
    std::vector<SliceHold> others;
    std::string_view request;
    std::string_view refusal;  ///< the sentence about the others, "" = accepted
  };
  const auto hold = [](std::string name, std::string_view granted, std::string_view held, bool is_quota = true) {
    return SliceHold{.name = std::move(name), .granted = amounts(granted), .held = amounts(held), .is_quota = is_quota};
  };
  for (const Row& row : std::vector<Row>{
           {"nobody has anything", {}, R"({"cpu": "10"})", ""},
           {"granted, not used", {hold("a", R"({"cpu": "4", "pods": "5"})", "{}")}, R"({"cpu": "6"})", ""},
           {"granted, not used, and too much",
            {hold("a", R"({"cpu": "4", "pods": "5"})", "{}")},
            R"({"cpu": "7"})",
            "the others have 4 (a 4) and this one would have 7: ask for less, or its operator for more"},
           {"use within the grant",
            {hold("a", R"({"cpu": "4", "pods": "5"})", R"({"cpu": "3"})")},
            R"({"cpu": "6"})",
            ""},
           {"lowered while its pods run",
            {hold("a", R"({"cpu": "0", "pods": "5"})", R"({"cpu": "8"})")},
            R"({"cpu": "10"})",
            "the others have 8 (a 8 by its pods, granted 0) and this one would have 10: ask for less, wait for these "
            "pods to end, or ask its operator for more (maxResources in the policy)"},
           {"what is left beside pods that run",
            {hold("a", R"({"cpu": "0", "pods": "5"})", R"({"cpu": "8"})")},
            R"({"cpu": "2"})",
            ""},
           {"withdrawn, and its pods end",
            {hold("a-573ffa690333", "{}", R"({"cpu": "8"})", false)},
            R"({"cpu": "3"})",
            "the others have 8 (a-573ffa690333 8 by its pods, granted nothing any more) and this one would have 3"},
           {"several, the largest first",
            {hold("a", R"({"cpu": "1", "pods": "5"})", "{}"),
             hold("b", R"({"cpu": "0", "pods": "5"})", R"({"cpu": "5"})"),
             hold("c", R"({"cpu": "2", "pods": "5"})", R"({"cpu": "1"})")},
            R"({"cpu": "3"})",
            "the others have 8 (b 5 by its pods, granted 0, c 2, a 1) and this one would have 3"},
           {"more than are named",
            {hold("a", R"({"cpu": "2", "pods": "5"})", "{}"), hold("b", R"({"cpu": "2", "pods": "5"})", "{}"),
             hold("c", R"({"cpu": "2", "pods": "5"})", "{}"), hold("d", R"({"cpu": "2", "pods": "5"})", "{}"),
             hold("e", R"({"cpu": "1", "pods": "5"})", "{}")},
            R"({"cpu": "3"})",
            "the others have 9 (a 2, b 2, c 2, d 2 and 1 more) and this one would have 3"},
       }) {
    CAPTURE(row.what);
    GrantLimits limits{.slice = {}, .consumer = amounts(R"({"cpu": "10"})"), .others = {}, .mistake = {}};
    for (const SliceHold& other : row.others) take(limits, other);
    const auto plan = decide({.request = row.request, .limits = limits});
    if (row.refusal.empty()) {
      CHECK(std::holds_alternative<Accept>(plan));
      continue;
    }
    CHECK(denied(plan).message.find("no more than 10 of cpu, " + std::string(row.refusal)) != std::string::npos);
  }
}

TEST_CASE("a bound refuses what a grant adds, and nothing that the slice has") {
  const auto kept = record(R"({"cpu": "8"})", only_cpu_granted);
  GrantLimits limits{.slice = amounts(R"({"cpu": "4"})"),
                     .consumer = amounts(R"({"cpu": "10"})"),
                     .others = amounts(R"({"cpu": "9"})"),
                     .mistake = {}};
  // Less than before, though it is more than the policy allows by now.
  CHECK(granted(decide({.request = R"({"cpu": "7"})", .record = kept, .limits = limits})).find(R"("cpu":"7")") !=
        std::string::npos);
  CHECK(std::holds_alternative<Deny>(decide({.request = R"({"cpu": "9"})", .record = kept, .limits = limits})));
  CHECK(std::holds_alternative<Deny>(decide({.request = R"({"cpu": "7"})", .limits = limits})));
}

TEST_CASE("pods that a policy bounds are bounded in a slice that does not name them, too") {
  ReadPolicy policy = usual();
  policy.defaults = amounts(R"({"cpu": "4"})");
  GrantLimits limits{.slice = {}, .consumer = amounts(R"({"pods": "10"})"), .others = {}, .mistake = {}};
  CHECK(granted(decide({.request = "{}", .limits = limits}, policy)) == R"({"cpu":"4","pods":"10"})");
  take(limits, {.name = "a", .granted = amounts(R"({"pods": "7"})"), .held = {}, .is_quota = true});
  CHECK(granted(decide({.request = "{}", .limits = limits}, policy)) == R"({"cpu":"4","pods":"3"})");
  // The policy of one slice does so as well.
  limits.slice = amounts(R"({"pods": "2"})");
  CHECK(granted(decide({.request = "{}", .limits = limits}, policy)) == R"({"cpu":"4","pods":"2"})");
  // A Quota of before that names none lets any number in.
  take(limits,
       {.name = "b", .granted = amounts(R"({"cpu": "1"})"), .held = amounts(R"({"pods": "1"})"), .is_quota = true});
  CHECK(
      denied(decide({.request = "{}", .limits = limits}, policy)).message ==
      "the provider bounds the pods of this cluster, and nothing is left for a slice that does not say how many it is "
      "to have: the others have 17 (a 7, b without a bound): name pods in the request of each slice, or ask its "
      "operator for more (maxResources in the policy)");
  CHECK(std::holds_alternative<Deny>(decide({.request = R"({"pods": "1"})", .limits = limits}, policy)));
}

TEST_CASE("a share ends at the bound of the policy") {
  const Resources free = amounts(R"({"cpu": "100", "memory": "64Gi"})");
  const GrantLimits limits{.slice = amounts(R"({"cpu": "8"})"),
                           .consumer = amounts(R"({"memory": "16Gi"})"),
                           .others = amounts(R"({"memory": "12Gi"})"),
                           .mistake = {}};
  const auto plan = decide({.slice_class = "share", .limits = limits}, usual(), &free);
  CHECK(granted(plan) == R"({"cpu":"8","memory":"4Gi"})");
}

TEST_CASE("a share that has more than a lowered bound leaves it keeps that, and gets no more") {
  const Resources free = amounts(R"({"cpu": "100"})");
  const auto kept = record("{}", R"({"cpu": "5"})", "share");
  GrantLimits limits{
      .slice = {}, .consumer = amounts(R"({"cpu": "5"})"), .others = amounts(R"({"cpu": "5"})"), .mistake = {}};
  const auto share = [&](std::string_view request, const Resources& available = amounts(R"({"cpu": "100"})")) {
    return granted(
        decide({.request = request, .slice_class = "share", .record = kept, .limits = limits}, usual(), &available));
  };
  CHECK(share("{}") == R"({"cpu":"5"})");
  CHECK(share(R"({"cpu": "8"})") == R"({"cpu":"5"})");
  CHECK(share(R"({"cpu": "3"})") == R"({"cpu":"3"})");
  // What is left is what a new one gets.
  CHECK(granted(decide({.slice_class = "share", .limits = limits}, usual(), &free)) == R"({"cpu":"0"})");
  limits.others = amounts(R"({"cpu": "1"})");
  CHECK(share("{}") == R"({"cpu":"5"})");
  limits.consumer = amounts(R"({"cpu": "8"})");
  CHECK(share("{}") == R"({"cpu":"7"})");
  // The bound of one slice takes nothing away that is granted.
  limits.slice = amounts(R"({"cpu": "2"})");
  CHECK(share("{}") == R"({"cpu":"5"})");
  // It follows what is free, and the provider's percentage, however little that is.
  CHECK(share("{}", amounts(R"({"cpu": "2"})")) == R"({"cpu":"1800m"})");
  CHECK(share("{}", amounts(R"({"cpu": "0"})")) == R"({"cpu":"0"})");
}

TEST_CASE("new defaults leave accepted slices alone, until they ask for something else") {
  const auto kept = record(R"({"cpu": "8"})", only_cpu_granted);
  ReadPolicy policy = usual();
  policy.defaults = amounts(R"({"cpu": "1", "memory": "1Gi"})");
  CHECK(granted(decide({.request = R"({"cpu": "8"})", .record = kept}, policy)) == only_cpu_granted);
  CHECK(granted(decide({.request = R"({"cpu": "8000m"})", .record = kept}, policy)) == only_cpu_granted);
  CHECK(granted(decide({.request = R"({"cpu": "9"})", .record = kept}, policy)) == R"({"cpu":"9","memory":"1Gi"})");
}

TEST_CASE("a key that is removed from the request goes, or falls back to its default") {
  const auto kept = record(R"({"cpu": "8", "nvidia.com/gpu": "2"})", R"({"cpu": "8", "nvidia.com/gpu": "2"})");
  CHECK(granted(decide({.request = R"({"cpu": "8"})", .record = kept})) == only_cpu_granted);
  CHECK(granted(decide({.request = R"({"nvidia.com/gpu": "2"})", .record = kept})) ==
        R"({"cpu":"4","ephemeral-storage":"20Gi","memory":"8Gi","nvidia.com/gpu":"2","pods":"110"})");
}

TEST_CASE("a Quota of the Go version counts as negotiated where it explains the request") {
  const SliceRecord adopted{.slice_class = "", .request = {}, .granted = amounts(R"({"cpu": "8", "memory": "3Gi"})")};
  CHECK(granted(decide({.request = R"({"cpu": "8"})", .record = adopted})) == R"({"cpu":"8","memory":"3Gi"})");
  CHECK(granted(decide({.request = R"({"cpu": "9"})", .record = adopted})) ==
        R"({"cpu":"9","ephemeral-storage":"20Gi","memory":"8Gi","pods":"110"})");
}

TEST_CASE("the state of the tenant and of the slice come before everything else") {
  const auto kept = record(R"({"cpu": "8"})", only_cpu_granted);
  struct Row {
    Case given;
    std::string_view expected;
  };
  for (const Row& row : {
           Row{{.tenant = api::TenantCondition::drained}, "deny ResourceSliceResourcesDenied"},
           Row{{.request = R"({"cpu": "8"})", .tenant = api::TenantCondition::drained, .record = kept},
               "deny ResourceSliceResourcesDenied"},
           Row{{.tenant = api::TenantCondition::cordoned}, "deny ResourceSliceResourcesDenied"},
           Row{{.cordoned = true}, "deny ResourceSliceResourcesDenied"},
           Row{{.request = R"({"cpu": "8"})", .tenant = api::TenantCondition::cordoned, .record = kept},
               "accept ResourceSliceCordoned"},
           Row{{.request = R"({"cpu": "8"})", .cordoned = true, .record = kept}, "accept ResourceSliceCordoned"},
           Row{{.request = R"({"cpu": "9"})", .cordoned = true, .record = kept}, "accept ResourceSliceCordoned"},
           Row{{.request = R"({"cpu": "9"})", .tenant = api::TenantCondition::cordoned, .record = kept},
               "accept ResourceSliceCordoned"},
           Row{{.request = R"({"cpu": "-1"})", .cordoned = true, .record = kept}, "accept ResourceSliceCordoned"},
           Row{{.request = R"({"cpu": "9"})", .drained = true, .record = kept}, "deny ResourceSliceResourcesDenied"},
           Row{{.drained = true}, "deny ResourceSliceResourcesDenied"},
           Row{{.request = R"({"cpu": "8"})", .cordoned = true, .drained = true, .record = kept},
               "deny ResourceSliceResourcesDenied"},
           Row{{.slice_class = "gold", .drained = true, .record = kept}, "deny TenantDrained"},
           Row{{.slice_class = "gold"}, "foreign"},
           Row{{.request = R"({"cpu": "-1"})", .slice_class = "gold"}, "foreign"},
           Row{{.slice_class = "gold", .tenant = api::TenantCondition::cordoned}, "deny TenantCordoned"},
           Row{{.slice_class = "gold", .tenant = api::TenantCondition::cordoned, .answered = true}, "foreign"},
           Row{{.slice_class = "gold", .tenant = api::TenantCondition::cordoned, .record = kept}, "foreign"},
           Row{{.slice_class = "gold", .tenant = api::TenantCondition::drained, .record = kept}, "deny TenantDrained"},
       }) {
    CAPTURE(row.given.request);
    CAPTURE(row.given.slice_class);
    CAPTURE(int(row.given.tenant));
    const auto plan = decide(row.given);
    CHECK(summary(plan) == row.expected);
    const std::string_view why = row.given.tenant == api::TenantCondition::drained ? "has drained this cluster"
                                 : row.given.drained                               ? "has drained this slice"
                                                                                   : "has cordoned";
    if (std::holds_alternative<Deny>(plan)) CHECK(denied(plan).message.find(why) != std::string::npos);
    if (!std::holds_alternative<Accept>(plan)) continue;
    CHECK(granted(plan) == only_cpu_granted);
    // What has changed is still asked for when the cordon ends.
    CHECK(accepted(plan).record.request == kept.request);
    CHECK(accepted(plan).message.ends_with("answered when that ends") == (row.given.request != R"({"cpu": "8"})"));
  }
}

TEST_CASE("built-in classes can be switched off, and the second one follows the first unless it is said otherwise") {
  ReadPolicy policy = usual();
  policy.default_class_enabled = false;
  const auto plan = decide({}, policy);
  CHECK(summary(plan) == "deny DefaultResourceSliceClassDisabled");
  CHECK(denied(plan).message == "the default ResourceSlice class has been administratively disabled on the provider");
  const Resources free = amounts(R"({"cpu": "10"})");
  CHECK(summary(decide({.slice_class = "share"}, policy, &free)) == "deny ShareResourceSliceClassDisabled");
  CHECK(std::holds_alternative<Foreign>(decide({.slice_class = "gold"}, policy)));
  policy.share_class_enabled = true;
  CHECK(std::holds_alternative<Accept>(decide({.slice_class = "share"}, policy, &free)));
  CHECK_FALSE(std::holds_alternative<Accept>(decide({}, policy)));
}

TEST_CASE("a request that makes no sense is denied in words that say why") {
  std::string many = "{";
  for (int i = 0; i < 65; ++i) many += (i ? ", \"" : "\"") + ("r" + std::to_string(i)) + "\": \"1\"";
  many += "}";
  for (const auto& [asked, words] : std::initializer_list<std::pair<std::string, std::string_view>>{
           {R"({"cpu": "-1"})", "spec.resources: cpu is -1: it cannot be negative"},
           {R"({"cpu": "many"})", "spec.resources: cpu: \"many\" is not a quantity"},
           {R"({"cpu": {}})", "spec.resources: cpu: {} is not a quantity"},
           {R"({"nvidia.com/gpu": "1500m"})", "spec.resources: nvidia.com/gpu: 1500m is not a whole number"},
           {R"({"pods": "0.5"})", "spec.resources: pods: 500m is not a whole number"},
           {R"({"no such/name/at all": "1"})", "is not the name of a resource"},
           {R"({"": "1"})", "is not the name of a resource"},
           {"[1, 2]", "spec.resources is not a list"},
           {many, "spec.resources names 65 resources; at most 64"}}) {
    CAPTURE(asked);
    const auto plan = decide({.request = asked, .record = record("{}", "{}")});
    CHECK(summary(plan) == "deny InvalidRequest");
    CHECK_MESSAGE(denied(plan).message.find(words) != std::string::npos, denied(plan).message);
  }
  const auto named = read_slice_request(parse(R"({"metadata": {"name": ")" + std::string(51, 'a') + R"("}})"));
  CHECK(named.problem.find("51 characters") != std::string::npos);
  CHECK(read_slice_request(parse(R"({"metadata": {"name": ")" + std::string(50, 'a') + R"("}})")).problem.empty());
}

TEST_CASE("a class that changes is a new request") {
  const auto kept = record("{}", R"({"cpu": "90"})", "share");
  CHECK(granted(decide({.record = kept})) == R"({"cpu":"4","ephemeral-storage":"20Gi","memory":"8Gi","pods":"110"})");
  const Resources free = amounts(R"({"cpu": "10"})");
  CHECK(granted(decide({.slice_class = "share", .record = record("{}", R"({"cpu": "4"})")}, usual(), &free)) ==
        R"({"cpu":"9"})");
}

TEST_CASE("a share of nothing is refused to a new slice, and one that runs follows it to nothing") {
  const Resources free = amounts(R"({"cpu": "100", "pods": "110"})");
  ReadPolicy policy = usual();
  policy.sharing_percentage = 0;
  const auto refused = decide({.slice_class = "share"}, policy, &free);
  CHECK(summary(refused) == "deny ShareResourceSliceClassDisabled");
  CHECK(denied(refused).message.contains("sharing percentage is 0"));
  const auto kept = record("{}", R"({"cpu": "90", "pods": "99"})", "share");
  CHECK(granted(decide({.slice_class = "share", .record = kept}, policy, &free)) == R"({"cpu":"0","pods":"0"})");
  CHECK(granted(decide({.request = R"({"cpu": "5"})", .slice_class = "share", .record = kept}, policy, &free)) ==
        R"({"cpu":"0","pods":"0"})");
}

TEST_CASE("while a setting cannot be read what is granted stays as it is, and nothing new is granted") {
  const Resources free = amounts(R"({"cpu": "100"})");
  ReadPolicy policy = usual();
  policy.unknown.emplace("sharing-percentage", "\"many\" is not a whole number from 0 to 100");
  // Not even by a setting that is known, if by chance it switches the class off.
  policy.default_class_enabled = false;
  for (const char* slice_class : {"default", "share"}) {
    CAPTURE(slice_class);
    const auto refused = decide({.request = R"({"cpu": "8"})", .slice_class = slice_class}, policy, &free);
    CHECK(summary(refused) == "deny RequestDenied");
    CHECK(denied(refused).message ==
          "the provider's settings cannot be read (sharing-percentage: \"many\" is not a whole number from 0 to 100): "
          "its operator has to correct ConfigMap liqo-sharing-policy");
    const auto kept = record(R"({"cpu": "8"})", R"({"cpu": "7"})", slice_class);
    CHECK(granted(decide({.request = R"({"cpu": "8"})", .slice_class = slice_class, .record = kept}, policy, &free)) ==
          R"({"cpu":"7"})");
    CHECK(std::holds_alternative<Deny>(
        decide({.request = R"({"cpu": "9"})", .slice_class = slice_class, .record = kept}, policy, &free)));
  }
  // Cordons and drains are taken back, and hold, all the same.
  CHECK(summary(decide({.tenant = api::TenantCondition::drained}, policy)) == "deny ResourceSliceResourcesDenied");
  CHECK(summary(decide({.slice_class = "gold"}, policy)) == "foreign");
}

TEST_CASE("a share waits until it is known what is free, and keeps what it has until then") {
  CHECK(std::holds_alternative<Wait>(decide({.slice_class = "share"})));
  const auto kept = record("{}", R"({"cpu": "45"})", "share");
  CHECK(granted(decide({.slice_class = "share", .record = kept})) == R"({"cpu":"45"})");
}

TEST_CASE("a share follows what is free: at once when it jumps, after ten quiet seconds else, not while cordoned") {
  const kube::TimePoint start{1h};
  const auto kept = record("{}", R"({"cpu": "90"})", "share");
  const Resources half = amounts(R"({"cpu": "50"})");
  const Resources less = amounts(R"({"cpu": "99"})");
  const Case given{.slice_class = "share", .record = kept};
  CHECK(granted(decide(given, usual(), &half, {}, start)) == R"({"cpu":"45"})");
  const auto first = decide(given, usual(), &less, {}, start);
  CHECK(granted(first) == R"({"cpu":"90"})");
  REQUIRE(accepted(first).pending.has_value());
  CHECK(accepted(first).again_after == 10s);
  const auto second = decide(given, usual(), &less, accepted(first).pending, start + 4s);
  CHECK(granted(second) == R"({"cpu":"90"})");
  CHECK(accepted(second).again_after == 6s);
  CHECK(granted(decide(given, usual(), &less, accepted(second).pending, start + 10s)) == R"({"cpu":"89100m"})");
  Case cordoned = given;
  cordoned.cordoned = true;
  CHECK(granted(decide(cordoned, usual(), &half, {}, start)) == R"({"cpu":"90"})");
}

TEST_CASE("a record on the Quota is read again, and only by the slice that it was written for") {
  kube::Object quota = parse(R"({"metadata": {"name": "q", "ownerReferences":
    [{"apiVersion": "v1", "kind": "ResourceSlice", "name": "s", "uid": "u1", "controller": true}]},
    "spec": {"resources": {"cpu": "7"}}})");
  const SliceRecord written = record(R"({"cpu": "8"})", R"({"cpu": "8", "memory": "1Gi"})");
  const auto adopted = read_slice_record(quota, "u1");
  REQUIRE(adopted.has_value());
  CHECK(adopted->slice_class.empty());
  CHECK(adopted->granted == amounts(R"({"cpu": "7"})"));
  quota.set_annotation("liqo.io/negotiated", write_slice_record(written));
  const auto read = read_slice_record(quota, "u1");
  REQUIRE(read.has_value());
  CHECK(read->slice_class == "default");
  CHECK(read->request == written.request);
  CHECK(read->granted == written.granted);
  CHECK_FALSE(read_slice_record(quota, "u2").has_value());
  quota.set_annotation("liqo.io/negotiated", "{broken");
  CHECK(read_slice_record(quota, "u1")->granted == amounts(R"({"cpu": "7"})"));
}

TEST_CASE("cordon marks and the tenant's condition are read in all their forms") {
  for (const char* mark : {"liqo.io/cordon", "liqo.io/cordon-tenant", "liqo.io/cordoned-resource"})
    for (const auto& [value, expected] :
         {std::pair{"true", true}, {"", true}, {"FALSE", true}, {"false", false}, {"False", false}, {"0", false}}) {
      kube::Object slice = parse(R"({"metadata": {"name": "s"}})");
      slice.set_annotation(mark, value);
      CAPTURE(mark);
      CAPTURE(value);
      CHECK(is_cordoned(slice) == expected);
      slice.set_annotation("liqo.io/drain", value);
      CHECK(is_drained(slice) == expected);
    }
  CHECK_FALSE(is_cordoned(parse(R"({"metadata": {"name": "s"}})")));
  for (const auto& [said, expected] : {std::pair{R"({})", api::TenantCondition::active},
                                       {R"({"tenantCondition": ""})", api::TenantCondition::active},
                                       {R"({"tenantCondition": "Active"})", api::TenantCondition::active},
                                       {R"({"tenantCondition": "Cordoned"})", api::TenantCondition::cordoned},
                                       {R"({"tenantCondition": "Drained"})", api::TenantCondition::drained},
                                       {R"({"tenantCondition": "drained?"})", api::TenantCondition::cordoned}}) {
    const kube::Object tenant = parse(R"({"metadata": {"name": "t"}, "spec": )" + std::string(said) + "}");
    CHECK(api::Tenant(tenant).condition() == expected);
  }
}

}  // namespace liqo::core
