// Work that one caller does, and for which several wait.
// Tested by test/unit/quota/quota_settle_test.cpp.
#pragma once

#include <memory>
#include <utility>

#include "kube/async/event.hpp"
#include "kube/base/failure.hpp"

namespace liqo::quota {

/// A round of such work, and its result for all that wait. One thread.
struct SharedRound {
  explicit SharedRound(const boost::asio::any_io_executor& executor) : over(executor) {}
  kube::Result<void> result = kube::fail(kube::Errc::stopped, "the caller that did this for all was stopped");
  bool is_open = true;  ///< new callers may still wait for it
  kube::async::Event over;
};

/// While this object lives, the round is under way. Waiting callers are notified at its end, even if the round was
/// cancelled.
class RoundUnderWay {
 public:
  explicit RoundUnderWay(std::shared_ptr<SharedRound> round) : round_(std::move(round)) {}
  RoundUnderWay(const RoundUnderWay&) = delete;
  RoundUnderWay& operator=(const RoundUnderWay&) = delete;
  ~RoundUnderWay() {
    round_->is_open = false;
    round_->over.set();
  }

 private:
  std::shared_ptr<SharedRound> round_;
};

}  // namespace liqo::quota
