// The files of charts/liqo, which are built into this program.
#pragma once

#include <span>

#include "template/engine.hpp"

namespace liqoctl {

/// The files that `helm template` reads, by their paths in the chart.
std::span<const chart::File> chart_files();

}  // namespace liqoctl
