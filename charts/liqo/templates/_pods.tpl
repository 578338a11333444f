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
