#include "kube/net/auth/infer_config.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "kube/base/text.hpp"
#include "kube/net/read_file.hpp"

namespace kube::net {
namespace {

namespace fs = std::filesystem;
using wire::ClusterConfig;

/// Whether there is a file, or may be one: reading it says why it cannot be read.
bool is_there(const fs::path& path) {
  std::error_code failed;
  return fs::exists(path, failed) || failed;
}

/// The directory that a file is in; "" if the working directory is gone.
std::string directory_of(const std::string& path) {
  std::error_code failed;
  const fs::path whole = fs::absolute(path, failed);
  return failed ? "" : whole.parent_path().string();
}

std::string_view named_files() {
  const char* several = std::getenv("KUBECONFIG");
  return several ? several : "";
}

std::vector<std::string> usual_files() {
  std::vector<std::string> found;
  if (!named_files().empty()) {
    for (const std::string_view one : split(named_files(), ':'))
      if (is_there(one)) found.emplace_back(one);
    return found;
  }
  if (const char* home = std::getenv("HOME"))
    if (const fs::path usual = fs::path(home) / ".kube/config"; is_there(usual)) found.push_back(usual.string());
  return found;
}

}  // namespace

Result<ClusterConfig> read_kubeconfig(const std::string& path, const ConfigChoice& choice) {
  KUBE_TRY(text, read_file(path));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(Errc::invalid_input, path + " is empty: did the command fail that was to write it?");
  auto config = wire::parse_kubeconfig(text, {.origin = wire::KubeconfigOrigin::file,
                                              .directory = directory_of(path),
                                              .context = choice.context,
                                              .cluster = choice.cluster,
                                              .user = choice.user});
  if (!config) return fail(std::move(config.error()), path);
  return config;
}

Result<ClusterConfig> pod_config(std::string_view directory) {
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (!host || !port) return fail(Errc::missing, "this is not a pod of a cluster");
  auto config = wire::in_cluster_config(host, port, directory);
  if (!config) return config;
  if (const auto ns = read_file(std::string(directory) + "/namespace")) config->ns = trim(*ns, " \t\r\n");
  return config;
}

Result<ClusterConfig> infer_config(const ConfigChoice& choice) {
  std::optional<Failure> first;
  for (const std::string& file : usual_files()) {
    auto config = read_kubeconfig(file, choice);
    // A file that has the context and is wrong must not make the next file's cluster the one that is meant.
    if (config || config.error().code() != Errc::missing) return config;
    if (!first) first = std::move(config.error());
  }
  if (first) return fail(Errc::invalid_input, first->text());
  if (auto pod = pod_config(); pod || pod.error().code() != Errc::missing) return pod;
  if (!named_files().empty())
    return fail(Errc::missing, "there is no kubeconfig: correct KUBECONFIG, which names " + std::string(named_files()));
  return fail(Errc::missing, "there is no kubeconfig: set KUBECONFIG, or write ~/.kube/config");
}

Result<std::string> read_authorities(const ClusterConfig& config) {
  if (!config.ca_pem.empty() || config.ca_file.empty()) return config.ca_pem;
  return read_file(config.ca_file);
}

}  // namespace kube::net
