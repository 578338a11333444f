// Flags that several commands share.
#pragma once

#include <string>
#include <vector>

#include "kube/base/time.hpp"

namespace liqoctl {

/// One of the clusters of a command.
enum class Side { local, remote };

/// The API server, and the user to connect as. Commands on two clusters have the same flags again with the prefix
/// `--remote-`.
struct ConnectionFlags {
  std::string kubeconfig, context, cluster, user;
  std::string server, token, certificate_authority, tls_server_name;
  bool insecure_skip_tls_verify = false;

  /// Whether a cluster is named at all.
  bool is_given() const { return !(kubeconfig.empty() && context.empty() && cluster.empty() && server.empty()); }

  /// Whether a server is named, but no kubeconfig or part of one with the credentials for it.
  bool is_server_alone() const {
    return !server.empty() && kubeconfig.empty() && context.empty() && cluster.empty() && user.empty();
  }
};

/// The format in which objects are printed. `none` is the command's own form (a table, or progress only).
enum class Format { none, wide, json, yaml, name };

struct CommonFlags {
  ConnectionFlags local, remote;
  std::string ns;              ///< `-n`
  std::string liqo_namespace;  ///< where Liqo is installed
  std::string remote_liqo_namespace = "liqo";
  std::string remote_cluster_id;   ///< the remote cluster must be this one; "" = any
  bool remote_allow_exec = false;  ///< the remote kubeconfig may run programs and send files
  bool verbose = false;
  bool skip_confirm = false;
  bool dry_run = false;
  Format output = Format::none;
  kube::Duration timeout = std::chrono::minutes(2);
  std::vector<std::string> global_labels, global_annotations;

  /// The namespace of Liqo: `--liqo-namespace`, or `liqo`.
  std::string liqo() const { return liqo_namespace.empty() ? "liqo" : liqo_namespace; }
};

}  // namespace liqoctl
