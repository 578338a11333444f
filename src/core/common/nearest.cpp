#include "core/common/nearest.hpp"

#include <algorithm>
#include <vector>

namespace liqo::core {
namespace {

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> needed(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) needed[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) needed[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = needed[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      needed[i][j] = std::min({needed[i - 1][j] + 1, needed[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        needed[i][j] = std::min(needed[i][j], needed[i - 2][j - 2] + 1);
    }
  return needed[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > 100) return {};
  std::string best;
  std::size_t fewest = word.size() + 100;
  for (const std::string& candidate : known) {
    const std::size_t needed = edits(word, candidate);
    if (needed < fewest && needed <= std::max<std::size_t>(1, candidate.size() / 3)) {
      fewest = needed;
      best = candidate;
    }
  }
  return best;
}

}  // namespace liqo::core
