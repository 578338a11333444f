#include "kube/client/server_clock.hpp"

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr Duration pause = 30s;

}  // namespace

bool ServerClock::observe(std::string_view date, WallTime sent, WallTime received, TimePoint now) {
  if (date.empty() || (looked_ && now - *looked_ < pause)) return false;
  const auto said = parse_http_date(date);
  if (!said) return false;
  looked_ = now;
  // The server said its time between sending and receipt, and without the fraction of a second.
  const auto ahead_of_receipt = std::chrono::floor<std::chrono::seconds>(*said - received);
  const auto ahead_of_sending = std::chrono::ceil<std::chrono::seconds>(*said + 1s - sent);
  ahead_ = ahead_of_receipt > 0s ? ahead_of_receipt : ahead_of_sending < 0s ? ahead_of_sending : 0s;
  return true;
}

}  // namespace kube
