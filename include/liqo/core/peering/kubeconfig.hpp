// The kubeconfig that is made of an identity. Reading one is kube/wire/kubeconfig.hpp's. Pure.
#pragma once

#include <string>

namespace liqo::core {

/// What goes into a kubeconfig. Foreign text is quoted, so that it stays the value that it is.
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
