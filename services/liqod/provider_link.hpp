// Makes a connection from the kubeconfig Secret of a provider.
#pragma once

#include "controllers/links/provider_link.hpp"
#include "kube/runtime/environment.hpp"

namespace liqod {

/// Makes links over HTTP/2 and TLS. Another cluster writes the Secret, so it may name no file and run no program.
liqo::controllers::ConnectProvider connect_over_network(const kube::Environment& environment);

}  // namespace liqod
