#include "exec_plugin.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kube/base/json.hpp"

namespace liqoctl {
namespace {

using kube::Errc;
constexpr std::size_t max_answer = 1 << 20;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

kube::Result<std::string> run(const kube::wire::ExecPlugin& plugin) {
  std::vector<std::string> argv{plugin.command}, env;
  argv.insert(argv.end(), plugin.args.begin(), plugin.args.end());
  for (const auto& [name, value] : plugin.env) env.push_back(name + "=" + value);
  const kube::json::object info{{"apiVersion", plugin.api_version},
                                {"kind", "ExecCredential"},
                                {"spec", kube::json::object{{"interactive", bool(isatty(STDIN_FILENO))}}}};
  env.push_back("KUBERNETES_EXEC_INFO=" + kube::json::serialize(info));
  // The first of two equal names counts, so what the kubeconfig sets goes before what is there.
  for (char** entry = environ; *entry; ++entry) env.emplace_back(*entry);
  int ends[2];
  if (pipe(ends) != 0)
    return kube::fail(Errc::missing, "no pipe for exec plugin: " + std::string(std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, plugin.command.c_str(), &actions, nullptr, pointers(argv).data(), pointers(env).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failure != 0) {
    close(ends[0]);
    return kube::fail(Errc::missing, "exec plugin '" + plugin.command + "' cannot be run: " + std::strerror(failure));
  }
  std::string answer;
  char buffer[4096];
  for (ssize_t count = 0; answer.size() < max_answer && (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    answer.append(buffer, std::size_t(count));
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return kube::fail(Errc::invalid_input, "exec plugin '" + plugin.command + "' failed");
  return answer;
}

}  // namespace

kube::Result<void> run_exec_plugin(kube::wire::ClusterConfig& config) {
  const kube::wire::ExecPlugin plugin = *config.exec;
  auto answer = run(plugin);
  if (!answer) return std::unexpected(std::move(answer.error()));
  const auto document = kube::parse_json(*answer);
  const std::string_view token = document ? kube::string_at(*document, {"status", "token"}) : "";
  const std::string_view certificate = document ? kube::string_at(*document, {"status", "clientCertificateData"}) : "";
  const std::string_view key = document ? kube::string_at(*document, {"status", "clientKeyData"}) : "";
  if (token.empty() && (certificate.empty() || key.empty()))
    return kube::fail(Errc::invalid_input, "exec plugin '" + plugin.command + "' answered no credentials");
  if (!token.empty()) config.token = token;
  if (!certificate.empty()) {
    config.client_certificate_pem = certificate;
    config.client_key_pem = key;
  }
  config.exec.reset();
  return {};
}

}  // namespace liqoctl
