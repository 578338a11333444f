// The files of charts/liqo, which are in this program.
#pragma once

#include <span>

#include "template/engine.hpp"

namespace liqoctl {

/// All that `helm template` reads, by their paths in the chart.
std::span<const chart::File> chart_files();

}  // namespace liqoctl
