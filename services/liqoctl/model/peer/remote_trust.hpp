// Describes what the kubeconfig of another cluster would do on this machine: the user of liqoctl may not be its author.
#pragma once

#include <string>

#include "kube/wire/kubeconfig.hpp"

namespace liqoctl::model {

/// The action of the kubeconfig, as the rest of a sentence, in full and printable: the program that it runs, or the
/// file whose content it sends to the server as a token. "" if it does neither. Certificates and keys in files do not
/// leave this machine: TLS only proves that they are there.
std::string deeds_of(const kube::wire::ClusterConfig& config);

}  // namespace liqoctl::model
