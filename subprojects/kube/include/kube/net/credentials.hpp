// What proves who we are to one API server, asked again for each connection and each request, so that rotated files and
// replaced Secrets take effect without a restart.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kube/async/clock.hpp"
#include "kube/base/failure.hpp"
#include "kube/net/tls.hpp"
#include "kube/wire/kubeconfig.hpp"

namespace kube::net {

/// Credentials of one cluster. Files are looked at again at most every 10 s, and read again once they have changed;
/// while a changed file cannot be read, what was read before stays in use. One thread.
class Credentials {
 public:
  /// Reads every file once. Errors: Errc::missing (a file cannot be read), Errc::tls (what is in it cannot be used),
  /// Errc::unsupported (an exec plugin: its token must be filled in before).
  static Result<std::shared_ptr<Credentials>> make(wire::ClusterConfig config, async::Clock& clock);
  ~Credentials();

  /// The same server, other credentials: what is asked for from now on comes from `config`. Errors as make(); the old
  /// ones stay in use then.
  Result<void> replace(wire::ClusterConfig config);

  const wire::ClusterConfig& config() const;
  /// Settings for new connections.
  const TlsContext& tls();
  /// Changes whenever tls() does: connections made under an older one should be given up.
  std::uint64_t generation();
  /// The bearer token for the next request, "" = none.
  const std::string& token();

 private:
  struct Impl;
  explicit Credentials(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube::net
