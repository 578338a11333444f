// liqoctl install: puts liqod, its rights and its CRDs into a cluster. The chart is part of this program.
#include "model/install/install.hpp"
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/common/peer_names.hpp"
#include "installation/chart.hpp"
#include "installation/daemon.hpp"
#include "installation/given_values.hpp"
#include "installation/installation.hpp"
#include "installation/installed.hpp"
#include "installation/planned_changes.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/kinds.hpp"
#include "model/check/check.hpp"
#include "model/install/given_values.hpp"
#include "model/install/platform.hpp"
#include "model/install/secret_values.hpp"
#include "model/objects.hpp"
#include "peering/addresses.hpp"
#include "peering/progress.hpp"
#include "session/daemon_sets.hpp"
#include "session/documents.hpp"
#include "template/values.hpp"
#include "text/yaml.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
using kube::Errc;

constexpr std::size_t max_named = 12;

struct Flags {
  bool print = false, dry_run = false, deployment = true, wait = true, kinds = false, reset_values = false;
  model::Platform platform = model::Platform::any;
  std::string cluster_id, api_server;
  std::vector<std::string> values, set, set_string, pod_cidrs;
};

/// The user's values, merged over those that were read from the cluster.
Result<json::object> read_values(const Flags& flags, json::object values) {
  for (const std::string& path : flags.values) {
    KUBE_TRY(documents, read_documents(path));
    for (const json::value& document : documents) {
      if (!document.is_object()) return kube::fail(Errc::parse, path + " is no file of values");
      chart::overlay(values, document.get_object());
    }
  }
  for (const auto& [list, as_string] : {std::pair{&flags.set, false}, std::pair{&flags.set_string, true}})
    for (const std::string& assignment : *list)
      KUBE_TRYV(chart::set_value(values, assignment, as_string), as_string ? "--set-string" : "--set");
  if (!flags.cluster_id.empty()) values["clusterID"] = flags.cluster_id;
  if (!flags.pod_cidrs.empty())
    kube::ensure_object(values, "ipam")["podCIDRs"] = json::array(flags.pod_cidrs.begin(), flags.pod_cidrs.end());
  if (!flags.deployment) values["deployment"] = false;
  if (!flags.api_server.empty()) kube::ensure_object(values, "apiServer")["address"] = flags.api_server;
  if (const std::string path = model::find_not_shown(values); !path.empty())
    return kube::fail(Errc::invalid_input, "value " + path +
                                               " is what liqoctl get values shows in place of a secret: " +
                                               "leave it out, and upgrade keeps what was given");
  return values;
}

/// The values that the cluster itself shows, if the user has named its platform.
asio::awaitable<Result<json::object>> look_at_platform(Session& session, model::Platform platform) {
  using model::Platform;
  if (platform == Platform::any) co_return json::object();
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  model::PlatformObjects objects;
  if (platform == Platform::kubeadm) {
    KUBE_CO_TRY(pods, co_await cluster.list(kube::resources::pods, "kube-system", "component=kube-controller-manager"));
    objects.managers = std::move(pods);
  } else if (platform == Platform::k3s) {
    KUBE_CO_TRY(nodes, co_await cluster.list(kube::resources::nodes, ""));
    objects.nodes = std::move(nodes);
    if (const auto found = model::judge_egress_selector(objects.nodes); found && found->state == model::State::bad)
      session.output().warn("", found->text);
  } else {
    constexpr kube::Resource networks{"config.openshift.io", "v1", "networks", "Network", false};
    KUBE_CO_TRY(network, co_await cluster.find(networks, {"", "cluster"}));
    objects.network = std::move(network);
  }
  json::object values = model::platform_values(platform, objects);
  if (kube::array_at(json::value(values), {"ipam", "podCIDRs"}).empty())
    session.output().warn("", "this cluster does not report the range of its pods: peers get that of --pod-cidr");
  co_return values;
}

/// The ID in the values; "" if they have none.
std::string id_of(const json::object& values) {
  const std::string_view long_one = kube::string_at(values, {"discovery", "config", "clusterID"});
  return std::string(long_one.empty() ? kube::string_at(values, {"clusterID"}) : long_one);
}

void report_without_effect(Session& session, const model::Installation& made) {
  for (const auto& [path, why] : made.without_effect)
    session.output().warn("", "value " + path + " has no effect here: " + why);
}

void print(Session& session, const std::vector<json::value>& manifests) {
  if (session.flags().output == Format::json) {
    session.output().print(text::pretty_json(model::forge_list(json::array(manifests.begin(), manifests.end()))));
    return;
  }
  std::string out;
  for (const json::value& manifest : manifests) out += "---\n" + text::yaml(manifest);
  session.output().print(out);
}

/// Refuses -o without an option that prints something.
Result<void> check_output(const Session& session, const Flags& flags) {
  if (flags.print || session.flags().output == Format::none) return {};
  return kube::fail(Errc::invalid_input, "-o says how --print prints: give both, or neither");
}

/// Keeps the ID that the cluster has, because peers know it by that ID.
asio::awaitable<Result<void>> settle_id(Cluster& cluster, json::object& values) {
  KUBE_CO_TRY(map, co_await cluster.find(kube::resources::config_maps,
                                         {cluster.liqo_namespace(), std::string(liqo::core::cluster_id_config_map)}));
  const std::string there(map ? kube::string_at(map->tree(), {"data", liqo::core::cluster_id_key}) : "");
  const std::string wanted = id_of(values);
  if (!there.empty() && !wanted.empty() && there != wanted)
    co_return kube::fail(Errc::invalid_input, "this cluster is installed as " + there +
                                                  ", by which its peers know it, not as " + wanted +
                                                  ": liqoctl uninstall comes before another ID");
  if (wanted.empty() && !there.empty()) values["clusterID"] = there;
  co_return Result<void>();
}

/// Merges the values of this command over those that the installation was given earlier, and prints what is kept.
void keep_given_values(Session& session, Cluster& cluster, GivenValues given, json::object& values) {
  const std::string kept = kube::join_some(model::paths_of(given.values), max_named);
  if (given.is_recorded)
    session.output().info(cluster.scope(), "keeps the values that it was given: " + kept);
  else
    session.output().warn(
        cluster.scope(), "was installed before values were recorded; what its Deployment and ConfigMap show is kept: " +
                             (kept.empty() ? "nothing but defaults" : kept) +
                             "; give again what else it had (resources, placement, labels, extraArgs, metrics, "
                             "custom resources)");
  chart::overlay(given.values, values);
  values = std::move(given.values);
}

/// Marks a namespace that is created for Liqo, so that it is deleted with Liqo.
asio::awaitable<Result<void>> mark_namespace(Cluster& cluster, json::value& manifest) {
  KUBE_CO_TRY(space, co_await cluster.find(kube::resources::namespaces, {"", cluster.liqo_namespace()}));
  if (space && space->annotation(model::made_by) != model::made_by_liqoctl) co_return Result<void>();
  kube::ensure_object(kube::ensure_object(manifest.as_object(), "metadata"), "annotations")[model::made_by] =
      model::made_by_liqoctl;
  co_return Result<void>();
}

/// Prints what would change, and writes nothing.
asio::awaitable<Result<void>> show_changes(Cluster& cluster, std::vector<json::value> manifests, bool only_these) {
  KUBE_CO_TRY(changes, co_await plan_changes(cluster, manifests, only_these));
  cluster.output().print(model::in_lines(changes));
  cluster.output().success(cluster.scope(), model::count_changes(changes) + "; nothing was written");
  co_return Result<void>();
}

/// Prints which values would change.
void show_values(Output& output, const json::object& before, const json::object& after) {
  std::string out;
  for (const std::string& line : model::differences(json::value(before), json::value(after)))
    out += "    " + line + "\n";
  if (!out.empty()) output.print("~ values\n" + out);
}

/// Helm's hook runs this too, if Helm has installed the rest. Its rights allow changes of the CRDs and nothing else.
asio::awaitable<Result<void>> install_kinds(Session& session, const Flags& flags) {
  KUBE_CO_TRY(definitions, model::kinds_of_chart(chart_files()));
  if (flags.print) {
    print(session, definitions);
    co_return Result<void>();
  }
  KUBE_CO_TRY(opened, co_await session.local_without_id());
  KUBE_CO_TRYV(co_await check_cluster(*opened, definitions));
  if (flags.dry_run) co_return co_await show_changes(*opened, std::move(definitions), true);
  KUBE_CO_TRYV(co_await apply_all(session, *opened, definitions));
  session.output().success("", "the CRDs are up to date: all " + std::to_string(definitions.size()) + " are served");
  co_return Result<void>();
}

/// The manifests, the values that made them, and the values that the present installation was given.
struct Prepared {
  json::object before, values;
  std::vector<json::value> manifests;
};
/// Reads from the cluster, and writes nothing.
asio::awaitable<Result<Prepared>> prepare(Session& session, Cluster& cluster, const Flags& flags, json::object values) {
  const std::string ns = session.flags().liqo();
  KUBE_CO_TRY(there, co_await look_for_installation(cluster));
  KUBE_CO_TRYV(check_installers(there, ns, "upgrade"));
  Prepared out;
  if (!there.ns.empty()) {
    KUBE_CO_TRY(given, co_await read_given_values(cluster));
    out.before = given.values;
    if (!flags.reset_values) keep_given_values(session, cluster, std::move(given), values);
  }
  KUBE_CO_TRYV(co_await settle_id(cluster, values));
  KUBE_CO_TRY(made, model::installation(chart_files(), values, ns));
  report_without_effect(session, made);
  KUBE_CO_TRYV(co_await check_cluster(cluster, made.manifests));
  KUBE_CO_TRYV(co_await mark_namespace(cluster, made.manifests.front()));
  // Placed behind the namespace, and before anything that may fail.
  const Object last(made.manifests.back().as_object());
  made.manifests.insert(made.manifests.begin() + 1, model::forge_given_values(last, ns, values).tree());
  out.values = std::move(values);
  out.manifests = std::move(made.manifests);
  co_return out;
}

asio::awaitable<Result<void>> install(Session& session, const Flags& flags) {
  KUBE_CO_TRYV(check_output(session, flags));
  if (flags.kinds) co_return co_await install_kinds(session, flags);
  KUBE_CO_TRY(own, co_await look_at_platform(session, flags.platform));
  KUBE_CO_TRY(values, read_values(flags, std::move(own)));
  if (flags.print) {
    KUBE_CO_TRY(made, model::installation(chart_files(), values, session.flags().liqo()));
    report_without_effect(session, made);
    print(session, made.manifests);
    co_return Result<void>();
  }
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(prepared, co_await prepare(session, cluster, flags, std::move(values)));
  if (flags.dry_run) {
    show_values(session.output(), prepared.before, prepared.values);
    co_return co_await show_changes(cluster, std::move(prepared.manifests), false);
  }
  KUBE_CO_TRYV(co_await apply_installation(session, cluster, prepared.manifests));
  const bool has_daemon = kube::string_at(prepared.manifests.back(), {"kind"}) == kinds::deployments.kind;
  if (!has_daemon || !flags.wait) {
    session.output().success("", std::to_string(prepared.manifests.size()) + " objects applied");
    co_return Result<void>();
  }
  KUBE_CO_TRYV(co_await wait_for_daemon(session, cluster));
  co_await warn_of_daemon_sets(cluster);
  session.output().success("", "Liqo runs as cluster " + id_of(prepared.values) + co_await find_next_step(cluster));
  co_return Result<void>();
}

}  // namespace

void add_install(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  const cli::Command app = line.command(
      line.root(), {"install", "Install Liqo, or bring it up to date"},
      {.namespaces = Namespaces::liqo,
       .prints = Prints::objects,
       .timeout = std::chrono::minutes(10),
       .aliases = {"upgrade"},
       .examples =
           "  liqoctl install --cluster-id rome --set image.repository=localhost/liqo/liqod\n"
           "  liqoctl install k3s --cluster-id rome --set image.repository=localhost/liqo/liqod\n"
           "  liqoctl install --cluster-id rome -f values.yaml --print | kubectl apply --server-side -f -\n"
           "  liqoctl upgrade -f values.yaml --dry-run\n"
           "  liqoctl upgrade -f values.yaml \\\n"
           "    --set offloading.defaultNodeResources.cpu=2 --set offloading.defaultNodeResources.memory=4Gi \\\n"
           "    --set controllerManager.config.defaultLimitsEnforcement=Hard\n"
           "Values are those that the installation was given before, which are recorded in its namespace, with those\n"
           "of this command line and of its files over them; all others are the defaults. --print shows what the\n"
           "command line alone gives. A cluster keeps its ID."},
      [flags](Session& session) { return install(session, *flags); });
  const auto read = [flags](const std::string& name) -> Result<void> {
    KUBE_TRY(platform, model::read_platform(name));
    flags->platform = platform;
    return {};
  };
  app.option("platform", read, "kubeadm, k3s or openshift: takes over what it reports of itself (ranges of pods)")
      .type_name("PLATFORM");
  app.flag("--print", flags->print, "Print the manifests, and ask no cluster");
  app.flag("--dry-run", flags->dry_run, "Show what would change in the cluster; nothing is written");
  app.flag("--wait", flags->wait, "Wait until every replica runs (default true)");
  check_cluster_id(app.option("--cluster-id", flags->cluster_id, "ID of the cluster, by which peers know it"));
  app.option("--api-server-url", flags->api_server, "URL by which consumers reach the API server").type_name("URL");
  check_ranges(app.list("--pod-cidr", flags->pod_cidrs,
                        "Range of this cluster's pod addresses, which liqoctl peer proposes to peers")
                   .type_name("RANGE"));
  app.list("-f,--values", flags->values, "File of values; later ones win").type_name("FILE");
  app.list("--set", flags->set, "A value, e.g. controllerManager.config.defaultLimitsEnforcement=Hard")
      .type_name("KEY=VALUE");
  app.list("--set-string", flags->set_string, "A value that is always a string").type_name("KEY=VALUE");
  app.flag("--reset-values", flags->reset_values, "Forget what it was given before: other values are the defaults");
  app.flag("--kinds", flags->kinds, "Only bring the CRDs (CustomResourceDefinitions) up to date");
  app.flag("--deployment", flags->deployment, "Install the daemon, too (default true)");
}

}  // namespace liqoctl
