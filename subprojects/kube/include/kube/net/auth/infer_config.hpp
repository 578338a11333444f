// Finding the cluster that a program is to talk to, as kubectl does.
#pragma once

#include <string>
#include <string_view>

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

/// Where a pod finds its service account.
inline constexpr std::string_view service_account = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The cluster of the pod that this process runs in, by its service account in that directory, with the namespace of
/// the pod ("" if the account does not say it). Errors: Errc::missing (it is no pod), and those of
/// wire::in_cluster_config().
Result<wire::ClusterConfig> pod_config(std::string_view directory = service_account);

/// The first of the files of $KUBECONFIG, or else ~/.kube/config, that has the chosen context, or a current one; files
/// are not merged. If none of these files exists, the pod's cluster. Errors: Errc::missing (there is none of these),
/// Errc::invalid_input (no file has the context), and those of the file that has it.
Result<wire::ClusterConfig> infer_config(const ConfigChoice& choice = {});

/// The authorities in PEM by which that cluster's server is verified, be they in the config or in a file that it names;
/// "" if it names none. Errors: those of read_file().
Result<std::string> read_authorities(const wire::ClusterConfig& config);

}  // namespace kube::net
