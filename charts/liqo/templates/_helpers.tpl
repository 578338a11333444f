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
