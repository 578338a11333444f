// Finding the cluster that a program is to talk to, as kubectl does.
#pragma once

#include <string>

#include "kube/wire/kubeconfig.hpp"

namespace kube::net {

/// What is taken of a kubeconfig; "" = what it says itself.
struct ConfigChoice {
  std::string context, cluster, user;
};

/// Reads a file that the user of this program has named, or owns: it may name other files and an exec plugin. Errors:
/// those of read_file(), Errc::missing (no such context in it), Errc::invalid_input (it is empty), and those of
/// wire::parse_kubeconfig(). The text names the file.
Result<wire::ClusterConfig> read_kubeconfig(const std::string& path, const ConfigChoice& choice = {});

/// The cluster of the pod that this process runs in, by its service account. Errors: Errc::missing (it is no pod).
Result<wire::ClusterConfig> pod_config();

/// The first of the files of $KUBECONFIG, or else ~/.kube/config, that has the chosen context, or a current one; files
/// are not merged. Where none of these files is there, the pod's cluster. Errors: Errc::missing (there is nothing of
/// that), Errc::invalid_input (no file has the context), and those of the file that has it.
Result<wire::ClusterConfig> infer_config(const ConfigChoice& choice = {});

/// The authorities in PEM by which that cluster's server is verified, be they in the config or in a file that it names;
/// "" where it names none. Errors: those of read_file().
Result<std::string> read_authorities(const wire::ClusterConfig& config);

}  // namespace kube::net
