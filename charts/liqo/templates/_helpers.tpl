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
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The role of a file of the chart. Takes (list $ file), and a namespace in third place for a Role. */}}
{{- define "liqo.role" -}}
{{- $top := index . 0 -}}
{{- $role := $top.Files.Get (index . 1) | fromYaml -}}
apiVersion: {{ $role.apiVersion }}
kind: {{ $role.kind }}
metadata:
  name: {{ $role.metadata.name }}
  {{- if gt (len .) 2 }}
  namespace: {{ index . 2 }}
  {{- end }}
  labels:
    {{- include "liqo.labels" $top | nindent 4 }}
rules:
  {{- toYaml $role.rules | nindent 2 }}
{{- end }}

{{/* A binding of a role to the daemon. Takes (list $ "name" "role kind" "role"), and a namespace for a RoleBinding. */}}
{{- define "liqo.binding" -}}
{{- $top := index . 0 -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "RoleBinding" "ClusterRoleBinding" (gt (len .) 4) }}
metadata:
  name: {{ index . 1 }}
  {{- if gt (len .) 4 }}
  namespace: {{ index . 4 }}
  {{- end }}
  labels:
    {{- include "liqo.labels" $top | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ index . 2 }}
  name: {{ index . 3 }}
subjects:
  - kind: ServiceAccount
    name: liqo
    namespace: {{ $top.Release.Namespace }}
{{- end }}
