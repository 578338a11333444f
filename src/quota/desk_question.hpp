// One admission in the queue of a Quota's desk, and batches of them that are decided together.
// Tested by test/unit/quota/quota_ledger_test.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/quota/admission_round.hpp"
#include "kube/async/event.hpp"
#include "quota/ledger_context.hpp"

namespace liqo::quota {

/// A ShadowPod that asks for room, and its verdict. The waiting caller and the desk share it. One thread.
struct DeskQuestion : core::QuotaQuestion {
  explicit DeskQuestion(const asio::any_io_executor& executor) : answered(executor) {}

  /// Sets the verdict, unless there is one already.
  void answer(core::QuotaVerdict said);

  std::string user;                           ///< as the ShadowPod names it
  std::optional<core::QuotaVerdict> verdict;  ///< also set if no caller waits any more
  kube::async::Event answered;
};

/// Questions that are decided together.
using DeskBatch = std::vector<std::shared_ptr<DeskQuestion>>;

/// Answers all of a batch with one verdict.
void answer_all(const DeskBatch& batch, const core::QuotaVerdict& verdict);

}  // namespace liqo::quota
