#include "core/peering/clock_skew.hpp"

namespace liqo::core {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds tolerated = 60s;
/// A clock that was reported is right again below this. It is less than `tolerated`, so that a clock near it is not
/// reported again and again.
constexpr std::chrono::seconds settled = 50s;
constexpr std::string_view beginning = "its clock is ";

std::string in_words(std::chrono::seconds time) {
  if (time < 3min) return std::to_string(time.count()) + " s";
  if (time < 3h) return std::to_string(std::chrono::round<std::chrono::minutes>(time).count()) + " min";
  return std::to_string(std::chrono::round<std::chrono::hours>(time).count()) + " h";
}

}  // namespace

std::chrono::seconds settle_clock(std::chrono::seconds reported, std::chrono::seconds measured) {
  const auto size = std::chrono::abs(measured);
  if (reported == 0s) return size > tolerated ? measured : 0s;
  if (size < settled) return 0s;
  return std::chrono::abs(measured - reported) > tolerated ? measured : reported;
}

std::string describe_clock(std::chrono::seconds ahead, std::string_view other) {
  return std::string(beginning) + in_words(std::chrono::abs(ahead)) + (ahead > 0s ? " ahead of " : " behind ") +
         std::string(other) +
         ", so that certificates and tokens seem to have expired or not to be valid yet: "
         "synchronise the clocks of both clusters";
}

std::string_view clock_note(std::string_view message) {
  const std::size_t at = message.find(beginning);
  return at == std::string_view::npos ? std::string_view() : message.substr(at);
}

}  // namespace liqo::core
