#include "options/groups.hpp"

namespace liqod {

void add_admission_options(cli::Command app, Options& options, Texts& texts) {
  app.option("--twin-names", texts.twin_names,
             "Names that new twin namespaces may have, PATTERN,... with * for any text, if the consumer's policy has "
             "no twinNames; by default names that end in -<consumer>")
      .delimiter(',');
  app.flag("--home-names", options.home_names,
           "Let pods of consumers look up the names that Services have at home, once the name server of this cluster "
           "knows them, by liqoctl enable home-names (default true)");
  add_preset(
      app, "--cordon-silent-tenants-after", texts.silence,
      "Cordon a consumer that has sent a heartbeat before and then been silent for this long, e.g. 720h; 0 never does");
  add_preset(app, "--certificate-type", options.certificate_type,
             "Serving certificate of the kubelet API: kubelet (signed by the cluster) or self-signed")
      .member_of({"kubelet", "self-signed"});
  app.option("--kubelet-client-ca-file", options.kubelet_client_ca_file,
             "CA of the callers of the kubelet API; by default that of kube-system/extension-apiserver-authentication")
      .existing_file();
  app.number("--webhook-port", options.webhook_port, port_or_none,
             "Port of the admission webhooks; 0 switches them off, and with them the limits for tenants");
  app.option("--webhook-url", options.webhook_url,
             "https://host:port at which the API server reaches that port; by default through the Service "
             "liqo-webhook");
  add_preset(app, "--webhook-failure-policy", options.webhook_failure_policy,
             "What happens to requests while no replica answers: Fail (they are refused) or Ignore (they are admitted, "
             "even if they break the rules for tenants)")
      .member_of({"Fail", "Ignore"});
  const cli::Option webhook_ca =
      app.option("--webhook-client-ca-file", options.webhook_client_ca_file,
                 "CA of the API servers that may call the webhooks: others get 401, so the API server has to be "
                 "configured with a client certificate (docs/webhooks.md); by default everybody may call")
          .existing_file();
  app.list("--webhook-client-name", options.webhook_client_names,
           "Common name of a certificate of that CA that may call; may be given more than once; by default all")
      .needs(webhook_ca);
  add_preset(app, "--webhook-certificate-lifetime", texts.webhook_lifetime,
             "Validity of the serving certificate of the webhooks; it is renewed at 2/3 of that");
  app.number("--metric-agent-port", options.metric_agent_port, port_or_none,
             "Port at which API servers read the metrics of consumers' pods (metrics.liqo.io); 0: consumers get none");
  add_preset(app, "--metric-agent-timeout", texts.metric_agent_timeout,
             "Time that kubelets have to report these metrics; later ones are left out");
  app.option("--kubelet-ca-file", options.kubelet_ca_file,
             "CA with which the kubelets are verified that report metrics; by default the cluster's")
      .existing_file();
  app.flag("--enable-resource-enforcement,!--disable-resource-enforcement",
           options.settings.offloading.enforce_resources,
           "Consumers get no more than their quotas (default true; --enable-resource-enforcement=false switches it "
           "off)");
  app.flag("--enable-node-failure-controller", options.settings.nodes.node_failures,
           "Delete consumers' pods by force when their grace period is over and their node is not Ready, so that they "
           "can run elsewhere; they run twice if the node is only cut off");
  using liqo::core::Counting;
  app.choice(
         "--quota-counting", {{"exact", int(Counting::exact)}, {"containers", int(Counting::containers)}},
         [&options](int number) { options.ledger.counting = Counting(number); },
         "What a pod takes from its quota: exact, what the scheduler reserves for it (sidecars, overhead, limits that "
         "become requests, pods), or containers, only the requests of its containers, as Go Liqo counts")
      .type_name("ENUM:exact or containers")
      .preset("exact");
}

}  // namespace liqod
