// The webhook's work for one ShadowPod, without its network: reading the review, and the decision in its parts.
#include "core/admission/shadow_pod.hpp"
#include "core/quota/account.hpp"
#include "core/quota/demand.hpp"
#include "core/quota/ledger.hpp"
#include "core/quota/quota_state.hpp"
#include "micro.hpp"
#include "sample_review.hpp"

namespace bench {
namespace {

namespace json = kube::json;
using namespace liqo::core;

Resources amounts(json::object list) { return *read_resources(list); }

}  // namespace

void measure_admission(Runner& runner) {
  const std::string text = sample_review();
  const std::string note = "a review of " + std::to_string(text.size()) + " bytes";
  const admission::Request request = *admission::decode_review(text);
  const admission::TwinNamespace twin{.remote_cluster = "rome", .policy = {}};
  const json::object& pod = kube::object_at(request.object.spec(), {"pod"});
  PodAdditions around;
  around.limit_ranges.push_back(*limit_range_defaults(
      *json::parse(R"({"limits":[{"type":"Container","default":{"cpu":"1"},"defaultRequest":{"memory":"64Mi"}}]})")
           .if_object()));
  const QuotaState state{.quota = {"liqo-tenant-rome", std::string(sample_user)},
                         .hard = amounts({{"cpu", "100"}, {"memory", "200Gi"}, {"pods", "1k"}}),
                         .used = amounts({{"cpu", "50"}, {"memory", "90Gi"}, {"pods", "500"}})};
  const auto count = [&] {
    auto needs = *read_pod_needs(pod);
    settle(needs, around);
    if (check_enforcement(needs, Enforcement::none, Counting::exact)) std::abort();
    return refuse_demand(state, pod_demand(needs, Counting::exact));
  };
  if (!admission::validate_shadow_pod(request, twin).allowed || !count().empty()) std::abort();

  runner.measure("admission: read the review", 1, [&] { keep(admission::decode_review(text)); }, note);
  runner.measure("admission: mutate", 1, [&] { keep(admission::mutate_shadow_pod(request)); });
  runner.measure("admission: firewall", 1, [&] { keep(admission::validate_shadow_pod(request, twin)); });
  runner.measure("admission: count and compare", 1, [&] { keep(count()); });
  runner.measure(
      "admission: the decision", 1,
      [&] {
        keep(admission::mutate_shadow_pod(request));
        keep(admission::validate_shadow_pod(request, twin));
        keep(count());
      },
      "the three above");
  runner.measure("admission: write the answer", 1,
                 [&] { keep(admission::encode_review(request.uid, admission::Answer::allow())); });

  LedgerRecord record;
  for (int number = 0; number < 40; ++number)
    record.reservations["6f6b1c9e-8a70-4f0c-9a5e-0000000000" + std::to_string(10 + number)] = {
        .pod = {"shop-rome", "web-" + std::to_string(number)},
        .demand = amounts({{"cpu", "100m"}, {"memory", "128Mi"}, {"pods", "1"}})};
  const kube::Object stored = forge_ledger("liqo", state.quota, record);
  runner.measure(
      "ledger: write a record", 1, [&] { keep(forge_ledger("liqo", state.quota, record)); }, "40 reservations");
  runner.measure("ledger: read a record", 1, [&] { keep(LedgerRecord::read(stored)); }, "40 reservations");
}

}  // namespace bench
