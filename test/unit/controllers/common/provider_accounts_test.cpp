#include "controllers/common/provider_accounts.hpp"

#include <doctest/doctest.h>

#include <vector>

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
  // Together they have half of the memory of the process; whatever others hold, each one has its floor.
  rome->take(process->limit() / 2);
  CHECK(milan->try_take(controllers::ProviderAccounts::floor) != nullptr);
  CHECK(milan->try_take(controllers::ProviderAccounts::floor - 1000) == nullptr);
  CHECK(process->try_take(1000) == nullptr);
  process->give_back(1000);
  rome->give_back(process->limit() / 2);
  milan->give_back(controllers::ProviderAccounts::floor);
  // It is not used any more.
  milan.reset();
  (void)accounts.of("pisa");
  CHECK_FALSE(metrics.text().contains("kube_answer_bytes{cluster=\"milan\"}"));
  CHECK(controllers::ProviderAccounts(1, metrics).of("milan")->limit() == 16u << 20);
}

TEST_CASE("floors become lower with more providers, and higher when some go") {
  kube::Metrics metrics;
  controllers::ProviderAccounts accounts(128, metrics);
  const auto milan = accounts.of("milan");
  std::vector<std::shared_ptr<kube::MemoryAccount>> others;
  for (int number = 0; number < 31; ++number) others.push_back(accounts.of("p" + std::to_string(number)));
  CHECK(milan->floor() == 1u << 20);
  CHECK(others.back()->floor() == 1u << 20);
  others.clear();
  accounts.prune();
  CHECK(milan->floor() == controllers::ProviderAccounts::floor);
}

}  // namespace liqo::testing
