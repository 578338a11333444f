// Makes every replica decide by the present Quota.
#include <utility>

#include "quota/quota_desk.hpp"

namespace liqo::quota {
namespace {

/// How often the record is read again after another replica has written it.
constexpr int max_attempts = 8;

}  // namespace

asio::awaitable<void> QuotaDesk::answer_settling() {
  const auto waiting = std::exchange(settling_, {});
  const kube::Result<void> result = co_await name_quota();
  for (const auto& one : waiting) {
    one->result = result;
    one->answered.set();
  }
}

asio::awaitable<kube::Result<void>> QuotaDesk::name_quota() {
  const std::string phase = "settling quota " + record_.quota().text();
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const auto quota = context_.quotas->find(record_.quota());
    if (known().needs_read()) {
      auto read = co_await record_.read();
      // Nothing is reserved of a Quota that is gone with its record. UnrecordedUsers::see() takes care of its pods.
      if (!read && !quota && read.error().code() == kube::Errc::missing) {
        context_.unrecorded.doubt();
        co_return kube::Result<void>();
      }
      if (!read)
        co_return kube::fail(std::move(read.error()), phase + ": record " + core::ledger_name(record_.quota()));
    }
    const core::QuotaVersion now = quota ? core::version_of_quota(*quota) : core::QuotaVersion();
    // The replica that makes a record reads the Quota afterwards, so a record that does not exist need not name the
    // Quota.
    if (known().is_stored() && known().record().quota != now) {
      core::LedgerRecord next = known().record();
      next.quota = now;
      KUBE_CO_TRY(written, co_await record_.write(std::move(next)), phase);
      if (!written) continue;
    }
    if (!co_await record_.catch_up() && !co_await record_.believe_server())
      co_return kube::fail(kube::Errc::timeout, phase + ": the cache of ShadowPods is behind");
    co_return kube::Result<void>();
  }
  co_return kube::fail(kube::Errc::timeout, phase + ": other replicas were faster");
}

}  // namespace liqo::quota
