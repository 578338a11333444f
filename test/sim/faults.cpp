#include "faults.hpp"

namespace liqo::sim {
namespace {

using namespace std::chrono_literals;
using kube::testing::FaultRates;

/// The most that a schedule gets of each kind.
constexpr std::pair<double FaultRates::*, double> worst[] = {
    {&FaultRates::slow, 0.05},     {&FaultRates::refused, 0.1},   {&FaultRates::lost_answer, 0.15},
    {&FaultRates::throttled, 0.1}, {&FaultRates::failing, 0.1},   {&FaultRates::unavailable, 0.1},
    {&FaultRates::conflict, 0.2},  {&FaultRates::compacted, 0.2}, {&FaultRates::cut_body, 0.05},
    {&FaultRates::stalled, 0.1},
};

}  // namespace

double draw_rate(kube::Random& random, double most) { return random.chance(0.5) ? 0.0 : most * random.unit(); }

FaultRates draw_faults(kube::Random& random, std::chrono::milliseconds latency) {
  FaultRates drawn;
  for (const auto& [kind, most] : worst) drawn.*kind = draw_rate(random, most);
  if (random.chance(0.5)) drawn.latency_high = std::chrono::milliseconds(random.between(5, latency.count()));
  if (random.chance(0.5)) drawn.watch_life = std::chrono::seconds(random.between(1, 60));
  return drawn;
}

Tree draw_tree(kube::Random& random, const std::vector<Tree>& from) {
  if (from.empty()) return nullptr;
  return from[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(from.size()) - 1))];
}

}  // namespace liqo::sim
