#include "repeat_plan.hpp"

namespace kube::net {
namespace {

/// A request that servers keep refusing unseen is given back after so many sendings.
constexpr int max_sendings = 6;

}  // namespace

std::optional<Duration> plan_repeat(Loss loss, const Sendings& sendings) {
  switch (loss) {
    case Loss::unseen:
      if (sendings.count >= max_sendings) return std::nullopt;
      if (sendings.count == 1) return Duration{0};
      return std::chrono::milliseconds(10) * sendings.count * sendings.count;
    case Loss::unknown:
      if (!sendings.is_repeatable || sendings.was_repeated) return std::nullopt;
      return Duration{0};
    case Loss::final:
      break;
  }
  return std::nullopt;
}

}  // namespace kube::net
