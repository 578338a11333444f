#include "request_check.hpp"

#include <algorithm>

namespace liqo::sim {

using kube::testing::VirtualClock;

namespace {

constexpr double per_change = 2, per_minute = 30;
/// About how many controllers one process has, and how many of its informers read the same kind.
constexpr double controllers = 30, sharers = 2;

double minutes_of(const VirtualClock& clock) {
  return std::chrono::duration<double, std::ratio<60>>(clock.wall() - VirtualClock::default_start).count();
}

}  // namespace

std::vector<Violation> check_requests(const kube::testing::SimLink& link, kube::testing::FakeApiServer& server) {
  std::vector<Violation> found;
  const double minutes = std::max(1.0, minutes_of(server.store().clock()));
  std::map<std::string, double> changes;
  double all = 0;
  for (const auto& [name, table] : server.store().tables()) {
    const auto count = static_cast<double>(table.log.size());
    changes[table.kind.plural] += count;
    all += count;
  }
  const auto look = [&](const std::string& what, std::uint64_t asked, double most) {
    if (static_cast<double>(asked) > most)
      found.push_back({"requests are in proportion", link.actor() + ": " + std::to_string(asked) + " requests for " +
                                                         what + ", not " + std::to_string(int(most)) + " at most"});
  };
  for (const auto& [scope, asked] : link.reads()) {
    const std::string path = scope.substr(0, scope.find(' '));
    look(scope, asked, sharers * (per_change * changes[path.substr(path.rfind('/') + 1)] + per_minute * minutes));
  }
  const double workers = static_cast<double>(link.reads().size()) + controllers;
  look("everything", link.requests(), per_change * all + per_minute * minutes * workers);
  return found;
}

}  // namespace liqo::sim
