// The table says of every field of a PodSpec whether it passes. It has a row for each field of Kubernetes 1.35 to 1.37
// (test/fixtures/kubernetes-fields.txt). A field without a row is refused, so that a newer one passes only after a
// decision here. The default allows what Pod Security level "baseline" allows
// (kubernetes.io/docs/concepts/security/pod-security-standards), without what a tenant could use against others: nodes
// of the control plane, other ServiceAccounts, priorities and namespaces.
#include "core/admission/pod_firewall_table.hpp"

#include <algorithm>

namespace liqo::core::admission {
namespace json = kube::json;
namespace {

// -- rules ------------------------------------------------------------------------------------------------------------

/// Whether the value asks for nothing: null, false, 0, "" or an empty list. An empty object may be a choice, as in
/// `emptyDir: {}`.
bool is_unset(const json::value& value) {
  if (value.is_null()) return true;
  if (const bool* flag = value.if_bool()) return !*flag;
  if (const json::string* text = value.if_string()) return text->empty();
  if (const json::array* list = value.if_array()) return list->empty();
  if (value.is_number()) return value.to_number<double>() == 0;
  return false;
}

std::string_view text_of(const json::value& value) {
  const json::string* text = value.if_string();
  return text ? std::string_view(*text) : std::string_view();
}

bool pass(const json::value&, const PodPolicy&) { return true; }
bool refused(const json::value& value, const PodPolicy&) { return is_unset(value); }

/// The API server stores `{}` for some fields that nobody has set.
bool empty_object(const json::value& value, const PodPolicy&) {
  return is_unset(value) || (value.is_object() && value.get_object().empty());
}

template <bool PodPolicy::* Switch>
bool unless(const json::value& value, const PodPolicy& policy) {
  return policy.*Switch || is_unset(value);
}
template <bool PodPolicy::* Switch>
bool present_only_with(const json::value& value, const PodPolicy& policy) {
  return policy.*Switch || value.is_null() || (value.is_array() && value.get_array().empty());
}
template <std::vector<std::string> PodPolicy::* List>
bool named(const json::value& value, const PodPolicy& policy) {
  return is_unset(value) || (value.is_string() && lists(policy.*List, text_of(value)));
}

bool own_service_account(const json::value& value, const PodPolicy& policy) {
  return text_of(value) == "default" || named<&PodPolicy::service_accounts>(value, policy);
}
bool default_scheduler(const json::value& value, const PodPolicy& policy) {
  return text_of(value) == "default-scheduler" || named<&PodPolicy::schedulers>(value, policy);
}
bool priority(const json::value& value, const PodPolicy& policy) {
  // The API server checks the number against the class.
  return is_unset(value) || !policy.priority_classes.empty();
}

/// Whether every entry of a list of strings is a usual one or listed by the policy.
bool all_known(const json::value& value, std::span<const std::string_view> usual, const std::vector<std::string>& more,
               std::string_view member) {
  if (is_unset(value)) return true;
  const json::array* entries = value.if_array();
  return entries && std::ranges::all_of(*entries, [&](const json::value& entry) {
           const std::string_view name = member.empty() ? text_of(entry) : kube::string_at(entry, {member});
           return std::ranges::find(usual, name) != usual.end() || lists(more, name);
         });
}

bool known_capabilities(const json::value& value, const PodPolicy& policy) {
  static constexpr std::string_view usual[] = {"AUDIT_WRITE", "CHOWN",  "DAC_OVERRIDE",     "FOWNER",  "FSETID",
                                               "KILL",        "MKNOD",  "NET_BIND_SERVICE", "SETFCAP", "SETGID",
                                               "SETPCAP",     "SETUID", "SYS_CHROOT"};
  return all_known(value, usual, policy.capabilities, "");
}

bool safe_sysctls(const json::value& value, const PodPolicy& policy) {
  static constexpr std::string_view usual[] = {
      "kernel.shm_rmid_forced",           "net.ipv4.ip_local_port_range",
      "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start",
      "net.ipv4.ping_group_range",        "net.ipv4.tcp_fin_timeout",
      "net.ipv4.tcp_keepalive_intvl",     "net.ipv4.tcp_keepalive_probes",
      "net.ipv4.tcp_keepalive_time",      "net.ipv4.tcp_rmem",
      "net.ipv4.tcp_syncookies",          "net.ipv4.tcp_wmem"};
  return all_known(value, usual, policy.sysctls, "name");
}

bool confined(const json::value& value, const PodPolicy& policy) {
  const std::string_view type = text_of(value);
  return policy.unconfined || is_unset(value) || type == "RuntimeDefault" || type == "Localhost";
}

bool container_type(const json::value& value, const PodPolicy& policy) {
  static constexpr std::string_view usual[] = {"container_t", "container_init_t", "container_kvm_t",
                                               "container_engine_t"};
  return policy.unconfined || is_unset(value) || std::ranges::find(usual, text_of(value)) != std::end(usual);
}

bool ends_in_time(const json::value& value, const PodPolicy& policy) {
  return is_unset(value) || (value.is_int64() && value.get_int64() <= policy.max_termination_grace_seconds);
}

bool default_proc(const json::value& value, const PodPolicy& policy) {
  return policy.unconfined || is_unset(value) || text_of(value) == "Default";
}

bool default_keyring(const json::value& value, const PodPolicy& policy) {
  // The API server fills in this default of the volume type.
  return policy.host_path || is_unset(value) || text_of(value) == "/etc/ceph/keyring";
}

// -- the table --------------------------------------------------------------------------------------------------------

constexpr std::string_view holds_up =
    "is longer than pods of the tenant may take to end, which is maxTerminationGracePeriodSeconds in the policy "
    "(86400 by default)";
constexpr std::string_view not_ephemeral = "is not for ephemeral containers, as Kubernetes has it";
constexpr std::string_view mounted_by_node =
    "is mounted by the node in its own name, past what binds the pod; use a volume claim, or nodeVolumes in the policy";

// clang-format off
constexpr FirewallRow table[] = {
    {"PodSpec", "activeDeadlineSeconds automountServiceAccountToken dnsPolicy enableServiceLinks hostUsers "
     "hostname hostnameOverride nodeSelector overhead preemptionPolicy restartPolicy "
     "setHostnameAsFQDN shareProcessNamespace subdomain", "", pass, ""},
    {"PodSpec", "terminationGracePeriodSeconds", "", ends_in_time, holds_up},
    {"PodSpec", "hostIPC hostNetwork hostPID", "", unless<&PodPolicy::host_namespaces>,
     "opens the namespaces of the node; the policy key hostNamespaces would allow it"},
    {"PodSpec", "nodeName", "", unless<&PodPolicy::node_name>,
     "goes past the scheduler of this cluster; the policy key nodeName would allow it"},
    {"PodSpec", "priority", "", priority,
     "can only come from a priority class that the tenant may use"},
    {"PodSpec", "priorityClassName", "", named<&PodPolicy::priority_classes>,
     "is not among the priority classes that the tenant may use, which are those that priorityClasses in the policy "
     "lists"},
    {"PodSpec", "schedulerName", "", default_scheduler,
     "is not among the schedulers that the tenant may use, which are the default one and those "
     "of schedulers in the policy"},
    {"PodSpec", "serviceAccount serviceAccountName", "", own_service_account,
     "is not among the ServiceAccounts that the tenant may use, which are \"default\" and those "
     "of serviceAccounts in the policy"},
    {"PodSpec", "ephemeralContainers", "EphemeralContainer", pass, ""},
    {"PodSpec", "schedulingGates", "", refused,
     "would never be opened: nothing in this cluster knows the gates of a consumer"},
    {"PodSpec", "schedulingGroup workloadRef", "", refused,
     "refers to a group of pods that this cluster does not have"},
    {"PodSpec", "evictionResponders", "", refused,
     "would have evictions here wait for what does not run in this cluster"},
    {"PodSpec", "affinity", "Affinity", pass, ""},
    {"PodSpec", "containers initContainers", "Container", pass, ""},
    {"PodSpec", "dnsConfig", "PodDNSConfig", pass, ""},
    {"PodSpec", "hostAliases", "HostAlias", pass, ""},
    {"PodSpec", "imagePullSecrets", "LocalObjectReference", pass, ""},
    {"PodSpec", "os", "NameOnly", pass, ""},
    {"PodSpec", "readinessGates", "PodReadinessGate", pass, ""},
    {"PodSpec", "resourceClaims", "PodResourceClaim", unless<&PodPolicy::resource_claims>,
     "takes devices that no quota counts; the policy key resourceClaims would allow it"},
    {"PodSpec", "resources", "ResourceRequirements", pass, ""},
    {"PodSpec", "securityContext", "PodSecurityContext", pass, ""},
    {"PodSpec", "runtimeClassName", "", named<&PodPolicy::runtime_classes>,
     "is not among the runtime classes that the tenant may use, which are those of runtimeClasses in the policy; the "
     "annotation liqo.io/remote-runtime-class-name of the pod at home names another one for here"},
    {"PodSpec", "tolerations", "Toleration", pass, ""},
    {"PodSpec", "topologySpreadConstraints", "TopologySpreadConstraint", pass, ""},
    {"PodSpec", "volumes", "Volume", pass, ""},
    {"PodReadinessGate", "conditionType", "", pass, ""},
    {"Affinity", "nodeAffinity", "NodeAffinity", pass, ""},
    {"Affinity", "podAffinity podAntiAffinity", "PodAffinity", pass, ""},
    {"NodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution", "PreferredSchedulingTerm", pass, ""},
    {"NodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "NodeSelector", pass, ""},
    {"PreferredSchedulingTerm", "weight", "", pass, ""},
    {"PreferredSchedulingTerm", "preference", "NodeSelectorTerm", pass, ""},
    {"NodeSelectorTerm", "matchExpressions matchFields", "SelectorRequirement", pass, ""},
    {"SelectorRequirement", "key operator values", "", pass, ""},
    {"NodeSelector", "nodeSelectorTerms", "NodeSelectorTerm", pass, ""},
    {"PodAffinity", "preferredDuringSchedulingIgnoredDuringExecution", "WeightedPodAffinityTerm", pass, ""},
    {"PodAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "PodAffinityTerm", pass, ""},
    {"WeightedPodAffinityTerm", "weight", "", pass, ""},
    {"WeightedPodAffinityTerm", "podAffinityTerm", "PodAffinityTerm", pass, ""},
    {"PodAffinityTerm", "matchLabelKeys mismatchLabelKeys topologyKey", "", pass, ""},
    {"PodAffinityTerm", "namespaces", "", present_only_with<&PodPolicy::other_namespaces>,
     "concerns pods of others; the policy key otherNamespaces would allow it"},
    {"PodAffinityTerm", "labelSelector", "LabelSelector", pass, ""},
    {"PodAffinityTerm", "namespaceSelector", "LabelSelector", present_only_with<&PodPolicy::other_namespaces>,
     "concerns pods of others; the policy key otherNamespaces would allow it"},
    {"LabelSelector", "matchLabels", "", pass, ""},
    {"LabelSelector", "matchExpressions", "SelectorRequirement", pass, ""},
    {"Container", "args command image imagePullPolicy name restartPolicy stdin stdinOnce "
     "terminationMessagePath terminationMessagePolicy tty workingDir", "", pass, ""},
    {"Container", "env", "EnvVar", pass, ""},
    {"Container", "envFrom", "EnvFromSource", pass, ""},
    {"Container", "lifecycle", "Lifecycle", pass, ""},
    {"Container", "livenessProbe readinessProbe startupProbe", "Probe", pass, ""},
    {"Container", "ports", "ContainerPort", pass, ""},
    {"Container", "resizePolicy", "ContainerResizePolicy", pass, ""},
    {"Container", "resources", "ResourceRequirements", pass, ""},
    {"Container", "restartPolicyRules", "ContainerRestartRule", pass, ""},
    {"Container", "securityContext", "SecurityContext", pass, ""},
    {"Container", "volumeDevices", "VolumeDevice", pass, ""},
    {"Container", "volumeMounts", "VolumeMount", pass, ""},
    {"EphemeralContainer", "args command image imagePullPolicy name stdin stdinOnce targetContainerName "
     "terminationMessagePath terminationMessagePolicy tty workingDir", "", pass, ""},
    {"EphemeralContainer", "env", "EnvVar", pass, ""},
    {"EphemeralContainer", "envFrom", "EnvFromSource", pass, ""},
    {"EphemeralContainer", "lifecycle livenessProbe ports readinessProbe resizePolicy restartPolicy restartPolicyRules "
     "startupProbe", "", refused, not_ephemeral},
    {"EphemeralContainer", "resources", "ResourceRequirements", empty_object, not_ephemeral},
    {"EphemeralContainer", "securityContext", "SecurityContext", pass, ""},
    {"EphemeralContainer", "volumeDevices", "VolumeDevice", pass, ""},
    {"EphemeralContainer", "volumeMounts", "VolumeMount", pass, ""},
    {"EnvVar", "name value", "", pass, ""},
    {"EnvVar", "valueFrom", "EnvVarSource", pass, ""},
    {"EnvVarSource", "configMapKeyRef secretKeyRef", "KeySelector", pass, ""},
    {"EnvVarSource", "fieldRef", "ObjectFieldSelector", pass, ""},
    {"EnvVarSource", "fileKeyRef", "FileKeySelector", pass, ""},
    {"EnvVarSource", "resourceFieldRef", "ResourceFieldSelector", pass, ""},
    {"FileKeySelector", "key optional path volumeName", "", pass, ""},
    {"KeySelector", "key name optional", "", pass, ""},
    {"ObjectFieldSelector", "apiVersion fieldPath", "", pass, ""},
    {"ResourceFieldSelector", "containerName divisor resource", "", pass, ""},
    {"EnvFromSource", "prefix", "", pass, ""},
    {"EnvFromSource", "configMapRef secretRef", "EnvSource", pass, ""},
    {"EnvSource", "name optional", "", pass, ""},
    {"Lifecycle", "stopSignal", "", pass, ""},
    {"Lifecycle", "postStart preStop", "LifecycleHandler", pass, ""},
    {"LifecycleHandler", "exec", "ExecAction", pass, ""},
    {"LifecycleHandler", "httpGet", "HTTPGetAction", pass, ""},
    {"LifecycleHandler", "sleep", "SleepAction", pass, ""},
    {"LifecycleHandler", "tcpSocket", "TCPSocketAction", pass, ""},
    {"SleepAction", "seconds", "", pass, ""},
    {"ExecAction", "command", "", pass, ""},
    {"HTTPGetAction", "host", "", unless<&PodPolicy::probe_hosts>,
     "makes the node call other addresses than the pod's; the policy key probeHosts would allow it"},
    {"HTTPGetAction", "path port protocol scheme", "", pass, ""},
    {"HTTPGetAction", "httpHeaders", "NameAndValue", pass, ""},
    {"NameAndValue", "name value", "", pass, ""},
    {"TCPSocketAction", "host", "", unless<&PodPolicy::probe_hosts>,
     "makes the node call other addresses than the pod's; the policy key probeHosts would allow it"},
    {"TCPSocketAction", "port", "", pass, ""},
    {"Probe", "failureThreshold initialDelaySeconds periodSeconds successThreshold timeoutSeconds", "", pass, ""},
    {"Probe", "terminationGracePeriodSeconds", "", ends_in_time, holds_up},
    {"Probe", "exec", "ExecAction", pass, ""},
    {"Probe", "grpc", "GRPCAction", pass, ""},
    {"Probe", "httpGet", "HTTPGetAction", pass, ""},
    {"Probe", "tcpSocket", "TCPSocketAction", pass, ""},
    {"GRPCAction", "mode port service", "", pass, ""},
    {"ContainerPort", "containerPort hostIP name protocol", "", pass, ""},
    {"ContainerPort", "hostPort", "", unless<&PodPolicy::host_ports>,
     "takes a port of the node; the policy key hostPorts would allow it"},
    {"ContainerResizePolicy", "resourceName restartPolicy", "", pass, ""},
    {"ResourceRequirements", "limits requests", "", pass, ""},
    {"ResourceRequirements", "claims", "ResourceClaim", pass, ""},
    {"ResourceClaim", "name request", "", pass, ""},
    {"ContainerRestartRule", "action", "", pass, ""},
    {"ContainerRestartRule", "exitCodes", "ContainerRestartRuleOnExitCodes", pass, ""},
    {"ContainerRestartRuleOnExitCodes", "operator values", "", pass, ""},
    {"SecurityContext", "allowPrivilegeEscalation readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser", "", pass, ""},
    {"SecurityContext", "privileged", "", unless<&PodPolicy::privileged>,
     "is as good as root on the node; the policy key privileged would allow it"},
    {"SecurityContext", "procMount", "", default_proc,
     "shows the node in /proc; the policy key unconfined would allow it"},
    {"SecurityContext", "appArmorProfile seccompProfile", "SecurityProfile", pass, ""},
    {"SecurityContext", "capabilities", "Capabilities", pass, ""},
    {"SecurityContext", "seLinuxOptions", "SELinuxOptions", pass, ""},
    {"SecurityContext", "windowsOptions", "WindowsSecurityContextOptions", pass, ""},
    {"SecurityProfile", "localhostProfile", "", pass, ""},
    {"SecurityProfile", "type", "", confined,
     "takes the confinement away; the policy key unconfined would allow it"},
    {"Capabilities", "add", "", known_capabilities,
     "adds capabilities beyond the usual ones; capabilities in the policy names those that are allowed"},
    {"Capabilities", "drop", "", pass, ""},
    {"SELinuxOptions", "level", "", pass, ""},
    {"SELinuxOptions", "role user", "", unless<&PodPolicy::unconfined>,
     "leaves the SELinux confinement of containers; the policy key unconfined would allow it"},
    {"SELinuxOptions", "type", "", container_type,
     "is no SELinux type of containers; the policy key unconfined would allow it"},
    {"WindowsSecurityContextOptions", "gmsaCredentialSpec gmsaCredentialSpecName runAsUserName", "", pass, ""},
    {"WindowsSecurityContextOptions", "hostProcess", "", unless<&PodPolicy::privileged>,
     "is as good as root on the node; the policy key privileged would allow it"},
    {"VolumeDevice", "devicePath name", "", pass, ""},
    {"VolumeMount", "bindMountOptions mountPath mountPropagation name readOnly recursiveReadOnly subPath subPathExpr", "",
     pass, ""},
    {"PodDNSConfig", "nameservers searches", "", pass, ""},
    {"PodDNSConfig", "options", "PodDNSConfigOption", pass, ""},
    {"PodDNSConfigOption", "name value", "", pass, ""},
    {"HostAlias", "hostnames ip", "", pass, ""},
    {"LocalObjectReference", "name", "", pass, ""},
    {"NameOnly", "name", "", pass, ""},
    {"PodResourceClaim", "name resourceClaimName resourceClaimTemplateName", "", pass, ""},
    {"PodSecurityContext", "fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy "
     "supplementalGroups supplementalGroupsPolicy", "", pass, ""},
    {"PodSecurityContext", "appArmorProfile seccompProfile", "SecurityProfile", pass, ""},
    {"PodSecurityContext", "seLinuxOptions", "SELinuxOptions", pass, ""},
    {"PodSecurityContext", "sysctls", "NameAndValue", safe_sysctls,
     "sets what is not safe to share with other pods; sysctls in the policy names those that are allowed"},
    {"PodSecurityContext", "windowsOptions", "WindowsSecurityContextOptions", pass, ""},
    {"Toleration", "effect key operator tolerationSeconds value", "", pass, ""},
    {"TopologySpreadConstraint", "matchLabelKeys maxSkew minDomains nodeAffinityPolicy nodeTaintsPolicy topologyKey "
     "whenUnsatisfiable", "", pass, ""},
    {"TopologySpreadConstraint", "labelSelector", "LabelSelector", pass, ""},
    {"Volume", "name", "", pass, ""},
    {"Volume", "gitRepo", "", refused,
     "runs git on the node and was removed from Kubernetes"},
    {"Volume", "awsElasticBlockStore", "AwsElasticBlockStoreVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "azureDisk", "AzureDiskVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "azureFile", "AzureFileVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "cephfs", "CephfsVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "cinder", "CinderVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "configMap", "ConfigMapVolumeSource", pass, ""},
    {"Volume", "csi", "CsiVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "downwardAPI", "DownwardAPIVolumeSource", pass, ""},
    {"Volume", "emptyDir", "EmptyDirVolumeSource", pass, ""},
    {"Volume", "ephemeral", "EphemeralVolumeSource", pass, ""},
    {"Volume", "fc", "FcVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "flexVolume", "FlexVolumeVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "flocker", "FlockerVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "gcePersistentDisk", "GcePersistentDiskVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "glusterfs", "GlusterfsVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "hostPath", "HostPathVolumeSource", present_only_with<&PodPolicy::host_path>,
     "mounts the file system of the node; the policy key hostPath would allow it"},
    {"Volume", "image", "ImageVolumeSource", pass, ""},
    {"Volume", "iscsi", "IscsiVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "nfs", "NfsVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "persistentVolumeClaim", "PersistentVolumeClaimVolumeSource", pass, ""},
    {"Volume", "photonPersistentDisk", "PhotonPersistentDiskVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "portworxVolume", "PortworxVolumeVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "projected", "ProjectedVolumeSource", pass, ""},
    {"Volume", "quobyte", "QuobyteVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "rbd", "RbdVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "scaleIO", "ScaleIOVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "secret", "SecretVolumeSource", pass, ""},
    {"Volume", "storageos", "StorageosVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"Volume", "vsphereVolume", "VsphereVolumeVolumeSource", present_only_with<&PodPolicy::node_volumes>, mounted_by_node},
    {"AwsElasticBlockStoreVolumeSource", "fsType partition readOnly volumeID", "", pass, ""},
    {"AzureDiskVolumeSource", "cachingMode diskName diskURI fsType kind readOnly", "", pass, ""},
    {"AzureFileVolumeSource", "readOnly secretName shareName", "", pass, ""},
    {"CephfsVolumeSource", "monitors path readOnly user", "", pass, ""},
    {"CephfsVolumeSource", "secretFile", "", unless<&PodPolicy::host_path>,
     "names a file of the node; the policy key hostPath would allow it"},
    {"CephfsVolumeSource", "secretRef", "LocalObjectReference", pass, ""},
    {"CinderVolumeSource", "fsType readOnly volumeID", "", pass, ""},
    {"CinderVolumeSource", "secretRef", "LocalObjectReference", pass, ""},
    {"ConfigMapVolumeSource", "defaultMode defaultUser name optional", "", pass, ""},
    {"ConfigMapVolumeSource", "items", "KeyToPath", pass, ""},
    {"KeyToPath", "key mode path user", "", pass, ""},
    {"CsiVolumeSource", "driver fsType readOnly volumeAttributes", "", pass, ""},
    {"CsiVolumeSource", "nodePublishSecretRef", "LocalObjectReference", pass, ""},
    {"DownwardAPIVolumeSource", "defaultMode defaultUser", "", pass, ""},
    {"DownwardAPIVolumeSource", "items", "DownwardAPIVolumeFile", pass, ""},
    {"DownwardAPIVolumeFile", "mode path user", "", pass, ""},
    {"DownwardAPIVolumeFile", "fieldRef", "ObjectFieldSelector", pass, ""},
    {"DownwardAPIVolumeFile", "resourceFieldRef", "ResourceFieldSelector", pass, ""},
    {"EmptyDirVolumeSource", "medium mode sizeLimit", "", pass, ""},
    {"EphemeralVolumeSource", "volumeClaimTemplate", "PersistentVolumeClaimTemplate", pass, ""},
    {"PersistentVolumeClaimTemplate", "metadata", "ObjectMeta", pass, ""},
    {"PersistentVolumeClaimTemplate", "spec", "PersistentVolumeClaimSpec", pass, ""},
    {"ObjectMeta", "annotations labels", "", pass, ""},
    {"ObjectMeta", "creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName "
     "generation managedFields name namespace ownerReferences resourceVersion selfLink uid", "", refused,
     "is not for templates of volume claims"},
    {"PersistentVolumeClaimSpec", "accessModes storageClassName volumeAttributesClassName volumeMode", "", pass, ""},
    {"PersistentVolumeClaimSpec", "volumeName", "", refused,
     "takes a volume that may be anybody's; a claim of a tenant gets one of its own, by a storage class"},
    {"PersistentVolumeClaimSpec", "dataSource", "TypedLocalObjectReference", pass, ""},
    {"PersistentVolumeClaimSpec", "dataSourceRef", "TypedObjectReference", pass, ""},
    {"PersistentVolumeClaimSpec", "resources", "VolumeResourceRequirements", pass, ""},
    {"PersistentVolumeClaimSpec", "selector", "LabelSelector", refused,
     "takes a volume that may be anybody's; a claim of a tenant gets one of its own, by a storage class"},
    {"TypedLocalObjectReference", "apiGroup kind name", "", pass, ""},
    {"TypedObjectReference", "apiGroup kind name", "", pass, ""},
    {"TypedObjectReference", "namespace", "", refused,
     "takes what others have stored; a claim can only be made of what is in its own namespace"},
    {"VolumeResourceRequirements", "limits requests", "", pass, ""},
    {"FcVolumeSource", "fsType lun readOnly targetWWNs wwids", "", pass, ""},
    {"FlexVolumeVolumeSource", "driver fsType options readOnly", "", pass, ""},
    {"FlexVolumeVolumeSource", "secretRef", "LocalObjectReference", pass, ""},
    {"FlockerVolumeSource", "datasetName datasetUUID", "", pass, ""},
    {"GcePersistentDiskVolumeSource", "fsType partition pdName readOnly", "", pass, ""},
    {"GlusterfsVolumeSource", "endpoints path readOnly", "", pass, ""},
    {"HostPathVolumeSource", "path type", "", pass, ""},
    {"ImageVolumeSource", "pullPolicy reference", "", pass, ""},
    {"IscsiVolumeSource", "chapAuthDiscovery chapAuthSession fsType initiatorName iqn iscsiInterface lun portals "
     "readOnly targetPortal", "", pass, ""},
    {"IscsiVolumeSource", "secretRef", "LocalObjectReference", pass, ""},
    {"NfsVolumeSource", "path readOnly server", "", pass, ""},
    {"PersistentVolumeClaimVolumeSource", "claimName readOnly", "", pass, ""},
    {"PhotonPersistentDiskVolumeSource", "fsType pdID", "", pass, ""},
    {"PortworxVolumeVolumeSource", "fsType readOnly volumeID", "", pass, ""},
    {"ProjectedVolumeSource", "defaultMode defaultUser", "", pass, ""},
    {"ProjectedVolumeSource", "sources", "VolumeProjection", pass, ""},
    {"VolumeProjection", "clusterTrustBundle", "ClusterTrustBundleProjection", pass, ""},
    {"VolumeProjection", "configMap secret", "KeyProjection", pass, ""},
    {"VolumeProjection", "downwardAPI", "DownwardAPIProjection", pass, ""},
    {"VolumeProjection", "podCertificate", "PodCertificateProjection", pass, ""},
    {"VolumeProjection", "serviceAccountToken", "ServiceAccountTokenProjection", pass, ""},
    {"ClusterTrustBundleProjection", "name optional path signerName user", "", pass, ""},
    {"ClusterTrustBundleProjection", "labelSelector", "LabelSelector", pass, ""},
    {"DownwardAPIProjection", "items", "DownwardAPIVolumeFile", pass, ""},
    {"PodCertificateProjection", "certificateChainPath credentialBundlePath keyPath keyType maxExpirationSeconds user "
     "userAnnotations", "", pass, ""},
    {"PodCertificateProjection", "signerName", "", named<&PodPolicy::certificate_signers>,
     "is not among the signers of this cluster that may certify pods of the tenant, which are those of "
     "certificateSigners in the policy"},
    {"ServiceAccountTokenProjection", "audience expirationSeconds path user", "", pass, ""},
    {"KeyProjection", "name optional", "", pass, ""},
    {"KeyProjection", "items", "KeyToPath", pass, ""},
    {"QuobyteVolumeSource", "group readOnly registry tenant user volume", "", pass, ""},
    {"RbdVolumeSource", "fsType image monitors pool readOnly user", "", pass, ""},
    {"RbdVolumeSource", "keyring", "", default_keyring,
     "names a file of the node; the policy key hostPath would allow it"},
    {"RbdVolumeSource", "secretRef", "LocalObjectReference", pass, ""},
    {"ScaleIOVolumeSource", "fsType gateway protectionDomain readOnly sslEnabled storageMode storagePool system "
     "volumeName", "", pass, ""},
    {"ScaleIOVolumeSource", "secretRef", "LocalObjectReference", pass, ""},
    {"SecretVolumeSource", "defaultMode defaultUser optional secretName", "", pass, ""},
    {"SecretVolumeSource", "items", "KeyToPath", pass, ""},
    {"StorageosVolumeSource", "fsType readOnly volumeName volumeNamespace", "", pass, ""},
    {"StorageosVolumeSource", "secretRef", "LocalObjectReference", pass, ""},
    {"VsphereVolumeVolumeSource", "fsType storagePolicyID storagePolicyName volumePath", "", pass, ""},
};
// clang-format on

}  // namespace

std::span<const FirewallRow> firewall_table() { return table; }

}  // namespace liqo::core::admission
