// Judges by name look-ups whether pods of this cluster resolve the names of their home.
// Tested by test/unit/core/namespaces/home_names_judge_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace liqo::core {

/// What a look-up has shown of a name. An answer that did not come, or was an error, shows nothing.
enum class NameLook : std::uint8_t { found, absent, nothing };

/// Takes in look-ups of `home_probe` and `home_absence` (core/common/home_names.hpp). A name server that is away for a
/// while changes nothing, because Pods are made once, and labels of nodes must not come and go with it. One thread.
class HomeNamesJudge {
 public:
  /// How often the probe has to be absent before names that did resolve count as gone.
  static constexpr int absences = 3;

  /// `absence`: of the name that is not there. If it is, the name server has an answer for every name.
  void observe(NameLook probe, NameLook absence);
  /// Nothing before the first look-up that has shown something: what others know from before stays until then.
  std::optional<bool> are_on() const { return are_on_; }

 private:
  std::optional<bool> are_on_;
  int absent_ = 0;  ///< look-ups in a row by which they are not on
};

/// Whether the twins of this consumer can have the names of another consumer's: with consumers `rome` and `prod-rome`,
/// `shop-prod-rome` is the twin of `shop-prod` or of `shop`. Names of home would lead into the other one's twins.
bool shares_twin_names(std::string_view consumer, const std::vector<std::string>& consumers);

}  // namespace liqo::core
