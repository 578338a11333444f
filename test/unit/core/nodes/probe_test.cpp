// The verdicts on an API server's answer to a probe.
#include "core/nodes/probe.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

namespace liqo::core {
namespace {

kube::Failure answered(int code, std::string message) {
  return kube::Failure::from_status({.code = code, .reason = "", .message = std::move(message)});
}

}  // namespace

TEST_CASE("a server that forbids a probe is alive, one that does not know us is of no use") {
  struct Row {
    std::optional<kube::Failure> failure;
    std::string_view trouble;
    bool is_alive, is_refused;
    std::string_view error;
  };
  const std::string_view expired = "the certificate has expired";
  for (const Row& row : std::vector<Row>{
           {std::nullopt, "", true, false, ""},
           {std::nullopt, expired, true, false, ""},
           {answered(403, "no"), expired, true, false, ""},
           {answered(401, "Unauthorized"), "", false, true, "Unauthorized"},
           {answered(401, "Unauthorized"), expired, false, true, "Unauthorized; the certificate has expired"},
           {answered(500, "etcd is away"), expired, false, false, "etcd is away"},
           {kube::Failure(kube::Errc::timeout, "no answer within 5 s"), expired, false, false, "no answer within 5 s"},
       }) {
    CAPTURE(row.error);
    const ProbeVerdict verdict = judge_probe(row.failure ? &*row.failure : nullptr, row.trouble);
    CHECK(verdict.is_alive == row.is_alive);
    CHECK(verdict.is_refused == row.is_refused);
    CHECK(verdict.error == row.error);
  }
}

TEST_CASE("patience is for a provider that has answered before") {
  const ProbeVerdict good{.is_alive = true}, bad{.error = "no answer"};
  struct Row {
    std::vector<ProbeVerdict> probes;
    int failed;
    bool is_alive, has_turned;  ///< the latter by the last probe
    std::string_view error;
  };
  for (const Row& row : std::vector<Row>{
           {{good}, 0, true, true, ""},
           {{bad}, 3, false, true, "no answer"},
           {{bad, bad}, 4, false, false, "no answer"},
           {{bad, good}, 0, true, true, ""},
           {{good, bad}, 1, true, false, "no answer"},
           {{good, bad, bad}, 2, true, false, "no answer"},
           {{good, bad, bad, bad}, 3, false, true, "no answer"},
           {{good, bad, bad, bad, bad}, 4, false, false, "no answer"},
           {{good, bad, bad, good}, 0, true, false, ""},
       }) {
    CAPTURE(row.probes.size());
    ProviderHealth before, health{.failure_threshold = 3};
    for (const ProbeVerdict& probe : row.probes) {
      before = health;
      health = with_probe(health, probe);
    }
    CHECK(health.probed);
    CHECK(health.failed_probes == row.failed);
    CHECK(is_alive(health) == row.is_alive);
    CHECK(has_turned(before, health) == row.has_turned);
    CHECK(health.last_error == row.error);
  }
}

}  // namespace liqo::core
