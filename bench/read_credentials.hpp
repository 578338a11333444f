// Reads the kubeconfig of a benchmark by its path.
#pragma once

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "kube/net/auth/credentials.hpp"

namespace liqo::bench {

/// Errors: Errc::missing, and those of parse_kubeconfig() and Credentials::make().
inline kube::Result<std::shared_ptr<kube::net::Credentials>> read_credentials(const std::string& path,
                                                                              kube::async::Clock& clock) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return kube::fail(kube::Errc::missing, path + " cannot be read");
  KUBE_TRY(config, kube::wire::parse_kubeconfig(text.str(), {.origin = kube::wire::KubeconfigOrigin::file}), path);
  return kube::net::Credentials::make(std::move(config), clock);
}

}  // namespace liqo::bench
