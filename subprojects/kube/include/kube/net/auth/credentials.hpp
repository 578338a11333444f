// The credentials that prove who we are to one API server. They are asked for again for each connection and each
// request, so that rotated files and replaced Secrets take effect without a restart.
// Tested by test/net/auth/exec_plugin_test.cpp and test/net/http/http_client_trust_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "kube/async/clock.hpp"
#include "kube/base/failure.hpp"
#include "kube/net/tls/tls.hpp"
#include "kube/wire/exec_credential.hpp"
#include "kube/wire/kubeconfig.hpp"

namespace kube::net {

namespace asio = boost::asio;

/// Makes the credentials of configurations with an exec plugin. Without a CredentialPlugin no program is run.
class CredentialPlugin {
 public:
  virtual ~CredentialPlugin() = default;
  /// `config.exec` is there, and `config.ca_pem` if the cluster has a CA. Cancellable.
  virtual asio::awaitable<Result<wire::ExecCredential>> ask(wire::ClusterConfig config) = 0;
};

/// Credentials of one cluster. Files are looked at again at most every 10 s, and read again once they have changed;
/// while a changed file cannot be read, what was read before stays in use. One thread.
class Credentials {
 public:
  /// Reads every file once. Errors: those of read_file(), Errc::tls (what is in a file cannot be used),
  /// Errc::unsupported (an exec plugin, and no `plugin` to ask). With an exec plugin there are no credentials before
  /// the first ready().
  static Result<std::shared_ptr<Credentials>> make(wire::ClusterConfig config, async::Clock& clock,
                                                   std::unique_ptr<CredentialPlugin> plugin = nullptr);
  ~Credentials();

  /// The same server, other credentials: from now on they come from `config`. Errors, after which the old ones stay in
  /// use: those of make(), and Errc::unsupported if a plugin makes the credentials, or should.
  Result<void> replace(wire::ClusterConfig config);

  /// Asks the plugin if it has not been asked yet or if what it gave has expired; all who wait meanwhile get the same
  /// answer. Without a plugin it does nothing. Errors: those of the plugin (remembered for some seconds), Errc::tls
  /// (its certificate cannot be used). Cancellable.
  asio::awaitable<Result<void>> ready();
  /// Whether ready() has nothing to do.
  bool is_ready() const;
  /// Asks the plugin again after the server has refused (401) the credentials with the number `issue`, unless that has
  /// been done since. Returns whether there are new ones to try.
  asio::awaitable<bool> renew(std::uint64_t issue);
  /// How often the plugin has given credentials, 0 = never.
  std::uint64_t issue() const;

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
