// Running a program of the user's for credentials, as cloud providers use them. Only programs that people run at a
// prompt make an ExecPluginRunner; without one, Credentials refuse a configuration with an exec plugin.
#pragma once

#include "kube/net/auth/credentials.hpp"

namespace kube::net {

struct ExecPluginOptions {
  bool terminal = false;  ///< standard input is a terminal, with a person at it
  Duration timeout = std::chrono::minutes(1);
  Duration interactive_timeout = std::chrono::minutes(10);  ///< if a person may have to log in first
};

/// Runs the plugin of a configuration without a shell. The program shares our standard error and, if it is interactive,
/// our standard input; none of our other open files are passed on to it. One thread.
class ExecPluginRunner final : public CredentialPlugin {
 public:
  /// The clock must outlive this.
  explicit ExecPluginRunner(async::Clock& clock, ExecPluginOptions options = {}) : clock_(clock), options_(options) {}

  /// Errors: Errc::missing (it is not found or cannot be run; with its installation hint), Errc::unsupported (it needs
  /// a terminal), Errc::timeout, Errc::too_large (more than 1 MiB), Errc::invalid_input and Errc::parse (it fails, or
  /// its answer cannot be used). A program that is not waited for any longer is killed.
  asio::awaitable<Result<wire::ExecCredential>> ask(wire::ClusterConfig config) override;

 private:
  async::Clock& clock_;
  ExecPluginOptions options_;
};

}  // namespace kube::net
