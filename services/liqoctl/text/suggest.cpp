#include "text/suggest.hpp"

#include <algorithm>
#include <utility>

namespace liqoctl::text {
namespace {

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
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

}  // namespace liqoctl::text
