#include "model/peer/remote_trust.hpp"

#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"

namespace liqoctl::model {
namespace {

/// A word of a command line, quoted if a reader could take it for several.
std::string word(std::string_view text) {
  const std::string shown = kube::printable(text);
  return shown.empty() || shown.find_first_of(" '\"") != std::string::npos ? "'" + shown + "'" : shown;
}

}  // namespace

std::string deeds_of(const kube::wire::ClusterConfig& config) {
  if (!config.token_file.empty())
    return "sends the content of the file " + word(config.token_file) + " to " + kube::printable(config.server.host);
  if (!config.exec) return "";
  std::string out = "runs on this machine: " + word(config.exec->command);
  for (const std::string& argument : config.exec->args) out += " " + word(argument);
  // The values of the variables may be secrets.
  const std::string variables = kube::join(config.exec->env | std::views::keys | std::views::transform(word), ", ");
  return out + (variables.empty() ? "" : " (with the variables " + variables + ")");
}

}  // namespace liqoctl::model
