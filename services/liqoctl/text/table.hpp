// Tables as kubectl prints them: a header in capitals, columns padded to their widest cell, three spaces between.
#pragma once

#include <string>
#include <vector>

namespace liqoctl::text {

using Row = std::vector<std::string>;

/// Ends with a line break; no spaces at the ends of lines. Rows may be shorter than the header.
std::string table(const Row& header, const std::vector<Row>& rows);

}  // namespace liqoctl::text
