// Whether a claim at a provider waits for its first pod, as its Events say, or its silence.
#include "core/storage/waiting_backing.hpp"

#include "../objects.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core::storage {
namespace {

using namespace core::testing;
using namespace std::chrono_literals;

}  // namespace

TEST_CASE("the Events of two reasons say that a claim waits for its first pod") {
  CHECK(reports_waiting(parse_value(R"({"reason": "WaitForFirstConsumer"})")));
  CHECK(reports_waiting(parse_value(R"({"reason": "WaitForPodScheduled"})")));
  for (const std::string_view other :
       {R"({"reason": "ProvisioningFailed"})", R"({"reason": ["WaitForFirstConsumer"]})", R"({})", R"([])", R"(null)"})
    CHECK_FALSE(reports_waiting(parse_value(other)));
}

TEST_CASE("a claim of which no provisioner has taken notice in 20 s is taken to wait for its first pod") {
  kube::Object claim = parse(R"({"metadata": {"name": "data", "namespace": "shop-rome"}})");
  CHECK_FALSE(waits_silently(claim, 19s));
  CHECK(waits_silently(claim, 20s));
  claim.set_annotation(api::annotations::volume_provisioner, "csi");
  CHECK_FALSE(waits_silently(claim, 10min));
}

}  // namespace liqo::core::storage
