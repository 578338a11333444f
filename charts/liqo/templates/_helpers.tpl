{{/* Labels that select the daemon's pods. They never change between versions. */}}
{{- define "liqo.selector" -}}
app.kubernetes.io/name: liqod
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of every object. */}}
{{- define "liqo.labels" -}}
{{ include "liqo.selector" . }}
app.kubernetes.io/part-of: liqo
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.common.globalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Metadata of an object. Takes (list $ name), and a namespace in third place. */}}
{{- define "liqo.metadata" -}}
{{- $top := index . 0 -}}
name: {{ index . 1 }}
{{- if gt (len .) 2 }}
namespace: {{ index . 2 }}
{{- end }}
labels:
  {{- include "liqo.labels" $top | nindent 2 }}
{{- with $top.Values.common.globalAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Metadata of what a monitoring system picks by its labels. Takes (list $ name labels). */}}
{{- define "liqo.monitor" -}}
{{- $top := index . 0 -}}
name: {{ index . 1 }}
namespace: {{ $top.Release.Namespace }}
labels:
  {{- include "liqo.labels" $top | nindent 2 }}
  {{- with index . 2 }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $top.Values.common.globalAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The role of a file of the chart. Takes (list $ file), and a namespace in third place for a Role. */}}
{{- define "liqo.role" -}}
{{- $top := index . 0 -}}
{{- $role := $top.Files.Get (index . 1) | fromYaml -}}
apiVersion: {{ $role.apiVersion }}
kind: {{ $role.kind }}
metadata:
  {{- if gt (len .) 2 }}
  {{- include "liqo.metadata" (list $top $role.metadata.name (index . 2)) | nindent 2 }}
  {{- else }}
  {{- include "liqo.metadata" (list $top $role.metadata.name) | nindent 2 }}
  {{- end }}
rules:
  {{- toYaml $role.rules | nindent 2 }}
{{- end }}

{{/* A binding of a role to the daemon. Takes (list $ "name" "role kind" "role"), and a namespace for a RoleBinding. */}}
{{- define "liqo.binding" -}}
{{- $top := index . 0 -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "RoleBinding" "ClusterRoleBinding" (gt (len .) 4) }}
metadata:
  {{- if gt (len .) 4 }}
  {{- include "liqo.metadata" (list $top (index . 1) (index . 4)) | nindent 2 }}
  {{- else }}
  {{- include "liqo.metadata" (list $top (index . 1)) | nindent 2 }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ index . 2 }}
  name: {{ index . 3 }}
subjects:
  - kind: ServiceAccount
    name: liqo
    namespace: {{ $top.Release.Namespace }}
{{- end }}

{{/* A number or a text of the values, as text without an exponent. */}}
{{- define "liqo.text" -}}
{{ toJson . | trimAll "\"" }}
{{- end }}

{{/* A map as "a=1,b=2". */}}
{{- define "liqo.pairs" -}}
{{- $pairs := list -}}
{{- range $key, $value := . -}}
{{- $pairs = append $pairs (printf "%s=%s" $key (include "liqo.text" $value)) -}}
{{- end -}}
{{ join "," $pairs }}
{{- end }}

{{/* Classes of the values as "name;default,name2". */}}
{{- define "liqo.classes" -}}
{{- $classes := list -}}
{{- range . -}}
{{- $classes = append $classes (printf "%s%s" .name (ternary ";default" "" (default false .default))) -}}
{{- end -}}
{{ join "," $classes }}
{{- end }}

{{/* There is no public registry, and a name that somebody else could take is no default. */}}
{{- define "liqo.image" -}}
{{- if not .Values.image.repository -}}
{{- fail "the daemon needs an image, and no public registry has it: load it on the nodes or push it to a registry (docs/image.md), and give its name with --set image.repository=..." -}}
{{- end -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Values.tag | default .Chart.AppVersion) }}
{{- end }}

{{/* The daemon would refuse them when it starts: what is no custom resource, and a name that is given twice. */}}
{{- define "liqo.checkCustomResources" -}}
{{- $names := list -}}
{{- range .Values.offloading.reflection.custom -}}
{{- $name := printf "%s.%s" .resource .group -}}
{{- if regexMatch "^(admissionregistration[.]k8s[.]io|apiextensions[.]k8s[.]io|apiregistration[.]k8s[.]io|apps|authentication[.]k8s[.]io|authorization[.]k8s[.]io|autoscaling|batch|certificates[.]k8s[.]io|coordination[.]k8s[.]io|discovery[.]k8s[.]io|events[.]k8s[.]io|extensions|flowcontrol[.]apiserver[.]k8s[.]io|internal[.]apiserver[.]k8s[.]io|networking[.]k8s[.]io|node[.]k8s[.]io|policy|rbac[.]authorization[.]k8s[.]io|resource[.]k8s[.]io|scheduling[.]k8s[.]io|storage[.]k8s[.]io|storagemigration[.]k8s[.]io|(.*[.])?liqo[.]io|(.*[.])?metrics[.]k8s[.]io)$" .group -}}
{{- fail (printf "offloading.reflection.custom: %s is of a group that Kubernetes or Liqo has itself: only custom resources are reflected so" $name) -}}
{{- end -}}
{{- if has $name $names -}}
{{- fail (printf "offloading.reflection.custom names %s twice" $name) -}}
{{- end -}}
{{- $names = append $names $name -}}
{{- end -}}
{{- end }}

{{- define "liqo.clusterID" -}}
{{- $id := .Values.discovery.config.clusterID | default .Values.clusterID -}}
{{- if and .Values.clusterID (ne $id .Values.clusterID) -}}
{{- fail (printf "clusterID is %s and discovery.config.clusterID is %s: give one of them" .Values.clusterID $id) -}}
{{- end -}}
{{- if not $id -}}
{{- fail "the cluster needs an ID, by which its peers know it: give --cluster-id (liqoctl) or --set clusterID=... (helm)" -}}
{{- end -}}
{{- if or (not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" $id)) (gt (len $id) 51) -}}
{{- fail (printf "%s is no cluster ID: lower-case letters, digits and dashes, at most 51 characters" (quote $id)) -}}
{{- end -}}
{{ $id }}
{{- end }}

{{/* The Secret with the certificate of the metrics, or nothing. */}}
{{- define "liqo.metricsCertificate" -}}
{{- if .Values.metrics.secure }}{{ .Values.metrics.certificateSecret }}{{ end -}}
{{- end }}

{{/* How a monitor of the Prometheus operator asks for metrics: with a token that is for nothing else. */}}
{{- define "liqo.scraping" -}}
{{- if .Values.metrics.secure -}}
scheme: https
authorization:
  type: Bearer
  credentials:
    name: liqo-metrics-reader
    key: token
tlsConfig:
  {{- with include "liqo.metricsCertificate" . }}
  ca:
    secret:
      name: {{ quote . }}
      key: ca.crt
  serverName: liqod-metrics.{{ $.Release.Namespace }}.svc
  {{- else }}
  insecureSkipVerify: true
  {{- end }}
{{- end -}}
{{- end }}

{{/* What the values alone say of which offloaded pods get tokens, as a list. */}}
{{- define "liqo.tokenValues" -}}
{{- $said := list -}}
{{- if .Values.enableAPIServerSupport -}}
{{- $said = append $said "always" -}}
{{- end -}}
{{- if ne .Values.apiServer.support "needed" -}}
{{- $said = append $said .Values.apiServer.support -}}
{{- end -}}
{{- $accounts := .Values.offloading.reflection.serviceaccount | default dict -}}
{{- if eq (toJson (get $accounts "workers")) "0" -}}
{{- $said = append $said "never" -}}
{{- end -}}
{{ toJson $said }}
{{- end }}

{{/* Which offloaded pods get tokens, by the values and the arguments: never, needed or always. */}}
{{- define "liqo.tokenMode" -}}
{{- $said := include "liqo.tokenValues" . | fromYamlArray -}}
{{- $byValues := len $said -}}
{{- $before := "" -}}
{{- range $argument := include "liqo.extraArgs" . | fromYamlArray -}}
{{- range $mode := list "never" "needed" "always" -}}
{{- if or (eq $argument (printf "--apiserver-support=%s" $mode)) (and (eq $before "--apiserver-support") (eq $argument $mode)) -}}
{{- if gt $byValues 0 -}}
{{- fail "extraArgs: --apiserver-support would be said twice, there and by apiServer.support, enableAPIServerSupport or offloading.reflection.serviceaccount.workers=0: say it once" -}}
{{- end -}}
{{- $said = append $said $mode -}}
{{- end -}}
{{- end -}}
{{- if or (eq $argument "--enable-apiserver-support") (eq $argument "--enable-apiserver-support=true") -}}
{{- $said = append $said "always" -}}
{{- end -}}
{{- if eq $argument "--enable-apiserver-support=false" -}}
{{- $said = append $said "never" -}}
{{- end -}}
{{- $before = $argument -}}
{{- end -}}
{{- $mode := "" -}}
{{- range $one := $said -}}
{{- if and $mode (ne $mode $one) -}}
{{- fail (printf "enableAPIServerSupport, apiServer.support, offloading.reflection.serviceaccount.workers=0 and extraArgs say both %s and %s of who gets tokens: say one of them" $mode $one) -}}
{{- end -}}
{{- $mode = $one -}}
{{- end -}}
{{ $mode | default "needed" }}
{{- end }}

{{/* Whether offloaded pods may get tokens: some text or nothing. Where only those do that need them, they do not before the
     address of the API server is known. */}}
{{- define "liqo.tokens" -}}
{{- $mode := include "liqo.tokenMode" . -}}
{{- if eq $mode "always" -}}
true
{{- end -}}
{{- if eq $mode "needed" -}}
{{- if .Values.apiServer.hostForPods -}}
true
{{- end -}}
{{- range include "liqo.extraArgs" . | fromYamlArray -}}
{{- if or (eq "--home-api-server-host" .) (hasPrefix "--home-api-server-host=" .) -}}
true
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The largest number of replicas that the values give to a part of the Go Liqo, else the value replicas. */}}
{{- define "liqo.replicas" -}}
{{- $most := 0 -}}
{{- range $part := list .Values.controllerManager .Values.webhook .Values.virtualKubelet -}}
{{- $wanted := int64 (get $part "replicas" | default 0) -}}
{{- if gt $wanted (int64 $most) -}}
{{- $most = $wanted -}}
{{- end -}}
{{- end -}}
{{ int64 ($most | default .Values.replicas) }}
{{- end }}

{{/* What several values say of one monitor, the first of them first. Takes the list of them. */}}
{{- define "liqo.monitoring" -}}
{{- $enabled := false -}}
{{- $interval := "" -}}
{{- $timeout := "" -}}
{{- $labels := dict -}}
{{- range $one := . -}}
{{- $given := $one | default dict -}}
{{- $enabled = or $enabled (eq (toJson (get $given "enabled")) "true") -}}
{{- $interval = $interval | default (get $given "interval") -}}
{{- $timeout = $timeout | default (get $given "scrapeTimeout") -}}
{{- $labels = $labels | default (get $given "labels") | default dict -}}
{{- end -}}
{{ toJson (dict "enabled" $enabled "interval" $interval "scrapeTimeout" $timeout "labels" $labels) }}
{{- end }}

{{- define "liqo.serviceMonitor" -}}
{{- $manager := .Values.controllerManager.metrics | default dict -}}
{{- $webhook := .Values.webhook.metrics | default dict -}}
{{ include "liqo.monitoring" (list .Values.metrics.serviceMonitor (get $manager "serviceMonitor") (get $webhook "serviceMonitor")) }}
{{- end }}

{{- define "liqo.podMonitor" -}}
{{- $kubelet := .Values.virtualKubelet.metrics | default dict -}}
{{- $replicator := get (.Values.crdReplicator | default dict) "metrics" | default dict -}}
{{ include "liqo.monitoring" (list .Values.metrics.prometheusOperator (get $kubelet "podMonitor") (get $replicator "podMonitor")) }}
{{- end }}

{{/* Labels and annotations of the Service for scrapers. */}}
{{- define "liqo.metricsService" -}}
{{- $labels := .Values.metrics.service.labels -}}
{{- $annotations := .Values.metrics.service.annotations -}}
{{- range $part := list .Values.controllerManager .Values.webhook -}}
{{- $service := get (get $part "metrics" | default dict) "service" | default dict -}}
{{- $labels = $labels | default (get $service "labels") | default dict -}}
{{- $annotations = $annotations | default (get $service "annotations") | default dict -}}
{{- end -}}
{{ toJson (dict "labels" $labels "annotations" $annotations) }}
{{- end }}

{{/* Where the daemon runs: each replica on another node if possible, and never on a virtual node, which it serves. */}}
{{- define "liqo.affinity" -}}
{{- $given := .Values.affinity | default .Values.common.affinity | default dict -}}
{{- include "liqo.nodeAffinity" . }}
{{- with get $given "podAffinity" }}
podAffinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
podAntiAffinity:
  {{- with get $given "podAntiAffinity" }}
  {{- toYaml . | nindent 2 }}
  {{- else }}
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "liqo.selector" . | nindent 12 }}
  {{- end }}
{{- end }}

{{/* On no virtual node, and where the values say. */}}
{{- define "liqo.nodeAffinity" -}}
{{- $given := .Values.affinity | default .Values.common.affinity | default dict -}}
{{- $nodes := get $given "nodeAffinity" | default dict -}}
{{- $required := get $nodes "requiredDuringSchedulingIgnoredDuringExecution" | default dict -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      {{- range get $required "nodeSelectorTerms" | default (list dict) }}
      - matchExpressions:
          - key: liqo.io/type
            operator: NotIn
            values: [virtual-node]
          {{- with get . "matchExpressions" }}
          {{- toYaml . | nindent 10 }}
          {{- end }}
        {{- with get . "matchFields" }}
        matchFields:
          {{- toYaml . | nindent 10 }}
        {{- end }}
      {{- end }}
  {{- with get $nodes "preferredDuringSchedulingIgnoredDuringExecution" }}
  preferredDuringSchedulingIgnoredDuringExecution:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* Whether consumers are told the metrics of their pods. Earlier charts of the Go Liqo say "enable". */}}
{{- define "liqo.metricAgent" -}}
{{- $agent := .Values.metricAgent -}}
{{- $on := $agent.enabled -}}
{{- if hasKey $agent "enable" -}}
{{- $on = $agent.enable -}}
{{- end -}}
{{- if and .Values.deployment $on -}}
true
{{- end -}}
{{- end }}

{{/* Refuses a Helm whose `and` and `or` evaluate all their arguments (built with Go before 1.18), because its errors would not
     say so. liqoctl has an engine of its own. */}}
{{- define "liqo.checkHelm" -}}
{{- with .Capabilities -}}
{{- if not (semverCompare ">=3.10.0-0" .HelmVersion.Version) -}}
{{- fail (printf "this is Helm %s, and 3.10 or later is needed: bring Helm up to date, or use liqoctl install, which needs none" .HelmVersion.Version) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Whether a value is given of which an entry of go-values.yaml speaks: some text or nothing. Takes (list .Values entry). */}}
{{- define "liqo.concerned" -}}
{{- $at := index . 0 -}}
{{- $entry := index . 1 -}}
{{- $there := true -}}
{{- range $key := $entry.path -}}
{{- if and $there (hasKey ($at | default dict) $key) -}}
{{- $at = get $at $key -}}
{{- else -}}
{{- $there = false -}}
{{- end -}}
{{- end -}}
{{- if $there -}}
{{- $said := toJson $at -}}
{{- if and (ne $said "null") (has $said ($entry.only | default (list $said))) (not (has $said ($entry.but | default list))) -}}
true
{{- end -}}
{{- end -}}
{{- end }}

{{/* What is given for parts of the Go Liqo which do not exist here, and why it has no effect, one in each line. */}}
{{- define "liqo.noEffect" -}}
{{- range $entry := (.Files.Get "go-values.yaml" | fromYaml).noEffect -}}
{{- if include "liqo.concerned" (list $.Values $entry) }}
{{ join "." $entry.path }}: {{ $entry.why }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Refuses values of the Go Liqo's chart that would be believed to hold. */}}
{{- define "liqo.refuse" -}}
{{- range $entry := (.Files.Get "go-values.yaml" | fromYaml).refused -}}
{{- if include "liqo.concerned" (list $.Values $entry) -}}
{{- fail (printf "value %s: %s" (join "." $entry.path) $entry.why) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Metadata of what Helm makes for a hook. Takes (list $ "name" "hooks" "weight" "more policies of deletion"). */}}
{{- define "liqo.hook" -}}
{{- $top := index . 0 -}}
name: {{ index . 1 }}
labels:
  {{- include "liqo.hookLabels" $top | nindent 2 }}
annotations:
  helm.sh/hook: {{ index . 2 }}
  helm.sh/hook-weight: {{ index . 3 | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded{{ index . 4 }}
  helm.sh/hook-output-log-policy: hook-failed
  {{- with $top.Values.common.globalAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Not those that select the daemon's pods, or its Services would lead to these, too. */}}
{{- define "liqo.hookLabels" -}}
app.kubernetes.io/name: liqoctl
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: liqo
{{- with .Values.common.globalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* A Job that runs liqoctl once. Takes (list $ "service account" retries (list "argument" ...)). */}}
{{- define "liqo.hookJob" -}}
{{- $top := index . 0 -}}
backoffLimit: {{ index . 2 }}
activeDeadlineSeconds: 300
# One that has failed stays for its log, and not for ever.
ttlSecondsAfterFinished: 3600
template:
  metadata:
    labels:
      {{- include "liqo.hookLabels" $top | nindent 6 }}
  spec:
    restartPolicy: Never
    serviceAccountName: {{ index . 1 }}
    {{- include "liqo.where" $top | nindent 4 }}
    # Beside the daemon, too, whatever its values say of other pods: there may be no other node.
    affinity:
      {{- include "liqo.nodeAffinity" $top | nindent 6 }}
    containers:
      - name: liqoctl
        image: {{ include "liqo.image" $top | quote }}
        imagePullPolicy: {{ $top.Values.pullPolicy }}
        command: [/usr/bin/liqoctl]
        args:
          {{- range index . 3 }}
          - {{ . }}
          {{- end }}
          - --namespace={{ $top.Release.Namespace }}
        {{- include "liqo.confined" $top | nindent 8 }}
        resources:
          requests:
            cpu: 10m
            memory: 32Mi
          limits:
            memory: 256Mi
{{- end }}

{{/* Who the pods run as, and on which nodes. */}}
{{- define "liqo.where" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  {{- if not .Values.openshiftConfig.enabled }}
  runAsUser: 65532
  runAsGroup: 65532
  {{- end }}
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.nodeSelector | default .Values.common.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations | default .Values.common.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "liqo.confined" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}
