// Joins the kubelet API with the controllers that know where each pod runs.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "liqo/controllers/process.hpp"
#include "liqo/kubelet/kubelet.hpp"
#include "options.hpp"

namespace liqod {

/// The kubelet API of the virtual nodes of `process`, which outlives it, as do the others.
std::unique_ptr<liqo::kubelet::Kubelet> make_kubelet(const boost::asio::any_io_executor& executor,
                                                     liqo::controllers::Process& process, kube::async::Clock& clock,
                                                     kube::Random& random, kube::Metrics& metrics,
                                                     const Options& options);

}  // namespace liqod
