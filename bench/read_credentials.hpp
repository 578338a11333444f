// Reads the kubeconfig of a benchmark by its path.
#pragma once

#include <memory>
#include <string>

#include "kube/net/auth/credentials.hpp"
#include "kube/net/read_file.hpp"

namespace liqo::bench {

/// Errors: those of read_file(), parse_kubeconfig() and Credentials::make().
inline kube::Result<std::shared_ptr<kube::net::Credentials>> read_credentials(const std::string& path,
                                                                              kube::async::Clock& clock) {
  KUBE_TRY(text, kube::net::read_file(path));
  KUBE_TRY(config, kube::wire::parse_kubeconfig(text, {.origin = kube::wire::KubeconfigOrigin::file}), path);
  return kube::net::Credentials::make(std::move(config), clock);
}

}  // namespace liqo::bench
