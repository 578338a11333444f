// The controller: finds the slices of a class, and writes the answers of the rules.
#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kube/base/printable.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/manager.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"
#include "rules.hpp"

namespace pool {

/// Guarantees: never grants more than the pool has, even if answers of the API server are lost. Slices are answered in
/// the order of their requests. A slice that cannot be answered holds up no other.
/// Needs: get, list and watch of resourceslices, and patch of resourceslices/status.
class PoolController {
 public:
  /// Writes a line to `out` for each answer.
  PoolController(kube::Manager& manager, std::string slice_class, Amounts pool, std::ostream& out)
      : api_(manager.api()),
        class_(std::move(slice_class)),
        pool_(std::move(pool)),
        out_(out),
        // The label is on slices that consumers have sent, and not on those that this cluster requests from others.
        slices_(
            manager.caches().acquire({.resource = liqo::api::kinds::resource_slices,
                                      .selection = {.label_selector = kube::label_is(liqo::api::labels::replicated)}})),
        controller_(manager.environment(), {.name = "pool"}, [this](const kube::WorkKey&) { return answer_all(); }) {
    // One key for all of them, because a slice may get what another gives back.
    controller_.watch(slices_, [](const kube::ObjectKey&) { return kube::ObjectKey{"", "pool"}; });
    manager.add([this] { return controller_.run(); });
  }

 private:
  boost::asio::awaitable<kube::Outcome> answer_all() {
    if (is_stale_) {
      KUBE_CO_TRYV(co_await slices_->refresh());
      is_stale_ = false;
    }
    std::optional<kube::Failure> failed;
    std::vector<kube::Object> ours = slices_in_turn();
    for (kube::Object& slice : ours) {
      // A slice that is being deleted keeps its share until it is gone.
      if (slice.is_deleting()) continue;
      const Answer answer = decide(slice, ours, pool_);
      const auto status = plan_status(slice, answer, api_.clock().wall());
      if (!status) continue;
      is_stale_ = true;
      auto written = co_await kube::merge_patch(api_, *slices_, slice.key(),
                                                {.body = kube::json::serialize(*status),
                                                 .phase = "answering " + slice.key().text(),
                                                 .options = {.subresource = "status"}});
      if (!written) {
        failed = std::move(written.error());
        // The write may have been carried out all the same. What the slice has now counts for the others.
        auto now = co_await api_.get(liqo::api::kinds::resource_slices, slice.key());
        if (!now) co_return kube::Outcome::retry(std::move(*failed));
        slices_->observe(*now);
        slice = std::move(*now);
      } else if (*written) {
        slice = std::move(**written);
        log_answer(slice, answer);
      }
      is_stale_ = false;
    }
    co_return failed ? kube::Outcome::retry(std::move(*failed)) : kube::Outcome::done();
  }

  /// The slices of this class, in the order of their requests.
  std::vector<kube::Object> slices_in_turn() const {
    std::vector<kube::Object> ours;
    for (kube::Object& slice : slices_->objects())
      if (liqo::api::ResourceSlice(slice).slice_class() == class_) ours.push_back(std::move(slice));
    std::ranges::sort(ours, {},
                      [](const kube::Object& slice) { return std::pair(slice.creation_timestamp(), slice.uid()); });
    return ours;
  }

  void log_answer(const kube::Object& slice, const Answer& answer) {
    out_ << kube::printable(slice.key().text()) << (answer.accepted ? ": accepted: " : ": denied: ")
         << kube::printable(answer.message) << std::endl;
  }

  kube::Api& api_;
  std::string class_;
  Amounts pool_;
  std::ostream& out_;
  kube::InformerHandle slices_;
  bool is_stale_ = false;  ///< a write got no answer, so the cache may be older
  kube::Controller controller_;
};

}  // namespace pool
