// What the kubeconfig of another cluster would make this machine do: its author is not always the user of liqoctl.
#pragma once

#include <string>

#include "kube/wire/kubeconfig.hpp"

namespace liqoctl::model {

/// What the kubeconfig does, as the rest of a sentence: the program that it runs, or the file whose content it sends to
/// the server as a token, in full and printable; "" where it does neither. Certificates and keys in files are no secret
/// that leaves this machine: TLS only proves that they are there.
std::string deeds_of(const kube::wire::ClusterConfig& config);

}  // namespace liqoctl::model
