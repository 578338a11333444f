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
