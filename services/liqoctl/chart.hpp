// The files of charts/liqo that are in this program: kinds (crds/) and roles (files/).
#pragma once

#include <span>
#include <string_view>

namespace liqoctl {

/// Their texts, kinds first.
std::span<const std::string_view> chart_files();

}  // namespace liqoctl
