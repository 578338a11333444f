// Makes a kubeconfig from an Identity; kube/wire/kubeconfig.hpp reads one. Pure.
// Tested by test/unit/core/peering/handshake_test.cpp.
#pragma once

#include <string>

namespace liqo::core {

/// What goes into a kubeconfig. Text from the other cluster is quoted, so that it cannot become anything but a value.
struct KubeconfigParts {
  std::string cluster;  ///< name of the cluster: the provider's ID
  std::string server;   ///< URL
  std::string ca_pem;   ///< "" = the system's authorities
  std::string proxy_url;
  std::string user;  ///< name of the user: the Identity's name
  std::string certificate_pem;
  std::string key_pem;
  std::string ns;  ///< default namespace, "" = none
};

/// YAML with keys in alphabetical order; one context, `default-context`.
std::string forge_kubeconfig(const KubeconfigParts& parts);

}  // namespace liqo::core
