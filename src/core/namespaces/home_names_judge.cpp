#include "core/namespaces/home_names_judge.hpp"

#include <algorithm>

namespace liqo::core {

void HomeNamesJudge::observe(NameLook probe, NameLook absence) {
  if (probe == NameLook::found && absence == NameLook::absent) {
    absent_ = 0;
    are_on_ = true;
    return;
  }
  const bool is_no = probe == NameLook::absent || absence == NameLook::found;
  if (!is_no) return;
  ++absent_;
  if (!are_on_ || absent_ >= absences) are_on_ = false;
}

bool shares_twin_names(std::string_view consumer, const std::vector<std::string>& consumers) {
  const std::string end = "-" + std::string(consumer);
  return std::ranges::any_of(consumers, [&](const std::string& other) { return other.ends_with(end); });
}

}  // namespace liqo::core
