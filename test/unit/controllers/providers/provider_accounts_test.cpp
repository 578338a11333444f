#include "liqo/controllers/provider_accounts.hpp"

#include <doctest/doctest.h>

namespace liqo::testing {

TEST_CASE("everybody who reads a provider draws on one account, and all providers leave something for home") {
  kube::Metrics metrics;
  const auto& process = kube::MemoryAccount::of_process();
  controllers::ProviderAccounts accounts(128, metrics);
  auto milan = accounts.of("milan");
  const auto rome = accounts.of("rome");
  CHECK(milan == accounts.of("milan"));
  CHECK(milan != rome);
  CHECK(milan->limit() == 32u << 20);
  const std::size_t before = process->held();
  milan->take(1000);
  CHECK(process->held() == before + 1000);
  CHECK(metrics.text().contains("kube_answer_bytes{cluster=\"milan\"} 1000\n"));
  CHECK(metrics.text().contains("kube_answer_max_bytes{cluster=\"milan\"} 33554432\n"));
  CHECK(metrics.text().contains("kube_answer_max_bytes{cluster=\"<all>\"}"));
  // Together they have three quarters of what the process has.
  rome->take(process->limit() / 4 * 3);
  CHECK(milan->try_take(1) != nullptr);
  CHECK(process->try_take(1000) == nullptr);
  process->give_back(1000);
  rome->give_back(process->limit() / 4 * 3);
  milan->give_back(1000);
  // Nobody uses it any more.
  milan.reset();
  (void)accounts.of("pisa");
  CHECK_FALSE(metrics.text().contains("kube_answer_bytes{cluster=\"milan\"}"));
  CHECK(controllers::ProviderAccounts(1, metrics).of("milan")->limit() == 16u << 20);
}

}  // namespace liqo::testing
