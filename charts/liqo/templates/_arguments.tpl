{{/* The arguments of liqod: the flags that values give, and then those of extraArgs, none of which may be given twice. */}}
{{- define "liqo.arguments" -}}
{{- $flags := include "liqo.flags" . | trim -}}
{{- $further := include "liqo.extraArgs" . | fromYamlArray -}}
{{- range $flag, $setter := include "liqo.settersOfFlags" . | fromYaml -}}
{{- range $argument := $further -}}
{{- if or (eq $argument (printf "--%s" $flag)) (hasPrefix (printf "--%s=" $flag) $argument) -}}
{{- range $given := $flags | fromYamlArray -}}
{{- if or (eq $given (printf "--%s" $flag)) (hasPrefix (printf "--%s=" $flag) $given) -}}
{{- fail (printf "extraArgs: --%s is set by %s: set that" $flag $setter) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ $flags }}
{{- range $further }}
- {{ quote . }}
{{- end }}
{{- end }}

{{/* What sets each flag of _flags.tpl that may be given once, as a map. */}}
{{- define "liqo.settersOfFlags" -}}
cluster-id: value clusterID
liqo-namespace: the namespace of the installation
node-ip: value nodeIP
listen-port: value listenPort
listen-port-count: value listenPortCount
metrics-address: value metrics.port
metrics-secure: value metrics.secure
metrics-cert-path: value metrics.certificateSecret
health-probe-address: value healthPort
webhook-port: value webhook.port
webhook-failure-policy: value webhook.failurePolicy
metric-agent-port: value metricAgent.port
metric-agent-timeout: value metricAgent.config.timeout.read
kubelet-ca-file: value metricAgent.kubeletCAConfigMap
enable-resource-enforcement: value controllerManager.config.enableResourceEnforcement
enable-node-failure-controller: value controllerManager.config.enableNodeFailureController
api-server-address-override: value apiServer.address
ca-override: value apiServer.ca
trusted-ca: value apiServer.trustedCA
tls-compatibility-mode: value authentication.tlsCompatibilityMode
disable-ip-reflection: value networking.reflectIPs
deny-direct-connections: value networking.denyDirectConnections
virtual-storage-class-name: value storage.virtualStorageClassName
storage-namespace: value storage.storageNamespace
apiserver-support: value apiServer.support
audience-tokens: value apiServer.audienceTokens
trust-bundles: value offloading.trustBundles
pod-certificates: value offloading.podCertificates
home-api-server-host: value apiServer.hostForPods
home-api-server-port: value apiServer.portForPods
webhook-client-ca-file: value webhook.clientCAConfigMap
offload-namespaces: value offloading.namespaces.selector
offload-namespaces-pod-strategy: value offloading.namespaces.podOffloadingStrategy
offload-namespaces-mapping-strategy: value offloading.namespaces.namespaceMappingStrategy
home-names: value homeNames
cordon-silent-tenants-after: value cordonSilentTenantsAfter
{{- range $kind, $policy := .Values.offloading.reflection }}
{{ $kind }}-reflection-workers: value offloading.reflection.{{ $kind }}.workers
{{ $kind }}-reflection-type: value offloading.reflection.{{ $kind }}.type
{{- end }}
{{- end }}

{{/* Arguments of the daemon that are no values of their own, as a list. */}}
{{- define "liqo.extraArgs" -}}
{{- $pod := .Values.controllerManager.pod | default dict -}}
{{- $kubelet := .Values.virtualKubelet.extra | default dict -}}
{{- $given := concat .Values.extraArgs (.Values.common.extraArgs | default list) (get $pod "extraArgs" | default list) (get $kubelet "args" | default list) -}}
{{- $values := dict
  "default-node-resources" "offloading.defaultNodeResources"
  "default-limits-enforcement" "controllerManager.config.defaultLimitsEnforcement"
  "default-resource-slice-class-enabled" "authentication.defaultResourceSliceClassEnabled"
  "sharing-percentage" "offloading.sharingPercentage"
  "cluster-labels" "discovery.config.clusterLabels"
  "ingress-classes" "offloading.reflection.ingress.ingressClasses"
  "load-balancer-classes" "offloading.reflection.service.loadBalancerClasses"
  "enable-storage" "storage.enabled"
  "real-storage-class-name" "storage.realStorageClassName"
-}}
{{- range $argument := $given -}}
{{- range $flag, $value := $values -}}
{{- if or (eq $argument (printf "--%s" $flag)) (hasPrefix (printf "--%s=" $flag) $argument) -}}
{{- fail (printf "extraArgs: --%s would have no effect beside the value %s: set that" $flag $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ toJson $given }}
{{- end }}
