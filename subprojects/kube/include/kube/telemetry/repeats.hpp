// Lines that would say the same again and again: the first is written, and from time to time how often it happened.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/time.hpp"

namespace kube {

/// The texts of the last lines. Texts that differ in their numbers alone are the same. Bounded; forgets the oldest. One
/// thread.
class Repeats {
 public:
  explicit Repeats(Duration pause = std::chrono::minutes(5)) : pause_(pause) {}

  /// If a line with this text is to be written now, how many of them were held back since the last one; nothing if it
  /// is not to be written.
  std::optional<std::size_t> note(std::string_view text, TimePoint now);

 private:
  struct Said {
    TimePoint at;
    std::size_t held_back = 0;
  };
  Duration pause_;
  std::map<std::string, Said, std::less<>> said_;
};

}  // namespace kube
