#include "core/admission/pod_firewall.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/admission/pod_firewall_table.hpp"
#include "core/admission/pod_metadata.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "kube/base/text.hpp"
#include "reviews.hpp"

using namespace liqo::core::admission;
using liqo::core::mapped_priority_class;
using liqo::core::PodPolicy;
using liqo::core::read_pod_policy;
namespace json = kube::json;
using liqo::test::object_of;

namespace {

/// The paths that are refused.
std::vector<std::string> refused(std::string_view spec, const PodPolicy& policy = {}) {
  std::vector<std::string> paths;
  for (const Finding& finding : check_pod(json::parse(spec).as_object(), policy)) paths.push_back(finding.path);
  return paths;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("each row that does not pass refuses by default and says where") {
  const struct {
    std::string_view spec;
    std::string path;
    std::string_view policy;  // what lets it pass; "" = nothing does
  } cases[] = {
      {R"({"hostNetwork":true})", "spec.hostNetwork", R"({"hostNamespaces":true})"},
      {R"({"hostPID":true})", "spec.hostPID", R"({"hostNamespaces":true})"},
      {R"({"hostIPC":true})", "spec.hostIPC", R"({"hostNamespaces":true})"},
      {R"({"nodeName":"n"})", "spec.nodeName", R"({"nodeName":true})"},
      {R"({"serviceAccountName":"x"})", "spec.serviceAccountName", R"({"serviceAccounts":["x"]})"},
      {R"({"serviceAccount":"x"})", "spec.serviceAccount", R"({"serviceAccounts":["*"]})"},
      {R"({"priorityClassName":"system-node-critical"})", "spec.priorityClassName",
       R"({"priorityClasses":["system-node-critical"]})"},
      {R"({"priority":5})", "spec.priority", R"({"priorityClasses":["x"]})"},
      {R"({"schedulerName":"mine"})", "spec.schedulerName", R"({"schedulers":["mine"]})"},
      {R"({"runtimeClassName":"kata"})", "spec.runtimeClassName", R"({"runtimeClasses":["kata"]})"},
      {R"({"volumes":[{"ephemeral":{"volumeClaimTemplate":{"spec":{"volumeName":"theirs"}}}}]})",
       "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.volumeName", ""},
      {R"({"volumes":[{"ephemeral":{"volumeClaimTemplate":{"spec":{"selector":{}}}}}]})",
       "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.selector", ""},
      {R"({"volumes":[{"ephemeral":{"volumeClaimTemplate":{"spec":{"dataSourceRef":{"kind":"PersistentVolumeClaim",
           "name":"d","namespace":"shop-paris"}}}}}]})",
       "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace", ""},
      {R"({"resourceClaims":[{"name":"gpu"}]})", "spec.resourceClaims", R"({"resourceClaims":true})"},
      {R"({"terminationGracePeriodSeconds":86401})", "spec.terminationGracePeriodSeconds",
       R"({"maxTerminationGracePeriodSeconds":90000})"},
      {R"({"terminationGracePeriodSeconds":18446744073709551615})", "spec.terminationGracePeriodSeconds", ""},
      {R"({"containers":[{"livenessProbe":{"terminationGracePeriodSeconds":86401}}]})",
       "spec.containers[0].livenessProbe.terminationGracePeriodSeconds",
       R"({"maxTerminationGracePeriodSeconds":86401})"},
      {R"({"ephemeralContainers":[{"name":"x"},{"securityContext":{"privileged":true}}]})",
       "spec.ephemeralContainers[1].securityContext.privileged", R"({"privileged":true})"},
      {R"({"ephemeralContainers":[{"securityContext":{"capabilities":{"add":["SYS_PTRACE"]}}}]})",
       "spec.ephemeralContainers[0].securityContext.capabilities.add", R"({"capabilities":["SYS_PTRACE"]})"},
      {R"({"ephemeralContainers":[{"resources":{"requests":{"cpu":"1"}}}]})", "spec.ephemeralContainers[0].resources",
       ""},
      {R"({"ephemeralContainers":[{"ports":[{"containerPort":80}]}]})", "spec.ephemeralContainers[0].ports", ""},
      {R"({"ephemeralContainers":[{"livenessProbe":{"exec":{"command":["sh"]}}}]})",
       "spec.ephemeralContainers[0].livenessProbe", ""},
      {R"({"ephemeralContainers":[{"tomorrow":1}]})", "spec.ephemeralContainers[0].tomorrow", ""},
      {R"({"schedulingGates":[{"name":"x"}]})", "spec.schedulingGates", ""},
      {R"({"workloadRef":{"name":"x"}})", "spec.workloadRef", ""},
      {R"({"schedulingGroup":{"podGroupName":"x"}})", "spec.schedulingGroup", ""},
      {R"({"evictionResponders":[{"name":"acme.io/saver","priority":5}]})", "spec.evictionResponders", ""},
      {R"({"volumes":[{"name":"v","projected":{"sources":[{"podCertificate":{"signerName":"milan.example/mesh",
           "keyType":"ED25519","credentialBundlePath":"b.pem"}}]}}]})",
       "spec.volumes[0].projected.sources[0].podCertificate.signerName",
       R"({"certificateSigners":["milan.example/mesh"]})"},
      {R"({"volumes":[{"name":"v","emptyDir":{"mode":{"a":{"privileged":true}}}}]})", "spec.volumes[0].emptyDir.mode",
       ""},
      {R"({"aFieldOfTomorrow":1})", "spec.aFieldOfTomorrow", ""},
      {R"({"containers":[{"name":"a"},{"tomorrow":{}}]})", "spec.containers[1].tomorrow", ""},
      {R"({"containers":[{"securityContext":{"privileged":true}}]})", "spec.containers[0].securityContext.privileged",
       R"({"privileged":true})"},
      {R"({"initContainers":[{"securityContext":{"capabilities":{"add":["CHOWN","NET_ADMIN"]}}}]})",
       "spec.initContainers[0].securityContext.capabilities.add", R"({"capabilities":["NET_ADMIN"]})"},
      {R"({"containers":[{"securityContext":{"procMount":"Unmasked"}}]})",
       "spec.containers[0].securityContext.procMount", R"({"unconfined":true})"},
      {R"({"securityContext":{"seccompProfile":{"type":"Unconfined"}}})", "spec.securityContext.seccompProfile.type",
       R"({"unconfined":true})"},
      {R"({"containers":[{"securityContext":{"appArmorProfile":{"type":"Unconfined"}}}]})",
       "spec.containers[0].securityContext.appArmorProfile.type", R"({"unconfined":true})"},
      {R"({"securityContext":{"seLinuxOptions":{"type":"spc_t"}}})", "spec.securityContext.seLinuxOptions.type",
       R"({"unconfined":true})"},
      {R"({"securityContext":{"seLinuxOptions":{"role":"r"}}})", "spec.securityContext.seLinuxOptions.role",
       R"({"unconfined":true})"},
      {R"({"securityContext":{"windowsOptions":{"hostProcess":true}}})",
       "spec.securityContext.windowsOptions.hostProcess", R"({"privileged":true})"},
      {R"({"securityContext":{"sysctls":[{"name":"kernel.msgmax","value":"1"}]}})", "spec.securityContext.sysctls",
       R"({"sysctls":["kernel.msgmax"]})"},
      {R"({"containers":[{"ports":[{"containerPort":80},{"containerPort":81,"hostPort":81}]}]})",
       "spec.containers[0].ports[1].hostPort", R"({"hostPorts":true})"},
      {R"({"containers":[{"livenessProbe":{"httpGet":{"host":"10.0.0.1","port":80}}}]})",
       "spec.containers[0].livenessProbe.httpGet.host", R"({"probeHosts":true})"},
      {R"({"containers":[{"lifecycle":{"postStart":{"tcpSocket":{"host":"10.0.0.1","port":80}}}}]})",
       "spec.containers[0].lifecycle.postStart.tcpSocket.host", R"({"probeHosts":true})"},
      {R"({"volumes":[{"name":"v","hostPath":{"path":"/"}}]})", "spec.volumes[0].hostPath", R"({"hostPath":true})"},
      {R"({"volumes":[{"name":"v","hostPath":{}}]})", "spec.volumes[0].hostPath", R"({"hostPath":true})"},
      {R"({"volumes":[{"name":"v","gitRepo":{"repository":"x"}}]})", "spec.volumes[0].gitRepo", ""},
      {R"({"volumes":[{"name":"v","cephfs":{"secretFile":"/etc/shadow"}}]})", "spec.volumes[0].cephfs",
       R"({"hostPath":true,"nodeVolumes":true})"},
      {R"({"volumes":[{"name":"v","rbd":{"keyring":"/etc/shadow"}}]})", "spec.volumes[0].rbd",
       R"({"hostPath":true,"nodeVolumes":true})"},
      {R"({"volumes":[{"ephemeral":{"volumeClaimTemplate":{"metadata":{"ownerReferences":[{"name":"x"}]}}}}]})",
       "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.ownerReferences", ""},
      {R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
           {"topologyKey":"zone","namespaceSelector":{}}]}}})",
       "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector",
       R"({"otherNamespaces":true})"},
      {R"({"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
           {"weight":1,"podAffinityTerm":{"topologyKey":"zone","namespaces":["kube-system"]}}]}}})",
       "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.namespaces",
       R"({"otherNamespaces":true})"},
      // Forms that the field does not have.
      {R"({"hostname":{"a":{"privileged":true}}})", "spec.hostname", ""},
      {R"({"containers":"x"})", "spec.containers", ""},
      {R"({"volumes":[{"name":"v","nfs":{"server":"10.0.0.5","path":"/"}}]})", "spec.volumes[0].nfs",
       R"({"nodeVolumes":true})"},
      {R"({"volumes":[{"name":"v","csi":{"driver":"d"}}]})", "spec.volumes[0].csi", R"({"nodeVolumes":true})"},
      {R"({"containers":[1]})", "spec.containers[0]", ""},
      {R"({"containers":[{"securityContext":7}]})", "spec.containers[0].securityContext", ""},
      {R"({"hostNetwork":"yes"})", "spec.hostNetwork", R"({"hostNamespaces":true})"},
      {R"({"containers":[{"securityContext":{"capabilities":{"add":"NET_ADMIN"}}}]})",
       "spec.containers[0].securityContext.capabilities.add", ""},
  };
  for (const auto& each : cases) {
    CAPTURE(each.spec);
    CHECK(refused(each.spec) == Paths{each.path});
    if (each.policy.empty()) continue;
    const auto policy = read_pod_policy(each.policy);
    REQUIRE(policy);
    CHECK(refused(each.spec, *policy) == Paths{});
  }
}

TEST_CASE("ordinary pods pass") {
  constexpr std::string_view specs[] = {
      R"({"ephemeralContainers":[{"name":"debugger","image":"busybox","imagePullPolicy":"Always","stdin":true,"tty":true,
          "resources":{},"targetContainerName":"main","terminationMessagePath":"/dev/termination-log",
          "terminationMessagePolicy":"File","securityContext":{"capabilities":{"drop":["ALL"]}},
          "env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],"envFrom":[{"configMapRef":{"name":"c"}}],
          "volumeMounts":[{"name":"v","mountPath":"/v"}]}]})",
      R"({"containers":[{"name":"a","image":"i","command":["sh"],"env":[{"name":"A","valueFrom":{"secretKeyRef":
          {"name":"s","key":"k"}}}],"ports":[{"containerPort":80,"protocol":"TCP","hostPort":0}],
          "resources":{"requests":{"cpu":"1"},"limits":{"memory":1024}},"livenessProbe":{"httpGet":{"path":"/","port":80,
          "host":""}},"securityContext":{"privileged":false,"capabilities":{"add":["NET_BIND_SERVICE"],"drop":["ALL"]},
          "seccompProfile":{"type":"RuntimeDefault"},"procMount":"Default"},
          "volumeMounts":[{"name":"v","mountPath":"/v"}]}],
          "volumes":[{"name":"v","emptyDir":{}},{"name":"c","configMap":{"name":"c","items":[{"key":"k","path":"p"}]}},
          {"name":"p","persistentVolumeClaim":{"claimName":"d"}},{"name":"d","downwardAPI":{"items":[{"path":"l",
          "fieldRef":{"fieldPath":"metadata.labels"}}]}}],
          "hostNetwork":false,"priority":0,"serviceAccountName":"default","schedulerName":"default-scheduler",
          "nodeSelector":{"a":"b"},"hostAliases":[{"ip":"10.0.0.1","hostnames":["kubernetes.default"]}],
          "tolerations":[{"key":"a","operator":"Exists"},{"key":"b","operator":"Exists","effect":"NoExecute"}],
          "terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","restartPolicy":"Always",
          "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",
          "labelSelector":{"matchLabels":{"a":"b"}}}]})",
      R"({"volumes":[{"name":"token","projected":{"sources":[{"serviceAccountToken":{"path":"token",
          "expirationSeconds":3607}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},
          {"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],
          "defaultMode":420}}]})",
      R"({"hostUsers":false,"resources":{"requests":{"cpu":"1"},"limits":{"memory":"1Gi"}},
          "volumes":[{"name":"v","image":{"reference":"docker.io/x/y:1","pullPolicy":"Always"}}],
          "initContainers":[{"name":"proxy","image":"i","restartPolicy":"Always","restartPolicyRules":[
          {"action":"Restart","exitCodes":{"operator":"In","values":[1]}}],"startupProbe":{"grpc":{"port":1}}}]})",
      R"({"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":80,"protocol":"HTTP2"}},
          "readinessProbe":{"grpc":{"port":1,"mode":"TLS"}},
          "volumeMounts":[{"name":"v","mountPath":"/v","bindMountOptions":["noexec","nosuid"]}]}],
          "volumes":[{"name":"v","emptyDir":{"mode":448}},{"name":"s","secret":{"secretName":"s","defaultUser":5,
          "items":[{"key":"k","path":"p","user":6}]}},{"name":"c","configMap":{"name":"c","defaultUser":5}},
          {"name":"d","downwardAPI":{"defaultUser":5,"items":[{"path":"l","user":6,"fieldRef":{"fieldPath":
          "metadata.labels"}}]}},{"name":"p","projected":{"defaultUser":5,"sources":[{"serviceAccountToken":{"path":"t",
          "user":6}},{"clusterTrustBundle":{"name":"ca","path":"ca.pem","user":6}}]}}]})",
      R"({"hostPID":null,"ephemeralContainers":[],"affinity":{"podAffinity":{}},"overhead":{"cpu":"1m"}})",
  };
  for (const std::string_view spec : specs) CHECK(refused(spec) == Paths{});
}

TEST_CASE("what our own forging sends passes") {
  const auto pod = object_of(R"({"apiVersion":"v1","kind":"Pod",
    "metadata":{"name":"web","namespace":"shop","uid":"u-1","labels":{"app":"web"},
                "annotations":{"liqo.io/anti-affinity-preset":"hard"}},
    "spec":{"containers":[{"name":"main","image":"i","ports":[{"containerPort":80,"hostPort":80}],
              "volumeMounts":[{"name":"kube-api-access-x","mountPath":"/var/run/secrets"}]}],
            "hostNetwork":true,"hostPID":true,"serviceAccountName":"robot","serviceAccount":"robot","priority":7,
            "priorityClassName":"high","nodeName":"milan","schedulerName":"mine","hostAliases":[{"ip":"1.2.3.4"}],
            "tolerations":[{"key":"virtual-node.liqo.io/not-allowed","operator":"Exists"},
                           {"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"}],
            "volumes":[{"name":"kube-api-access-x","projected":{"sources":[
                {"serviceAccountToken":{"path":"token"}},{"configMap":{"name":"kube-root-ca.crt"}},
                {"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"fieldPath":"metadata.namespace"}}]}}]}}]}})");
  using liqo::core::ApiServerMode;
  for (const auto mode : {ApiServerMode::never, ApiServerMode::needed, ApiServerMode::always}) {
    liqo::core::ForgingContext context{.clusters = {"rome", "milan"}, .node_name = "milan"};
    context.api_server_mode = mode;
    context.api_server_ips = {"10.80.0.1"};
    context.patch.node_selector = json::object{{"pool", "tenants"}};
    const auto forged = liqo::core::forge_shadow_pod(pod, "shop-rome", context);
    REQUIRE(forged);
    CHECK(describe(check_pod(kube::object_at(forged->shadow.spec(), {"pod"}), {})) == "");
    CHECK(describe(check_pod_metadata(forged->shadow, {})) == "");
  }
}

TEST_CASE("what classes of the consumer become lets a ShadowPod name none itself") {
  const auto policy = *read_pod_policy(R"({"priorityClasses":{"high":"tenants-high","*":"tenants"}})");
  CHECK(mapped_priority_class(policy, "high") == "tenants-high");
  CHECK(mapped_priority_class(policy, "other") == "tenants");
  CHECK(mapped_priority_class(*read_pod_policy(R"({"priorityClasses":{"high":"tenants-high"}})"), "other") == "");
  CHECK(mapped_priority_class(*read_pod_policy(R"({"priorityClasses":["high","*"]})"), "high") == "");
  for (const std::string_view name : {"high", "tenants-high", "tenants", "*"}) {
    const std::string spec = R"({"priorityClassName":")" + std::string(name) + R"("})";
    CHECK(refused(spec, policy) == Paths{"spec.priorityClassName"});
  }
  CHECK(refused(R"({"priority":5})", policy) == Paths{"spec.priority"});
}

TEST_CASE("files of the node are refused also where network volumes are allowed") {
  const auto policy = *read_pod_policy(R"({"nodeVolumes":true})");
  CHECK(refused(R"({"volumes":[{"name":"v","cephfs":{"secretFile":"/etc/shadow"}}]})", policy) ==
        Paths{"spec.volumes[0].cephfs.secretFile"});
  CHECK(refused(R"({"volumes":[{"name":"v","rbd":{"keyring":"/etc/shadow"}}]})", policy) ==
        Paths{"spec.volumes[0].rbd.keyring"});
}

TEST_CASE("a runtime that is refused names the policy, and the annotation by which a pod asks for another") {
  const auto findings = check_pod(json::parse(R"({"runtimeClassName":"kata"})").as_object(), {});
  CHECK(describe(findings).contains("runtimeClasses in the policy"));
  CHECK(describe(findings).contains("liqo.io/remote-runtime-class-name"));
}

TEST_CASE("tolerations pass, whatever they tolerate: they are left out of the pod") {
  CHECK(refused(R"({"tolerations":[{"operator":"Exists"},{"key":"node-role.kubernetes.io/control-plane"}]})") ==
        Paths{});
}

TEST_CASE("a refusal names every field, up to a bound") {
  CHECK(describe(check_pod(json::parse(R"({"hostNetwork":true,"nodeName":"n"})").as_object(), {})) ==
        "spec.hostNetwork opens the namespaces of the node; the policy key hostNamespaces would allow it; "
        "spec.nodeName goes past the scheduler of this cluster; the policy key nodeName would allow it");
  json::object spec;
  for (int i = 0; i < 1'000; ++i) spec["field" + std::to_string(i)] = 1;
  CHECK(check_pod(spec, {}).size() == max_findings);
  CHECK(describe(check_pod(spec, {})).ends_with("and perhaps more"));
}

TEST_CASE("pods end in a day, or in the time that the policy gives them") {
  CHECK(refused(R"({"terminationGracePeriodSeconds":86400})") == Paths{});
  CHECK(refused(R"({"terminationGracePeriodSeconds":0})") == Paths{});
  const auto policy = read_pod_policy(R"({"maxTerminationGracePeriodSeconds":60})").value();
  CHECK(refused(R"({"terminationGracePeriodSeconds":60})", policy) == Paths{});
  CHECK(refused(R"({"terminationGracePeriodSeconds":61})", policy) == Paths{"spec.terminationGracePeriodSeconds"});
}

TEST_CASE("a policy that is not understood allows nothing") {
  for (const std::string_view text :
       {"x", "[]", R"({"hostPort":true})", R"({"hostPorts":"true"})", R"({"capabilities":"NET_ADMIN"})",
        R"({"capabilities":[1]})", R"({"privileged":1})", R"({"maxObjects":-1})", R"({"maxObjects":"1"})",
        R"({"maxTerminationGracePeriodSeconds":1.5})", R"({"ingressHosts":"a"})", R"({"ingressHosts":[1]})",
        R"({"priorityClasses":"a"})", R"({"priorityClasses":{"a":1}})", R"({"priorityClasses":{"a":""}})",
        R"({"priorityClasses":{"a":"B"}})", R"({"endpointCIDRs":"10.0.0.0/8"})", R"({"endpointCIDRs":["all"]})",
        R"({"endpointCIDRs":[1]})"}) {
    CAPTURE(text);
    CHECK_FALSE(read_pod_policy(text));
  }
  CHECK(read_pod_policy("").value() == PodPolicy());
  CHECK(read_pod_policy("{}").value() == PodPolicy());
}

TEST_CASE("no field has two rows") {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const FirewallRow& row : firewall_table())
    for (const std::string_view field : kube::split(row.fields, ' ')) {
      CAPTURE(row.type);
      CAPTURE(field);
      CHECK(seen.emplace(row.type, field).second);
    }
  CHECK(seen.size() > 400);
}
