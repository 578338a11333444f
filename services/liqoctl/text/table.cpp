#include "text/table.hpp"

#include <algorithm>

#include "text/width.hpp"

namespace liqoctl::text {

std::string table(const Row& header, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  const auto measure = [&](const Row& row) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  };
  measure(header);
  for (const Row& row : rows) measure(row);
  std::string out;
  const auto print = [&](const Row& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += padded(row[i], widths[i]) + "   ";
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  print(header);
  for (const Row& row : rows) print(row);
  return out;
}

}  // namespace liqoctl::text
