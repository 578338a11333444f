// liqoctl install: the manifests that a cluster needs for liqod. They are in this program, so it needs no chart.
#include <fstream>
#include <sstream>

#include "chart.hpp"
#include "command_line.hpp"
#include "commands/commands.hpp"
#include "kube/wire/yaml.hpp"
#include "model/install.hpp"
#include "shared.hpp"
#include "text/yaml.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
using kube::Errc;

struct Flags {
  bool print = false, deployment = true;
  std::string cluster_id, api_server;
  std::vector<std::string> values, set, set_string, cluster_labels;
};

Result<json::object> read_values(const Flags& flags) {
  json::object values;
  for (const std::string& path : flags.values) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) return kube::fail(Errc::missing, path + " cannot be read");
    auto documents = kube::wire::read_yaml(text.str());
    if (!documents) return kube::fail(std::move(documents.error()), path);
    for (const json::value& document : *documents) {
      if (!document.is_object()) return kube::fail(Errc::parse, path + " is no file of values");
      model::overlay(values, document.get_object());
    }
  }
  for (const auto& [list, as_string] : {std::pair{&flags.set, false}, std::pair{&flags.set_string, true}})
    for (const std::string& assignment : *list)
      if (auto set = model::set_value(values, assignment, as_string); !set)
        return kube::fail(std::move(set.error()), as_string ? "--set-string" : "--set");
  if (!flags.cluster_id.empty()) values["clusterID"] = flags.cluster_id;
  if (!flags.api_server.empty()) kube::ensure_object(values, "apiServer")["address"] = flags.api_server;
  return values;
}

Answer install(Session& session, const Flags& flags) {
  if (!flags.print)
    co_return kube::fail(Errc::invalid_input,
                         "liqoctl only prints what is to be installed: liqoctl install --print ... | kubectl apply "
                         "--server-side -f -");
  auto values = read_values(flags);
  if (!values) co_return std::unexpected(std::move(values.error()));
  std::vector<json::value> chart;
  for (const std::string_view file : chart_files()) {
    auto documents = kube::wire::read_yaml(file);
    if (!documents) co_return std::unexpected(std::move(documents.error()));
    chart.insert(chart.end(), documents->begin(), documents->end());
  }
  auto made = model::installation(chart, *values, session.flags().liqo(), flags.deployment);
  if (!made) co_return std::unexpected(std::move(made.error()));
  for (const std::string& key : made->unknown) session.output().warn("", "value " + key + " has no effect here");
  if (session.flags().output == Format::json) {
    json::array items(made->manifests.begin(), made->manifests.end());
    session.output().print(
        text::pretty_json(json::object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}}));
    co_return Result<void>();
  }
  std::string out;
  for (const json::value& manifest : made->manifests) out += "---\n" + text::yaml(manifest);
  session.output().print(out);
  co_return Result<void>();
}

}  // namespace

void add_install(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  const Command app = line.command(
      line.root(), "install", "Print the manifests that a cluster needs for liqod",
      {.namespaces = Namespaces::liqo,
       .prints = true,
       .aliases = {"upgrade"},
       .examples =
           "  liqoctl install --print --cluster-id rome | kubectl apply --server-side -f -\n"
           "  liqoctl install --print --cluster-id rome \\\n"
           "    --set offloading.defaultNodeResources.cpu=2 --set offloading.defaultNodeResources.memory=4Gi \\\n"
           "    --set controllerManager.config.defaultLimitsEnforcement=Hard\n"
           "Printed are kinds, roles, bindings, the sharing policy and the Deployment. The configurations of the\n"
           "webhooks and their certificates are liqod's own work."},
      [flags](Session& session) { return install(session, *flags); });
  app.flag("--print,--dry-run", flags->print, "Print the manifests (nothing is sent to any cluster)");
  app.option("--cluster-id", flags->cluster_id, "ID of the cluster, by which peers know it").type_name("ID");
  app.option("--api-server-url", flags->api_server, "URL by which consumers reach the API server").type_name("URL");
  app.list("-f,--values", flags->values, "File of values; later ones win").type_name("FILE");
  app.list("--set", flags->set, "A value, e.g. controllerManager.config.defaultLimitsEnforcement=Hard")
      .type_name("KEY=VALUE");
  app.list("--set-string", flags->set_string, "Likewise, and always a string").type_name("KEY=VALUE");
  app.flag("--deployment", flags->deployment, "Print the Deployment of liqod and its Service too (default true)");
}

}  // namespace liqoctl
