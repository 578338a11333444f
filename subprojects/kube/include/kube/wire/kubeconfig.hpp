// The kubeconfig format (client.authentication and config API v1): from text to what one connection needs. Pure: files
// that a kubeconfig names are not read here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/json.hpp"
#include "kube/wire/server_url.hpp"

namespace kube::wire {

/// A program that makes credentials (client.authentication.k8s.io). net::Credentials run it only by the
/// net::CredentialPlugin that they are made with.
struct ExecPlugin {
  enum class Interactive { never, if_available, always };
  std::string api_version;  ///< client.authentication.k8s.io/v1 or /v1beta1
  std::string command;      ///< with a slash: a path; without: a name to look for in $PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  ///< in addition to this process'
  Interactive interactive = Interactive::if_available;   ///< whether it may talk to a person at a terminal
  std::string install_hint;                              ///< what to tell a user who does not have it
  bool provide_cluster_info = false;                     ///< it gets the cluster that it is for, and `cluster_config`
  json::value cluster_config;                            ///< the cluster's extension client.authentication.k8s.io/exec
};

/// How to reach one cluster, and as whom. Inline data wins over a file of the same meaning, as with kubectl; a token
/// file wins over a token, and both over an exec plugin.
struct ClusterConfig {
  ServerUrl server;
  std::string context, cluster, user;  ///< the names in the kubeconfig, for messages
  std::string ns;                      ///< the context's namespace, "" = none
  std::string tls_server_name;         ///< name that the certificate is checked against, "" = the host
  bool insecure_skip_tls_verify = false;
  std::string ca_pem, ca_file;
  std::string client_certificate_pem, client_certificate_file;
  std::string client_key_pem, client_key_file;
  std::string token, token_file;
  std::optional<ExecPlugin> exec;
};

/// Who wrote the text decides what may be in it.
enum class KubeconfigOrigin {
  file,    ///< named by the user of this program: may name files and an exec plugin
  secret,  ///< handed over by another cluster: everything must be inline, nothing may be run or read from disk
};

struct KubeconfigOptions {
  KubeconfigOrigin origin = KubeconfigOrigin::secret;
  std::string directory;  ///< relative file names are relative to this (origin `file` only)
  std::string context;    ///< "" = `current-context`
  std::string cluster;    ///< "" = that of the context
  std::string user;       ///< "" = that of the context
};

/// Reads a kubeconfig of at most 1 MiB (YAML or JSON). Errors: Errc::parse (not YAML), Errc::too_large,
/// Errc::missing (the context), Errc::invalid_input (another name or field is missing or wrong), Errc::unsupported (a
/// field that is refused on purpose: proxy-url, impersonation, basic authentication, auth-provider; from a Secret also
/// exec and every file). The text names context, cluster or user and the field; it never quotes credentials.
Result<ClusterConfig> parse_kubeconfig(std::string_view text, const KubeconfigOptions& options);

/// The configuration of a pod of the cluster itself, from KUBERNETES_SERVICE_HOST and _PORT and the files of the
/// service account below `directory`. Errors: Errc::invalid_input.
Result<ClusterConfig> in_cluster_config(std::string_view host, std::string_view port,
                                        std::string_view directory = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace kube::wire
