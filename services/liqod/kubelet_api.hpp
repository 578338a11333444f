// Joins the kubelet API with the controllers that know where each pod runs.
#pragma once

#include <memory>

#include "controllers/process/process.hpp"
#include "kubelet/kubelet.hpp"
#include "options/options.hpp"

namespace liqod {

/// The kubelet API of the virtual nodes of `process`, which outlives it, as do the options.
std::unique_ptr<liqo::kubelet::Kubelet> make_kubelet(liqo::controllers::Process& process, const Options& options);

}  // namespace liqod
