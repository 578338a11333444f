#include "kubeconfig.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/advice.hpp"

namespace liqoctl {
namespace {

namespace fs = std::filesystem;
using kube::Errc;
using kube::Result;
using kube::wire::ClusterConfig;

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return kube::fail(Errc::missing, model::unreadable(path));
  return text.str();
}

Result<ClusterConfig> read_kubeconfig(const std::string& path, const ConnectionFlags& flags) {
  auto text = read_file(path);
  if (!text) return std::unexpected(std::move(text.error()));
  if (text->find_first_not_of(" \t\r\n") == std::string::npos)
    return kube::fail(Errc::invalid_input, path + " is empty: did the command fail that was to write it?");
  auto config = kube::wire::parse_kubeconfig(*text, {.origin = kube::wire::KubeconfigOrigin::file,
                                                     .directory = fs::absolute(path).parent_path().string(),
                                                     .context = flags.context,
                                                     .cluster = flags.cluster,
                                                     .user = flags.user});
  if (!config) return kube::fail(std::move(config.error()), path);
  return config;
}

std::vector<std::string> usual_files() {
  std::vector<std::string> found;
  if (const char* several = std::getenv("KUBECONFIG"); several && *several) {
    std::stringstream list{several};
    for (std::string one; std::getline(list, one, ':');)
      if (!one.empty() && fs::exists(one)) found.push_back(one);
    return found;
  }
  if (const char* home = std::getenv("HOME"))
    if (const fs::path usual = fs::path(home) / ".kube/config"; fs::exists(usual)) found.push_back(usual.string());
  return found;
}

Result<ClusterConfig> find_config(const ConnectionFlags& flags, bool remote) {
  if (!flags.kubeconfig.empty()) return read_kubeconfig(flags.kubeconfig, flags);
  std::optional<kube::Failure> first;
  for (const std::string& file : usual_files()) {
    auto config = read_kubeconfig(file, flags);
    if (config) return config;
    if (!first) first = std::move(config.error());
  }
  if (first) return std::unexpected(std::move(*first));
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host && port) return kube::wire::in_cluster_config(host, port);
  if (!flags.server.empty()) return ClusterConfig{};
  return kube::fail(Errc::missing, "there is no kubeconfig: give " + std::string(remote ? "--remote-" : "--") +
                                       "kubeconfig, or set KUBECONFIG, or write ~/.kube/config");
}

}  // namespace

Result<ClusterConfig> find_cluster(const ConnectionFlags& flags, bool remote) {
  auto config = find_config(flags, remote);
  if (!config) return config;
  if (!flags.server.empty()) {
    auto url = kube::wire::parse_server_url(flags.server);
    if (!url) return kube::fail(std::move(url.error()), remote ? "--remote-server" : "--server");
    config->server = std::move(*url);
    if (config->cluster.empty()) config->cluster = flags.server;
  }
  if (!flags.token.empty()) {
    config->token = flags.token;
    config->token_file.clear();
    config->exec.reset();
  }
  if (!flags.certificate_authority.empty()) {
    config->ca_file = flags.certificate_authority;
    config->ca_pem.clear();
  }
  if (!flags.tls_server_name.empty()) config->tls_server_name = flags.tls_server_name;
  if (flags.insecure_skip_tls_verify) {
    config->insecure_skip_tls_verify = true;
    config->ca_pem.clear();
    config->ca_file.clear();
  }
  return config;
}

}  // namespace liqoctl
