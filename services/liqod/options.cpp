#include "options.hpp"

#include <arpa/inet.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "kube/base/base64.hpp"
#include "kube/base/duration.hpp"
#include "liqo/core/addresses/ip.hpp"
#include "liqo/core/names.hpp"
#include "liqo/core/peering/api_server_address.hpp"
#include "liqo/reflection/policy.hpp"

namespace liqod {
namespace {

std::string check_ip(const std::string& text) {
  unsigned char bytes[16];
  const bool valid = inet_pton(AF_INET, text.c_str(), bytes) == 1 || inet_pton(AF_INET6, text.c_str(), bytes) == 1;
  return valid ? "" : "is not an IP address: " + text;
}

std::string check_label(const std::string& text) {
  return liqo::core::is_dns_label(text) ? "" : "is not a DNS label (a-z, 0-9 and '-', at most 63): " + text;
}

// The library makes much code of every call and of every type: here each type has one call of it.

CLI::Option* add_text(CLI::App& app, const char* name, std::string& into, const char* what) {
  return app.add_option(name, into, what);
}

/// What it is without the option shows in the help.
CLI::Option* add_preset(CLI::App& app, const char* name, std::string& into, const char* what) {
  return add_text(app, name, into, what)->capture_default_str();
}

CLI::Option* add_texts(CLI::App& app, const char* name, std::vector<std::string>& into, const char* what) {
  return app.add_option(name, into, what);
}

CLI::Option* add_port(CLI::App& app, const char* name, std::uint16_t& into, int least, const char* what) {
  return app.add_option(name, into, what)->check(CLI::Range(least, 65535))->capture_default_str();
}

CLI::Option* add_count(CLI::App& app, const char* name, int& into, int most, const char* what) {
  return app.add_option(name, into, what)->check(CLI::Range(1, most))->capture_default_str();
}

CLI::Option* add_flag(CLI::App& app, const char* name, bool& into, const char* what) {
  return app.add_flag(name, into, what);
}

/// One of the names, or its number; `shown` is how the help tells them, by default all of them with their numbers.
CLI::Option* add_choice(CLI::App& app, const char* name, const std::map<std::string, int>& known,
                        const std::function<void(const int&)>& take, const char* what, const char* shown = nullptr) {
  CLI::CheckedTransformer names(known);
  if (shown) names.description(shown);
  return app.add_option_function(name, take, what)->type_name("ENUM")->transform(names);
}

/// Entries "key=value", separated by commas; the first '=' ends the key. Values of labels have a form, those of
/// annotations have none. The complaint, "" if all is well.
std::string read_entries(const std::vector<std::string>& texts, bool are_labels,
                         std::map<std::string, std::string>& out) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return "is not key=value,...: " + text;
    std::string key = text.substr(0, equals), value = text.substr(equals + 1);
    if (!liqo::core::is_label_key(key)) return "has a key that no label or annotation can have: " + text;
    if (are_labels && !liqo::core::is_label_value(value)) return "has a value that no label can have: " + text;
    out.insert_or_assign(std::move(key), std::move(value));
  }
  return "";
}

/// Keys separated by commas; none at all is written as "". They take the place of those that were there.
void add_keys(CLI::App& app, const char* name, std::vector<std::string>& into, const char* what) {
  const auto take = [name, &into](const std::vector<std::string>& texts) {
    into.clear();
    for (const std::string& text : texts)
      for (const std::string& key : CLI::detail::split(text, ',')) {
        if (key.empty() || key == "{}") continue;
        if (!liqo::core::is_label_key(key))
          throw CLI::ValidationError(name, "is a key that no label or annotation can have: " + key);
        into.push_back(key);
      }
    return true;
  };
  // The library takes an empty value for none.
  app.add_option(name, take, what)->type_name("TEXT")->expected(0, 1)->take_all();
}

/// Kinds that no table has.
void add_custom_resources(CLI::App& app, liqo::controllers::Settings& settings) {
  app.add_option(
         "--reflect-custom",
         [&settings](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             auto read = liqo::reflection::read_custom_resource(text);
             if (!read) throw CLI::ValidationError("--reflect-custom", read.error().text());
             const std::string name = read->resource.name();
             for (const auto& known : settings.custom_resources)
               if (known.name() == name) throw CLI::ValidationError("--reflect-custom", "names " + name + " twice");
             settings.reflection.set({.name = name, .resource = {}, .forge = nullptr}, read->policy);
             settings.custom_resources.push_back(std::move(read->resource));
           }
           return true;
         },
         "A custom resource to reflect, by the name of its definition, such as "
         "widgets.example.org,status,type=AllowList,workers=8: with its status coming home, and as is said of other "
         "kinds (DenyList, 32). May be given again")
      ->type_name("TEXT")
      ->expected(1)
      ->take_all();
}

/// What is reflected of each kind.
void add_policies(CLI::App& app, liqo::reflection::Policies& policies) {
  namespace reflection = liqo::reflection;
  for (const reflection::ReflectedKind* kind : reflection::reflected_kinds()) {
    const std::string option = "--" + reflection::option_name(*kind) + "-reflection-";
    const std::string plural(kind->name == "Ingress" ? "Ingresses" : std::string(kind->name) + "s");
    app.add_option_function<int>(
           option + "workers",
           [&policies, kind](const int& workers) {
             reflection::KindPolicy policy = policies.of(*kind);
             policy.workers = workers;
             policies.set(*kind, policy);
           },
           plural +
               " worked on at a time, per provider; 0: none is reflected, and what is there already stays as it is")
        ->check(CLI::Range(0, reflection::max_workers))
        ->default_str(std::to_string(policies.of(*kind).workers));
    if (!kind->typed_as.empty()) continue;
    std::vector<std::string> types;
    for (const reflection::SelectionPolicy selection : reflection::selections_of(*kind))
      types.emplace_back(reflection::name_of(selection));
    app.add_option_function<std::string>(
           option + "type",
           [&policies, kind](const std::string& type) {
             reflection::KindPolicy policy = policies.of(*kind);
             policy.selection =
                 reflection::read_selection(*kind, type).value_or(reflection::SelectionPolicy::allow_list);
             policies.set(*kind, policy);
           },
           (kind->referred_only ? "Which " + plural +
                                      " are reflected: those that are referred to or annotated (DenyList), only "
                                      "those annotated liqo.io/allow-reflection (AllowList), or all but those "
                                      "annotated liqo.io/skip-reflection (All)"
                                : "Which " + plural +
                                      " are reflected: all but those annotated liqo.io/skip-reflection (DenyList), or "
                                      "only those annotated liqo.io/allow-reflection (AllowList)"))
        ->check(CLI::IsMember(types))
        ->default_str(std::string(reflection::name_of(policies.of(*kind).selection)));
  }
}

/// Values that are read once all of them are known; what stands here is the default.
struct Texts {
  std::string lease_duration = "40s", ping_interval = "10s", ping_timeout = "5s", webhook_lifetime = "2160h",
              certificate_validity = "2160h";
  std::string peer_interval = "15s", peer_timeout = "5s", stop_delay = "5s", silence = "0", withdrawal_grace = "10m",
              figures_timeout = "5s";
  std::optional<bool> all_tokens;
  std::optional<liqo::core::ApiServerMode> tokens;
  std::vector<std::string> extra_labels, extra_annotations, twin_names;
  liqo::core::NamespaceSelectionTexts selection;
};

/// Which cluster is served, and where this process answers.
void add_cluster_options(CLI::App& app, Options& options) {
  auto& settings = options.settings;
  add_text(app, "--kubeconfig", options.kubeconfig,
           "Kubeconfig of the cluster to serve; in a pod, none is needed: its service account is used")
      ->check(CLI::ExistingFile);
  add_text(app, "--context", options.context, "Context of the kubeconfig; by default its current-context");
  add_text(app, "--cluster-id", settings.cluster_id, "ID of the cluster to serve, as its peers know it")
      ->required()
      ->check(check_label);
  add_preset(app, "--liqo-namespace", settings.liqo_namespace, "Namespace of Liqo's own objects")->check(check_label);
  add_text(app, "--node-ip", settings.node_ip,
           "Address of the virtual nodes: where the API server of the cluster reaches this process")
      ->required()
      ->check(check_ip);
  add_port(app, "--listen-port", settings.kubelet_ports.first, 1, "Port of the kubelet API");
  add_count(app, "--listen-port-count", settings.kubelet_ports.count, 4096,
            "How many ports, from that one upwards, virtual nodes share out among themselves: each has one of its own, "
            "and where too few are left some share the first; with 1 all do");
  add_preset(app, "--metrics-address", options.metrics_address, "host:port of /metrics");
  add_flag(
      app, "--metrics-secure", options.metrics_secure,
      "HTTPS for /metrics, and the API server is asked who calls and whether they may get that path (default true; "
      "--metrics-secure=false is plain HTTP for everybody)");
  add_text(app, "--metrics-cert-path", options.metrics_certificate_path,
           "Directory with the certificate that /metrics shows, tls.crt and tls.key, read again every 30 s; by default "
           "it is self-signed")
      ->check(CLI::ExistingDirectory);
  add_preset(app, "--health-probe-address", options.health_address, "host:port of /healthz and /readyz (HTTP)");

  app.add_flag_callback(
      "--metrics-hide-peers", [&options] { options.peer_names = PeerNames::numbered; },
      "/metrics and /readyz have numbers where they would name peers");
}

/// What virtual nodes are like, and which namespaces are offloaded to them.
void add_node_options(CLI::App& app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  add_preset(app, "--node-ping-interval", texts.ping_interval, "Time between two probes of a provider");
  add_preset(app, "--node-ping-timeout", texts.ping_timeout, "Time that a provider has to answer a probe");
  add_count(app, "--node-ping-failures", settings.probe_failures, 100,
            "Probes that must fail in a row until a virtual node is not Ready");
  add_preset(app, "--node-lease-duration", texts.lease_duration, "Validity of the heartbeat of virtual nodes");
  add_texts(app, "--node-extra-labels", texts.extra_labels,
            "Labels of every virtual node, key=value,...; those of a VirtualNode win over them")
      ->delimiter(',');
  add_texts(app, "--node-extra-annotations", texts.extra_annotations, "Annotations of every virtual node, likewise")
      ->delimiter(',');
  add_texts(app, "--refused-node-labels", settings.refused_node_labels,
            "Labels that providers may not set on their virtual nodes: key,... or domain/*; those of kubernetes.io and "
            "k8s.io domains never are theirs, but for region, zone and architecture")
      ->delimiter(',');
  add_text(app, "--offload-namespaces", texts.selection.selector,
           "Labels of namespaces that are offloaded as they are made, as kubectl -l has them: team=ml,!private. A "
           "namespace that loses them is offloaded no longer");
  add_preset(app, "--offload-namespaces-pod-strategy", texts.selection.pod_strategy,
             "podOffloadingStrategy of those namespaces: LocalAndRemote, Remote or Local")
      ->check(CLI::IsMember({"LocalAndRemote", "Remote", "Local"}));
  add_preset(app, "--offload-namespaces-mapping-strategy", texts.selection.mapping_strategy,
             "namespaceMappingStrategy of those namespaces: DefaultName or EnforceSameName")
      ->check(CLI::IsMember({"DefaultName", "EnforceSameName"}));
  add_texts(app, "--offload-namespaces-to", texts.selection.clusters,
            "Labels of the virtual nodes that those namespaces are offloaded to, likewise; may be given more than once "
            "(one is enough), by default every virtual node")
      ->allow_extra_args(false);
  add_preset(app, "--namespace-withdrawal-grace", texts.withdrawal_grace,
             "How long the twin of a namespace stays when its selector matches no virtual node since labels have "
             "changed");
}

/// What is copied to providers, and what one may cost.
void add_provider_options(CLI::App& app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  add_preset(app, "--foreign-cluster-ping-interval", texts.peer_interval,
             "Time between two probes of a peer's API server, whose result its ForeignCluster shows; 0 turns them off");
  add_preset(app, "--foreign-cluster-ping-timeout", texts.peer_timeout, "Time that a peer has to answer such a probe");
  add_count(app, "--pod-reflection-workers", settings.pod_workers, 1024, "Pods worked on at a time, per provider");
  add_policies(app, settings.reflection);
  add_custom_resources(app, settings);
  add_keys(app, "--labels-not-reflected", settings.not_reflected.labels,
           "Keys of labels that no reflected object and no ShadowPod has, key,...");
  add_keys(app, "--annotations-not-reflected", settings.not_reflected.annotations,
           "Keys of annotations, likewise; by default those that load balancers and Ingress controllers of clouds, "
           "MetalLB and OpenStack write, as in Go Liqo's chart; none if empty");
  add_count(app, "--provider-cache-mib", settings.provider_cache_mib, 1 << 20,
            "MiB of objects that are held of one provider; one that shows more has no session until it shows less");
  add_count(app, "--provider-cache-objects", settings.provider_cache_objects, 100'000'000, "Objects, likewise");
  add_count(app, "--provider-writes-per-second", settings.provider_writes_per_second, 100'000,
            "Writes in this cluster that one provider may cause by what it reports, after a burst of 5000");
  add_flag(app, "--disable-ip-reflection{false}", settings.reflect_ips,
           "Pods at home show no addresses, and no endpoints are reflected");
  add_flag(app, "--deny-direct-connections", settings.denies_direct_connections,
           "Endpoints of consumers' Services that are in a third cluster, as a consumer says, are left out");
  app.add_option(
         "--pod-cidr",
         [&settings](const std::vector<std::string>& values) {
           std::string joined;
           for (const std::string& value : values) joined += (joined.empty() ? "" : ",") + value;
           auto ranges = liqo::core::parse_ranges(joined);
           if (!ranges) throw CLI::ValidationError("--pod-cidr", ranges.error().text());
           settings.pod_cidrs = liqo::core::in_words(*ranges);
           return true;
         },
         "Range of the addresses of this cluster's pods, as peers are told (in ConfigMap liqo-clusterid-configmap); "
         "may "
         "be given again")
      ->expected(1)
      ->take_all();
  add_text(app, "--virtual-storage-class-name", settings.storage_class,
           "StorageClass whose claims get volumes where their pods run, here or in other clusters; its provisioner is "
           "liqo.io/storage. Without it there are no such volumes")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return liqo::core::is_dns_subdomain(text) ? "" : "is not the name of a StorageClass: " + text;
          },
          ""));
  add_preset(app, "--storage-namespace", settings.storage_namespace,
             "Namespace of the claims that hold the data of those volumes of that class which are in this cluster")
      ->check(check_label);
}

/// How pods, consumers and peers reach this cluster, and know it.
void add_identity_options(CLI::App& app, Options& options, Texts& texts) {
  auto& settings = options.settings;
  using liqo::core::ApiServerMode;
  add_choice(
      app, "--apiserver-support",
      {{"never", int(ApiServerMode::never)},
       {"needed", int(ApiServerMode::needed)},
       {"always", int(ApiServerMode::always)}},
      [&texts](int number) { texts.tokens = ApiServerMode(number); },
      "Which offloaded pods get service-account tokens for the API server of this cluster: those that run as a service "
      "account of their own or are annotated liqo.io/api-server-support=home, where --home-api-server-host says its "
      "address (needed), all, or none",
      "never, needed or always")
      ->default_str("needed");
  app.add_flag_function(
      "--enable-apiserver-support", [&texts](std::int64_t times) { texts.all_tokens = times > 0; },
      "As --apiserver-support=always, or, with =false, never; must not say another thing than that");
  add_text(app, "--home-api-server-host", settings.api_server_host,
           "Host by which offloaded pods reach that API server; without it nobody knows, and with always they ask "
           "kubernetes.default");
  add_text(app, "--home-api-server-port", settings.api_server_port, "Port of that API server");

  add_text(app, "--api-server-address-override", settings.api_server_override,
           "Host, host:port or URL by which consumers reach this API server; by default that of a control-plane "
           "node, port 6443, or else the server of the kubeconfig");
  add_text(app, "--ca-override", options.ca_override,
           "CA (base64 of PEM) by which consumers check this API server; by default that of the cluster");
  add_flag(app, "--trusted-ca", options.trusted_ca,
           "Consumers check this API server by the authorities that their system trusts");
  add_preset(app, "--identity-certificate-duration", texts.certificate_validity,
             "Validity that consumers' certificates are asked for; the cluster may give less");
  add_flag(app, "--tls-compatibility-mode", settings.rsa_keys,
           "The key of the cluster, where none is there yet, is RSA-2048 instead of Ed25519");
}

/// What consumers get. False where the defaults are malformed.
bool add_sharing_options(CLI::App& app, Options& options) {
  auto& settings = options.settings;
  // Each of these can be a key of the ConfigMap liqo-sharing-policy as well, which wins and is read while liqod runs.
  const auto add_policy = [&app, &settings](const std::string& name, const std::string& text) {
    const auto take = [&settings, name](const std::vector<std::string>& values) {
      std::string joined;
      for (const std::string& value : values) joined += (joined.empty() ? "" : ",") + value;
      if (auto set = liqo::core::set_policy(settings.slices, name, joined); !set)
        throw CLI::ValidationError("--" + name, set.error().text());
      return true;
    };
    return app.add_option("--" + name, take, text)->group("Sharing")->expected(1)->take_all();
  };
  const auto usual = liqo::core::set_policy(settings.slices, "default-node-resources",
                                            "cpu=4,memory=8Gi,pods=110,ephemeral-storage=20Gi");
  if (!usual) return false;
  add_policy("default-node-resources",
             "What a slice of class default is granted where it does not ask: name=quantity,... (cpu=4,memory=8Gi,"
             "pods=110,ephemeral-storage=20Gi)");
  add_policy("default-limits-enforcement",
             "What Quotas demand of pods: None (the default), Soft (requests) or Hard (limits equal to requests)");
  add_policy("default-resource-slice-class-enabled", "Whether slices of class default are served (true)");
  add_policy("share-resource-slice-class-enabled",
             "Whether slices of class share are served; by default, whether those of class default are");
  add_policy("sharing-percentage",
             "Part of the free resources that a slice of class share is granted (90); the annotation "
             "liqo.io/sharing-percentage of a Tenant says otherwise for one consumer");
  add_policy("cluster-labels", "Labels that the virtual nodes of this cluster's consumers get: name=value,...");
  add_policy("ingress-classes", "Ingress classes that consumers are offered: \"name;default,name2\"");
  add_policy("load-balancer-classes", "Load balancer classes that consumers are offered, likewise");
  // A flag, but also --enable-storage=false, as the chart writes it.
  app.add_option(
         "--enable-storage",
         [&settings](const std::vector<std::string>& values) {
           const std::string text =
               values.empty() || values.front().empty() || values.front() == "{}" ? "true" : values.front();
           if (auto set = liqo::core::set_policy(settings.slices, "enable-storage", text); !set)
             throw CLI::ValidationError("--enable-storage", set.error().text());
           return true;
         },
         "Offer consumers the storage classes of this cluster")
      ->group("Sharing")
      ->expected(0, 1);
  add_policy("real-storage-class-name", "The storage class that consumers get by default; else the cluster's default");
  return true;
}

/// What consumers may do, and who serves the answer.
void add_admission_options(CLI::App& app, Options& options, Texts& texts) {
  add_texts(
      app, "--twin-names", texts.twin_names,
      "Names that new twin namespaces may have, PATTERN,... with * for any text, for consumers whose policy has no "
      "twinNames; by default those that end in -<consumer>")
      ->delimiter(',');
  add_preset(app, "--cordon-silent-tenants-after", texts.silence,
             "Cordons a consumer that has said that it is there, and has not for so long, e.g. 720h; 0 never does");
  add_preset(app, "--certificate-type", options.certificate_type,
             "Serving certificate of the kubelet API: kubelet (signed by the cluster) or self-signed")
      ->check(CLI::IsMember({"kubelet", "self-signed"}));
  add_text(app, "--kubelet-client-ca-file", options.kubelet_client_ca_file,
           "CA of the callers of the kubelet API; by default that of kube-system/extension-apiserver-authentication")
      ->check(CLI::ExistingFile);
  add_port(app, "--webhook-port", options.webhook_port, 0,
           "Port of the admission webhooks; 0 switches them off, and with them what keeps tenants in bounds");
  add_text(app, "--webhook-url", options.webhook_url,
           "https://host:port at which the API server reaches that port; by default through the Service "
           "liqo-webhook");
  add_preset(
      app, "--webhook-failure-policy", options.webhook_failure_policy,
      "What becomes of requests while no replica answers: Fail (refused), or Ignore (let through, and with them what "
      "tenants may not do)")
      ->check(CLI::IsMember({"Fail", "Ignore"}));
  auto* webhook_ca =
      add_text(app, "--webhook-client-ca-file", options.webhook_client_ca_file,
               "CA of the API servers that may ask the webhooks: others are answered 401, so the API server must "
               "be told its certificate (docs/webhooks.md); by default everybody may ask")
          ->check(CLI::ExistingFile);
  add_texts(app, "--webhook-client-name", options.webhook_client_names,
            "Common name of a certificate of that CA that may ask; may be given more than once, by default all")
      ->allow_extra_args(false)
      ->needs(webhook_ca);
  add_preset(app, "--webhook-certificate-lifetime", texts.webhook_lifetime,
             "Validity of the serving certificate of the webhooks; it is renewed at 2/3 of that");
  add_port(app, "--metric-agent-port", options.metric_agent_port, 0,
           "Port at which API servers get the figures of consumers' pods (metrics.liqo.io); 0: consumers get none");
  add_preset(app, "--metric-agent-timeout", texts.figures_timeout,
             "Time that kubelets have to tell them; what comes later is left out");
  add_text(app, "--kubelet-ca-file", options.kubelet_ca_file,
           "CA by which kubelets are known that are asked for figures; by default that of the cluster")
      ->check(CLI::ExistingFile);
  add_flag(app, "--enable-resource-enforcement,!--disable-resource-enforcement", options.settings.enforce_resources,
           "Consumers get no more than their quotas (default true; --enable-resource-enforcement=false switches it "
           "off)");
  add_flag(app, "--enable-node-failure-controller", options.settings.node_failures,
           "Pods of consumers that are past their grace time on a node that is not Ready are deleted by force, so that "
           "they can run elsewhere; they run twice where the node is only cut off");
  using liqo::core::Counting;
  add_choice(
      app, "--quota-counting", {{"exact", int(Counting::exact)}, {"containers", int(Counting::containers)}},
      [&options](int number) { options.ledger.counting = Counting(number); },
      "What a pod takes from its quota: exact, as the scheduler reserves it (sidecars, overhead, limits that "
      "become requests, pods), or containers, the requests of its containers alone, as Go Liqo counts",
      "exact or containers")
      ->default_str("exact");
}

/// Replicas and logs.
void add_process_options(CLI::App& app, Options& options, Texts& texts) {
  add_flag(app, "--leader-elect", options.leader_elect, "Several replicas run: only the holder of the lease writes");
  add_preset(
      app, "--stop-delay", texts.stop_delay,
      "Time for which webhooks are still served after a signal to stop, while /readyz says so and the API server "
      "turns to another replica; 0 for none");
  add_text(app, "--identity", options.identity, "Name of this replica in the lease; by default POD_NAME, or the host");
  using kube::LogFormat, kube::LogLevel;
  add_choice(
      app, "--log-level",
      {{"debug", int(LogLevel::debug)},
       {"info", int(LogLevel::info)},
       {"warn", int(LogLevel::warn)},
       {"error", int(LogLevel::error)}},
      [&options](int number) { options.log_level = LogLevel(number); }, "debug, info (default), warn or error");
  add_choice(
      app, "--log-format", {{"text", int(LogFormat::text)}, {"json", int(LogFormat::json)}},
      [&options](int number) { options.log_format = LogFormat(number); }, "text (default) or json");
}

/// What is wrong with one of the durations; "" if all is well.
std::string read_durations(const Texts& texts, Options& options) {
  auto& settings = options.settings;
  kube::Duration lease{};
  struct Time {
    const char* name;
    const std::string& text;
    kube::Duration* out;
  };
  for (const Time& time :
       {Time{"--node-ping-interval", texts.ping_interval, &settings.probe_interval},
        Time{"--node-ping-timeout", texts.ping_timeout, &settings.probe_timeout},
        Time{"--node-lease-duration", texts.lease_duration, &lease},
        Time{"--webhook-certificate-lifetime", texts.webhook_lifetime, &options.webhook_certificate_lifetime},
        Time{"--identity-certificate-duration", texts.certificate_validity, &settings.certificate_validity},
        Time{"--namespace-withdrawal-grace", texts.withdrawal_grace, &settings.withdrawal_grace},
        Time{"--foreign-cluster-ping-timeout", texts.peer_timeout, &settings.foreign_cluster_ping_timeout},
        Time{"--stop-delay", texts.stop_delay, &options.stop_delay},
        Time{"--metric-agent-timeout", texts.figures_timeout, &options.metric_agent_timeout},
        Time{"--cordon-silent-tenants-after", texts.silence, &settings.silent_tenant_limit},
        Time{"--foreign-cluster-ping-interval", texts.peer_interval, &settings.foreign_cluster_ping_interval}}) {
    const bool may_be_zero = time.out == &settings.foreign_cluster_ping_interval || time.out == &options.stop_delay ||
                             time.out == &settings.silent_tenant_limit;
    const auto read = kube::parse_duration(time.text);
    if (!read) return std::string(time.name) + ": " + read.error().text();
    if (!may_be_zero && *read == kube::Duration::zero()) return std::string(time.name) + " must be more than nothing";
    *time.out = *read;
  }
  settings.lease_seconds = std::chrono::ceil<std::chrono::seconds>(lease).count();
  settings.lease_interval = lease / 4;
  // Kubernetes signs for ten minutes at least, and refuses to be asked for less.
  if (settings.certificate_validity < std::chrono::minutes(10))
    return "--identity-certificate-duration must be 10m or more";
  return "";
}

/// Likewise of what virtual nodes bear, and of which namespaces are offloaded.
std::string read_lists(Texts& texts, liqo::controllers::Settings& settings) {
  if (settings.kubelet_ports.first + settings.kubelet_ports.count - 1 > 65535)
    return "--listen-port-count reaches beyond port 65535";
  struct Entries {
    const char* name;
    const std::vector<std::string>& texts;
    bool are_labels;
    std::map<std::string, std::string>* out;
  };
  for (const Entries& entries :
       {Entries{"--node-extra-labels", texts.extra_labels, true, &settings.node_extra_labels},
        Entries{"--node-extra-annotations", texts.extra_annotations, false, &settings.node_extra_annotations}}) {
    if (const std::string mistake = read_entries(entries.texts, entries.are_labels, *entries.out); !mistake.empty()) {
      return std::string(entries.name) + " " + mistake;
    }
  }
  auto selected = liqo::core::NamespaceSelection::read(std::move(texts.selection), settings.liqo_namespace);
  if (!selected) return "--offload-namespaces: " + selected.error().text();
  settings.selected_namespaces = std::move(*selected);
  if (!texts.twin_names.empty()) settings.twin_names = std::move(texts.twin_names);
  return "";
}

/// Likewise of how this cluster's API server is reached and known.
std::string read_server(const Texts& texts, Options& options) {
  auto& settings = options.settings;
  if (!options.ca_override.empty()) {
    auto pem = kube::decode_base64(options.ca_override);
    if (!pem) return "--ca-override is not base64: " + pem.error().text();
    if (options.trusted_ca) return "--ca-override and --trusted-ca exclude each other";
    settings.ca_pem = std::move(*pem);
  }
  if (!settings.api_server_override.empty())
    if (auto url = liqo::core::api_server_url(settings.api_server_override); !url)
      return "--api-server-address-override: " + url.error().text();
  using liqo::core::ApiServerMode;
  std::optional<ApiServerMode> all_or_none;
  if (texts.all_tokens) all_or_none = *texts.all_tokens ? ApiServerMode::always : ApiServerMode::never;
  if (texts.tokens && all_or_none && *texts.tokens != *all_or_none)
    return "--apiserver-support and --enable-apiserver-support say different things: give one of them";
  settings.api_server_mode = texts.tokens.value_or(all_or_none.value_or(settings.api_server_mode));
  return "";
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  Options options;
  Texts texts;
  CLI::App app{
      "liqod lends and borrows capacity between Kubernetes clusters: one process per cluster, consumer and provider "
      "at\n"
      "once. For each VirtualNode it keeps a Node whose pods run in the provider's cluster; for each ShadowPod it runs "
      "a\n"
      "Pod of a consumer. It serves the kubelet API of its nodes, so that kubectl logs and exec reach those pods.",
      "liqod"};
  app.set_version_flag("--version", std::string("liqod ") + LIQOD_VERSION);
  app.set_config("--config", "", "File with these options, one 'name = value' a line; the command line wins");

  add_cluster_options(app, options);
  add_node_options(app, options, texts);
  add_provider_options(app, options, texts);
  add_identity_options(app, options, texts);
  if (!add_sharing_options(app, options)) return {.exit_code = 2};
  add_admission_options(app, options, texts);
  add_process_options(app, options, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    app.exit(asked);
    return {.exit_code = 0};
  } catch (const CLI::ParseError& mistake) {
    std::cerr << "liqod: " << mistake.what() << " (liqod --help tells the options)\n";
    return {.exit_code = 2};
  }
  for (const std::string& mistake :
       {read_lists(texts, options.settings), read_durations(texts, options), read_server(texts, options)}) {
    if (mistake.empty()) continue;
    std::cerr << "liqod: " << mistake << " (liqod --help tells the options)\n";
    return {.exit_code = 2};
  }
  if (options.identity.empty()) {
    const char* pod = std::getenv("POD_NAME");
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    options.identity = pod ? pod : std::string(host) + "-" + std::to_string(getpid());
  }
  return {.options = std::move(options)};
}

}  // namespace liqod
