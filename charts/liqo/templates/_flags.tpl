{{/*
The flags that the values give to liqod, and how they are written. A row is a flag: its name, its form, its value, and its
condition if it has one.

    word    --name=value     a name, a number, true or false: given unless a condition is empty
    text    --name="value"   given if the text is not empty
    each    --name="value"   given once for each text of a list
    switch  --name           given if the value is true

A row with a condition is given if that is not empty, whatever its form. "liqo.settersOfFlags" (_arguments.tpl) has a line for
each flag that may be given once.
*/}}
{{- define "liqo.flags" -}}
{{- $namespaces := .Values.offloading.namespaces | default dict -}}
{{- $reflection := .Values.offloading.reflection -}}
{{- $port := .Values.apiServer.portForPods -}}
{{- $storage := .Values.storage.enabled -}}
{{- /* Its name, where it listens, and what it enforces. */ -}}
{{- include "liqo.rows" (list
  (list "cluster-id"                           "word"   (include "liqo.clusterID" .))
  (list "liqo-namespace"                       "word"   "$(POD_NAMESPACE)")
  (list "node-ip"                              "text"   (.Values.nodeIP | default "$(POD_IP)"))
  (list "listen-port"                          "word"   (int64 .Values.listenPort))
  (list "listen-port-count"                    "word"   (int64 (.Values.listenPortCount | default 1)))
  (list "metrics-address"                      "word"   (int64 .Values.metrics.port | toString | printf ":%s"))
  (list "metrics-secure"                       "word"   .Values.metrics.secure)
  (list "metrics-cert-path"                    "word"   "/etc/liqo/metrics" (include "liqo.metricsCertificate" .))
  (list "health-probe-address"                 "word"   (int64 .Values.healthPort | toString | printf ":%s"))
  (list "webhook-port"                         "word"   (int64 .Values.webhook.port))
  (list "webhook-failure-policy"               "word"   .Values.webhook.failurePolicy)
) -}}
{{- if include "liqo.metricAgent" . -}}
{{- include "liqo.rows" (list
  (list "metric-agent-port"                    "word"   (int64 .Values.metricAgent.port))
  (list "metric-agent-timeout"                 "word"   .Values.metricAgent.config.timeout.read)
  (list "kubelet-ca-file"                      "word"   "/etc/liqo/kubelet-ca/ca.crt" .Values.metricAgent.kubeletCAConfigMap)
) -}}
{{- end -}}
{{- include "liqo.rows" (list
  (list "enable-resource-enforcement"          "word"   .Values.controllerManager.config.enableResourceEnforcement)
  (list "enable-node-failure-controller"       "word"   .Values.controllerManager.config.enableNodeFailureController)
) -}}
{{- /* With one replica too: an update runs the old one and the new one side by side. */ -}}
{{- include "liqo.rows" (list
  (list "leader-elect"                         "switch" true)
) -}}
{{- /* What peers are told, and how offloaded pods reach this cluster. */ -}}
{{- include "liqo.rows" (list
  (list "pod-cidr"                             "text"   .Values.ipam.podCIDR)
  (list "pod-cidr"                             "each"   .Values.ipam.podCIDRs)
  (list "api-server-address-override"          "text"   .Values.apiServer.address)
  (list "ca-override"                          "text"   .Values.apiServer.ca)
  (list "trusted-ca"                           "switch" .Values.apiServer.trustedCA)
  (list "tls-compatibility-mode"               "switch" .Values.authentication.tlsCompatibilityMode)
  (list "disable-ip-reflection"                "switch" (not .Values.networking.reflectIPs))
  (list "deny-direct-connections"              "switch" .Values.networking.denyDirectConnections)
  (list "virtual-storage-class-name"           "word"   .Values.storage.virtualStorageClassName $storage)
  (list "storage-namespace"                    "word"   .Values.storage.storageNamespace $storage)
  (list "apiserver-support"                    "word"   (include "liqo.tokenMode" .) (include "liqo.tokenValues" . | fromYamlArray))
  (list "audience-tokens"                      "word"   (ternary "never" .Values.apiServer.audienceTokens (eq "never" (include "liqo.audienceTokens" .))))
  (list "trust-bundles"                        "word"   .Values.offloading.trustBundles)
  (list "pod-certificates"                     "word"   .Values.offloading.podCertificates)
  (list "home-api-server-host"                 "text"   .Values.apiServer.hostForPods)
  (list "home-api-server-port"                 "word"   (include "liqo.text" $port) $port)
  (list "webhook-client-ca-file"               "word"   "/etc/liqo/webhook-client-ca/ca.crt" .Values.webhook.clientCAConfigMap)
  (list "pod-reflection-workers"               "word"   (int64 $reflection.pod.workers))
) -}}
{{- /* The reflected kinds, and custom resources. */ -}}
{{- /* kinds: made by tools/reference from liqod's flags */ -}}
{{- $kinds := list "configmap" "endpointslice" "ingress" "secret" "service" -}}
{{- /* kinds: until here */ -}}
{{- range $kind := $kinds -}}
{{- $policy := get $reflection $kind -}}
{{- include "liqo.rows" (list
  (list (printf "%s-reflection-workers" $kind)       "word"   (int64 $policy.workers))
  (list (printf "%s-reflection-type" $kind)          "word"   (get $policy "type") (get $policy "type"))
) -}}
{{- end -}}
{{- range $reflection.custom -}}
{{- include "liqo.rows" (list (list "reflect-custom" "word" (include "liqo.customResource" .))) -}}
{{- end -}}
{{- /* Namespaces, what is left out of their objects, tenants and virtual nodes. An empty list of keys replaces liqod's own. */ -}}
{{- include "liqo.rows" (list
  (list "offload-namespaces"                   "text"   $namespaces.selector)
  (list "offload-namespaces-pod-strategy"      "word"   $namespaces.podOffloadingStrategy $namespaces.selector)
  (list "offload-namespaces-mapping-strategy"  "word"   $namespaces.namespaceMappingStrategy $namespaces.selector)
  (list "offload-namespaces-to"                "each"   $namespaces.clusterSelectors $namespaces.selector)
  (list "labels-not-reflected"                 "text"   (join "," $reflection.skip.labels) true)
  (list "annotations-not-reflected"            "text"   (join "," $reflection.skip.annotations) true)
  (list "reflection-keep-keys"                 "text"   (join "," ($reflection.keepKeys | default list)))
  (list "cordon-silent-tenants-after"          "word"   (include "liqo.text" .Values.cordonSilentTenantsAfter))
  (list "twin-names"                           "text"   (join "," (.Values.twinNames | default list)))
  (list "home-names"                           "word"   false (eq (toString .Values.homeNames) "false"))
  (list "node-extra-labels"                    "text"   (include "liqo.pairs" .Values.virtualKubelet.virtualNode.extra.labels))
  (list "node-extra-annotations"               "text"   (include "liqo.pairs" .Values.virtualKubelet.virtualNode.extra.annotations))
) -}}
{{- end }}

{{/* The lines of rows, each after a line break. */}}
{{- define "liqo.rows" -}}
{{- range . -}}
{{- $name := index . 0 -}}
{{- $form := index . 1 -}}
{{- $value := index . 2 -}}
{{- $given := or (eq $form "word") $value -}}
{{- if gt (len .) 3 -}}
{{- $given = index . 3 -}}
{{- end -}}
{{- if $given -}}
{{- if eq $form "word" }}
- --{{ $name }}={{ $value }}
{{- else if eq $form "text" }}
- {{ printf "--%s=%s" $name $value | quote }}
{{- else if eq $form "switch" }}
- --{{ $name }}
{{- else }}
{{- range $value }}
- {{ printf "--%s=%s" $name . | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* An element of offloading.reflection.custom, as liqod takes it. */}}
{{- define "liqo.customResource" -}}
{{ .resource }}.{{ .group }}
{{- if .status }},status{{ end }}
{{- with .type }},type={{ . }}{{ end }}
{{- if hasKey . "workers" }},workers={{ int64 .workers }}{{ end }}
{{- end }}
