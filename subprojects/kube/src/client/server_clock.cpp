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
  const auto behind_receipt = std::chrono::floor<std::chrono::seconds>(*said - received);
  const auto behind_sending = std::chrono::ceil<std::chrono::seconds>(*said + 1s - sent);
  ahead_ = behind_receipt > 0s ? behind_receipt : behind_sending < 0s ? behind_sending : 0s;
  return true;
}

}  // namespace kube
