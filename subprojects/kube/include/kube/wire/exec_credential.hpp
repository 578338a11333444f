// The input and the output of a program that makes credentials (client.authentication.k8s.io/v1 and v1beta1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/base/time.hpp"
#include "kube/wire/kubeconfig.hpp"

namespace kube::wire {

/// A bearer token, a client certificate with its key, or both.
struct ExecCredential {
  std::string token;
  std::string certificate_pem, key_pem;
  std::optional<WallTime> expires;  ///< nothing: valid until the server refuses it
};

/// The document for $KUBERNETES_EXEC_INFO. `interactive`: the plugin's standard input is a terminal. The cluster's CA
/// is that of `cluster.ca_pem`.
std::string exec_info(const ClusterConfig& cluster, const ExecPlugin& plugin, bool interactive);

/// Reads a plugin's answer. Errors: Errc::parse (no such document), Errc::invalid_input (of another version than was
/// asked for, or without usable credentials). The text never quotes the answer.
Result<ExecCredential> parse_exec_credential(std::string_view text, const ExecPlugin& plugin);

}  // namespace kube::wire
