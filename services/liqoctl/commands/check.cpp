// liqoctl check: examines everything that an installation needs, and says what to do about each part that is not well.
#include "model/check/check.hpp"
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/slices/policy.hpp"
#include "core/usage/front_proxy.hpp"
#include "core/usage/metrics_api.hpp"
#include "installation/chart.hpp"
#include "installation/daemon.hpp"
#include "installation/installed.hpp"
#include "kube/async/finally.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/access_review.hpp"
#include "kube/net/tls/x509.hpp"
#include "liqo/api/auth_params.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "model/check/daemon_sets.hpp"
#include "model/install/daemon_arguments.hpp"
#include "model/install/install.hpp"
#include "model/tenant/tenant_policy.hpp"
#include "peering/addresses.hpp"
#include "session/daemon_sets.hpp"
#include "session/miscounted.hpp"
#include "session/topology_hints.hpp"
#include "text/yaml.hpp"
#include "volumes/kept_twins.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
using namespace std::chrono_literals;
using model::Finding;
using model::State;

constexpr kube::Duration patience = 10s;

model::Certificate certificate_of(std::string what, const std::string& pem) {
  model::Certificate certificate{.what = std::move(what)};
  if (const auto info = kube::net::read_certificate(pem))
    certificate.times = model::Certificate::Times{.from = info->not_before, .until = info->not_after};
  return certificate;
}

/// The findings about one cluster. An object that cannot be read becomes a finding of its own.
class Checkup {
 public:
  Checkup(Session& session, Cluster& cluster) : session_(session), cluster_(cluster) {}

  asio::awaitable<std::vector<Finding>> run();

 private:
  /// All objects of a kind. If they cannot be read: none, and a finding.
  asio::awaitable<std::vector<Object>> all(std::string about, kube::Resource kind);
  /// The objects of the cluster that have the names of these manifests. If they cannot be read: none, and a finding.
  asio::awaitable<std::vector<Object>> those(std::string about, kube::Resource kind,
                                             const std::vector<kube::json::value>& manifests);
  /// Whether there is a finding about this already. Nothing more is reported about it then.
  bool is_reported(std::string_view about) const;
  void report(Finding finding);
  /// Runs a look at something that needs a running liqod. If liqod does not run, that is the finding, and this look
  /// adds none.
  asio::awaitable<void> look_if_it_runs(std::string about, asio::awaitable<void> (Checkup::*look)());

  asio::awaitable<void> look_at_installation();
  asio::awaitable<void> look_at_kinds();
  asio::awaitable<void> look_at_rights();
  asio::awaitable<void> look_at_virtual_kubelets();
  asio::awaitable<void> look_at_versions();
  asio::awaitable<void> look_at_webhooks();
  asio::awaitable<void> look_at_certificates();
  asio::awaitable<void> look_at_address();
  asio::awaitable<void> look_at_kubelet_api();
  asio::awaitable<void> look_at_metrics();
  asio::awaitable<void> look_at_usage();
  asio::awaitable<void> look_at_usage_account();
  /// Whether a ServiceAccount in Liqo's namespace has a right. No value if this user may not ask.
  asio::awaitable<std::optional<bool>> may(std::string account, kube::json::object attributes);
  asio::awaitable<void> look_at_sharing();
  asio::awaitable<void> look_at_policies();
  asio::awaitable<void> look_at_peers();
  asio::awaitable<void> look_at_kept_twins();
  asio::awaitable<void> look_at_placement();
  asio::awaitable<std::string> reach(model::ApiServerAddress address);

  Session& session_;
  Cluster& cluster_;
  std::optional<Object> deployment_;
  std::vector<Object> nodes_, tenants_, virtual_nodes_;
  std::vector<Finding> findings_;
};

bool Checkup::is_reported(std::string_view about) const {
  return std::ranges::find(findings_, about, &Finding::about) != findings_.end();
}

void Checkup::report(Finding finding) {
  // Other clusters and the API server have written parts of the text.
  finding.text = kube::printable(finding.text);
  if (!is_reported(finding.about)) findings_.push_back(std::move(finding));
}

asio::awaitable<void> Checkup::look_if_it_runs(std::string about, asio::awaitable<void> (Checkup::*look)()) {
  const bool is_down = !model::daemon_alert(deployment_ ? &*deployment_ : nullptr).empty();
  if (is_down) {
    report({std::move(about), State::open, "not looked at: liqod does not run"});
  } else {
    co_await (this->*look)();
  }
}

asio::awaitable<std::vector<Object>> Checkup::all(std::string about, kube::Resource kind) {
  auto found = co_await cluster_.list(kind, "");
  if (found) co_return std::move(*found);
  // A missing kind has no objects; the look at the kinds reports it.
  if (!found.error().is_not_found())
    report({std::move(about), State::bad, "cannot be looked at: " + found.error().text()});
  co_return std::vector<Object>();
}

asio::awaitable<std::vector<Object>> Checkup::those(std::string about, kube::Resource kind,
                                                    const std::vector<kube::json::value>& manifests) {
  std::vector<Object> there;
  for (const kube::json::value& manifest : manifests) {
    if (kube::string_at(manifest, {"kind"}) != kind.kind) continue;
    auto found = co_await cluster_.find(kind, Object(manifest.as_object()).key());
    if (!found) {
      report({std::move(about), State::bad, "cannot be looked at: " + found.error().text()});
      break;
    }
    if (*found) there.push_back(std::move(**found));
  }
  co_return there;
}

asio::awaitable<void> Checkup::look_at_kinds() {
  const auto definitions = model::kinds_of_chart(chart_files());
  if (!definitions) {
    report({"CRDs", State::bad, definitions.error().text()});
    co_return;
  }
  report(model::judge_kinds(*definitions, co_await those("CRDs", kinds::custom_resource_definitions, *definitions)));
}

asio::awaitable<void> Checkup::look_at_rights() {
  // Which roles there are depends on the values, which the daemon's arguments show.
  auto chart = model::installation(chart_files(), model::values_of_rights(deployment_ ? &*deployment_ : nullptr),
                                   cluster_.liqo_namespace());
  if (!chart) {
    report({"rights", State::bad, "what the arguments of liqod need cannot be told: " + chart.error().text()});
    co_return;
  }
  std::vector<Object> rights;
  for (const kube::Resource& kind :
       {kinds::cluster_roles, kinds::roles, kinds::cluster_role_bindings, kinds::role_bindings})
    for (Object& object : co_await those("rights", kind, chart->manifests)) rights.push_back(std::move(object));
  report(model::judge_rights(chart->manifests, rights));
}

asio::awaitable<void> Checkup::look_at_installation() {
  co_await look_at_kinds();
  auto found = co_await cluster_.find(kinds::deployments, {cluster_.liqo_namespace(), "liqod"});
  if (found) deployment_ = std::move(*found);
  co_await look_at_rights();
  if (!found) {
    report({"liqod", State::bad, "cannot be looked at: " + found.error().text()});
    co_return;
  }
  auto state = co_await look_at_daemon(cluster_);
  report(model::judge_daemon(deployment_ ? &*deployment_ : nullptr, !state        ? state.error().text()
                                                                    : state->done ? std::string()
                                                                                  : state->seen));
}

asio::awaitable<void> Checkup::look_at_virtual_kubelets() {
  const auto found = co_await find_virtual_kubelets(cluster_);
  if (!found) {
    report({"virtual kubelets", State::bad, "cannot be looked at: " + found.error().text()});
  } else if (auto finding = model::judge_virtual_kubelets(*found)) {
    report(std::move(*finding));
  }
}

asio::awaitable<void> Checkup::look_at_versions() {
  const auto here = co_await read_liqod_version(cluster_);
  std::string peer;
  if (session_.flags().remote.is_given()) {
    auto remote = co_await session_.remote();
    auto version = remote ? co_await read_liqod_version(**remote) : Result<std::string>();
    if (!remote || !version) {
      report({"versions", State::bad,
              "that of the other cluster: " + (remote ? version.error().text() : remote.error().text())});
      co_return;
    }
    peer = *version;
    Finding clock = model::judge_clock((*remote)->api().clock_ahead());
    clock.about = "clock of the peer";
    report(std::move(clock));
  }
  report(model::judge_versions(here.value_or(""), peer, LIQOCTL_VERSION));
}

asio::awaitable<void> Checkup::look_at_webhooks() {
  std::size_t configurations = 0;
  for (const kube::Resource& kind : {kinds::mutating_configurations, kinds::validating_configurations})
    for (const Object& object : co_await all("webhooks", kind))
      configurations += object.name() == liqo::api::webhook_configuration;
  // The webhooks refuse a NamespaceOffloading of any other name than its own. Nothing is stored in any case.
  Object wrong = Object::make(kinds::namespace_offloadings, {"default", "liqoctl-check"});
  wrong.mutable_spec();
  auto taken = co_await cluster_.api().create(kinds::namespace_offloadings, wrong, {.dry_run = true});
  std::optional<std::string> refusal;
  if (!taken) refusal = taken.error().text();
  report(model::judge_webhooks(deployment_ ? &*deployment_ : nullptr, configurations, refusal));
}

asio::awaitable<void> Checkup::look_at_certificates() {
  std::vector<model::Certificate> found;
  auto secret = co_await cluster_.find(kube::resources::secrets,
                                       {cluster_.liqo_namespace(), std::string(liqo::api::webhook_certificate_secret)});
  if (!secret) {
    report({"certificates", State::bad, "that of the webhooks cannot be looked at: " + secret.error().text()});
    co_return;
  }
  if (*secret) found.push_back(certificate_of("that of the webhooks", liqo::core::secret_bytes(**secret, "tls.crt")));
  for (const Object& identity : co_await all("certificates", kinds::identities)) {
    const auto params = liqo::api::read_auth_params(kube::object_at(identity.spec(), {"authParams"}));
    if (params && params->certificate_pem.empty()) continue;
    found.push_back(certificate_of("that of Identity " + identity.key().text(), params ? params->certificate_pem : ""));
  }
  report(model::judge_certificates(found, session_.clock().wall()));
}

asio::awaitable<std::string> Checkup::reach(model::ApiServerAddress address) {
  auto url = kube::wire::parse_server_url(address.url);
  if (!url) co_return url.error().text();
  // No credentials: any response shows that the server is there and has the right certificate.
  kube::wire::ClusterConfig config{.server = std::move(*url), .cluster = "API server"};
  if (!address.ca_pem.empty()) {
    config.ca_pem = std::move(address.ca_pem);
  } else if (!address.public_ca) {
    auto root = co_await cluster_.find(kube::resources::config_maps, {cluster_.liqo_namespace(), "kube-root-ca.crt"});
    if (!root) co_return root.error().text();
    if (*root) config.ca_pem = std::string(kube::string_at((*root)->tree(), {"data", "ca.crt"}));
  }
  auto anonymous =
      co_await Cluster::open({.outside = session_.context(), .output = session_.output(), .flags = session_.flags()},
                             Side::local, std::move(config));
  if (!anonymous) co_return anonymous.error().text();
  auto answer = co_await kube::async::finally((*anonymous)->api().raw("/version", patience), (*anonymous)->stop());
  co_return answer || answer.error().status() ? std::string() : answer.error().text();
}

asio::awaitable<void> Checkup::look_at_address() {
  const kube::wire::ClusterConfig& own = cluster_.config();
  const model::ApiServerAddress address = model::told_address(deployment_ ? &*deployment_ : nullptr, tenants_, nodes_,
                                                              "https://" + own.server.host_port() + own.server.path);
  report(model::judge_address(address, address.url.empty() ? "" : co_await reach(address)));
}

asio::awaitable<void> Checkup::look_at_kubelet_api() {
  std::vector<std::pair<std::string, std::string>> answers;
  for (const Object& node : nodes_) {
    if (node.label(liqo::api::labels::type) != liqo::api::labels::type_virtual_node) continue;
    auto answer = co_await cluster_.api().raw("/api/v1/nodes/" + std::string(node.name()) + "/proxy/healthz", patience);
    // A virtual node that shares its port responds with 501. The API server responds otherwise if it does not reach the
    // node.
    const int code = answer ? 200 : answer.error().http_code();
    const bool answered = code != 0 && (code < 500 || code == 501);
    answers.emplace_back(node.name(), answered ? "" : answer.error().text());
  }
  report(model::judge_kubelet_api(answers));
}

asio::awaitable<void> Checkup::look_at_metrics() {
  const std::string ns = cluster_.liqo_namespace();
  auto service = co_await cluster_.find(kube::resources::services, {ns, std::string(liqo::api::metrics_service)});
  auto policy = co_await cluster_.find(kinds::network_policies, {ns, "liqod"});
  for (const auto* found : {&service, &policy})
    if (!*found) {
      report({"metrics", State::bad, "cannot be looked at: " + found->error().text()});
      co_return;
    }
  const kube::Object* daemon = deployment_ ? &*deployment_ : nullptr;
  model::MetricsSnapshot snapshot{.has_service = service->has_value()};
  snapshot.confined = policy->has_value() && model::is_confined(**policy, model::metrics_port(daemon));
  if (daemon && snapshot.has_service) {
    const std::string scheme = model::has_secure_metrics(daemon) ? "https" : "http";
    // A path that does not exist keeps the response small. A secure port serves nothing to a caller without a token.
    auto answer = co_await cluster_.api().raw("/api/v1/namespaces/" + ns + "/services/" + scheme + ":" +
                                                  std::string(liqo::api::metrics_service) + ":metrics/proxy/",
                                              patience);
    const int code = answer ? 200 : answer.error().http_code();
    if (code != 200 && code != 401 && code != 404) snapshot.trouble = answer.error().text();
  }
  report(model::judge_metrics(daemon, snapshot));
}

asio::awaitable<void> Checkup::look_at_usage() {
  auto service =
      co_await cluster_.find(liqo::api::kinds::api_services, {"", std::string(liqo::core::metrics_api_service)});
  if (!service) {
    report({"pod metrics", State::bad, "cannot be looked at: " + service.error().text()});
    co_return;
  }
  const auto map = co_await cluster_.find(kube::resources::config_maps, liqo::core::authentication_map);
  const std::string ns = cluster_.liqo_namespace();
  report(
      model::judge_usage(deployment_ ? &*deployment_ : nullptr,
                         {.api_service = *service ? &**service : nullptr,
                          .ns = ns,
                          .has_front_proxy = !map || (*map && !liqo::core::read_front_proxy(**map).ca_pem.empty())}));
}

asio::awaitable<std::optional<bool>> Checkup::may(std::string account, kube::json::object attributes) {
  kube::json::object spec{{"user", "system:serviceaccount:" + cluster_.liqo_namespace() + ":" + account},
                          {"resourceAttributes", std::move(attributes)}};
  const auto allowed = co_await kube::has_access(cluster_.api(), std::move(spec));
  co_return allowed ? std::optional(*allowed) : std::nullopt;
}

asio::awaitable<void> Checkup::look_at_usage_account() {
  const std::string ns = cluster_.liqo_namespace(), name(liqo::api::metric_agent_account);
  const auto account = co_await cluster_.find(kube::resources::service_accounts, {ns, name});
  if (!account) {
    report({"kubelet metrics", State::bad, "cannot be looked at: " + account.error().text()});
    co_return;
  }
  model::UsageAccount seen{.exists = account->has_value()};
  if (seen.exists) {
    seen.may_liqod_have_token = co_await may("liqo", kube::json::object{{"namespace", ns},
                                                                        {"resource", "serviceaccounts"},
                                                                        {"subresource", "token"},
                                                                        {"name", name},
                                                                        {"verb", "create"}});
    seen.may_read_usage =
        co_await may(name, kube::json::object{{"resource", "nodes"}, {"subresource", "metrics"}, {"verb", "get"}});
  }
  if (auto found = model::judge_usage_account(deployment_ ? &*deployment_ : nullptr, seen, ns))
    report(std::move(*found));
}

asio::awaitable<void> Checkup::look_at_sharing() {
  const auto map = co_await cluster_.find(kube::resources::config_maps,
                                          {cluster_.liqo_namespace(), std::string(liqo::core::policy_config_map)});
  if (!map) {
    report({"settings", State::bad, "cannot be looked at: " + map.error().text()});
    co_return;
  }
  const Object* settings = *map ? &**map : nullptr;
  report(model::judge_sharing(settings, tenants_));
  // Not every user may list StorageClasses.
  if (!model::offers_storage(settings)) co_return;
  if (auto finding = model::judge_storage(settings, co_await all("storage", kinds::storage_classes)))
    report(std::move(*finding));
}

asio::awaitable<void> Checkup::look_at_policies() {
  const auto namespaces =
      co_await cluster_.list(kube::resources::namespaces, "", liqo::core::marked_tenant_namespaces().label_selector);
  if (!namespaces) {
    report({"policies", State::bad, "cannot be looked at: " + namespaces.error().text()});
  } else if (auto finding = model::judge_policies(*namespaces)) {
    report(std::move(*finding));
  }
}

asio::awaitable<void> Checkup::look_at_peers() {
  const auto peers = co_await all("peers", kinds::foreign_clusters);
  auto own = co_await own_ranges(session_, cluster_, {});
  report(own ? model::judge_ranges(peers, *own) : Finding{"addresses", State::bad, own.error().text()});
  const auto quotas = co_await all("quotas", kinds::quotas);
  report(model::judge_quotas(quotas, tenants_));
  if (auto finding = model::judge_capacity(quotas, nodes_, tenants_)) report(std::move(*finding));
  const model::ClosingObjects lending{.slices = co_await all("slices", kinds::resource_slices),
                                      .tenants = tenants_,
                                      .virtual_nodes = virtual_nodes_,
                                      .nodes = nodes_};
  for (Finding& finding : model::judge_peers(peers, lending)) report(std::move(finding));
}

asio::awaitable<void> Checkup::look_at_kept_twins() {
  const auto kept = co_await find_kept_twins(cluster_, "", "");
  if (!kept) report({"remote namespaces", State::bad, "cannot be looked at: " + kept.error().text()});
  if (kept && !kept->empty())
    report({"remote namespaces", State::bad,
            kept->front().why + (kept->size() == 1 ? "" : " (and " + std::to_string(kept->size() - 1) + " more)")});
}

asio::awaitable<void> Checkup::look_at_placement() {
  const auto snapshot = co_await look_at_daemon_sets(cluster_);
  if (!snapshot) {
    report({"daemonsets", State::bad, "cannot be looked at: " + snapshot.error().text()});
  } else {
    if (auto finding = model::judge_daemon_sets(snapshot->sitting, snapshot->nodes)) report(std::move(*finding));
    if (auto finding = model::judge_elsewhere_daemon_sets(snapshot->elsewhere, snapshot->nodes))
      report(std::move(*finding));
  }
  const auto report_words = [this](std::string about, const Result<std::string>& words) {
    if (!words) {
      report({std::move(about), State::bad, "cannot be looked at: " + words.error().text()});
    } else if (!words->empty()) {
      report({std::move(about), State::bad, *words});
    }
  };
  report_words("topology hints", co_await look_at_topology_hints(cluster_, nodes_));
  report_words("topology spread", co_await look_at_miscounts(cluster_, nodes_));
}

asio::awaitable<std::vector<Finding>> Checkup::run() {
  co_await look_at_installation();
  co_await look_at_virtual_kubelets();
  report(model::judge_clock(cluster_.api().clock_ahead()));
  co_await look_at_versions();
  co_await look_if_it_runs("webhooks", &Checkup::look_at_webhooks);
  co_await look_at_certificates();
  nodes_ = co_await all("nodes", kube::resources::nodes);
  tenants_ = co_await all("tenants", kinds::tenants);
  co_await look_at_address();
  virtual_nodes_ = co_await all("virtual nodes", kinds::virtual_nodes);
  if (auto found = model::judge_node_names(virtual_nodes_)) report(std::move(*found));
  co_await look_if_it_runs("kubelet API", &Checkup::look_at_kubelet_api);
  co_await look_if_it_runs("metrics", &Checkup::look_at_metrics);
  co_await look_if_it_runs("pod metrics", &Checkup::look_at_usage);
  co_await look_at_usage_account();
  if (auto found = model::judge_egress_selector(nodes_)) report(std::move(*found));
  co_await look_at_sharing();
  co_await look_at_policies();
  co_await look_at_peers();
  co_await look_at_kept_twins();
  co_await look_at_placement();
  model::put_first_things_first(findings_);
  co_return std::move(findings_);
}

asio::awaitable<Result<void>> check(Session& session) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  // If this request gets no response, nothing can be checked.
  KUBE_CO_TRYV(co_await cluster.id());
  session.output().doing(cluster.scope(), "looking at the installation");
  const std::vector<Finding> findings = co_await Checkup(session, cluster).run();
  session.output().clear();
  switch (session.flags().output) {
    case Format::json:
      session.output().print(text::pretty_json(model::document(findings)));
      break;
    case Format::yaml:
      session.output().print(text::yaml(model::document(findings)));
      break;
    default:
      session.output().print(model::render(findings, session.output().palette()));
  }
  const auto bad = std::ranges::count(findings, State::bad, &Finding::state);
  if (bad > 0)
    co_return kube::fail(kube::Errc::invalid_input, std::to_string(bad) + " of " + std::to_string(findings.size()) +
                                                        " checks failed: each says above what to do");
  co_return Result<void>();
}

}  // namespace

void add_check(CommandLine& line) {
  line.command(line.root(), {"check", "Check that the installation of Liqo works, and say what to do if it does not"},
               {.namespaces = Namespaces::liqo,
                .clusters = Clusters::one_or_two,
                .prints = Prints::objects,
                .examples = "  liqoctl check\n"
                            "  liqoctl check --remote-kubeconfig milan.yaml\n"
                            "  liqoctl check -o json\n"
                            "The remote cluster is asked for its version and its time, if one is named.\n"
                            "Ends with 1 if something is not well. Nothing is changed."},
               [](Session& session) { return check(session); });
}

}  // namespace liqoctl
