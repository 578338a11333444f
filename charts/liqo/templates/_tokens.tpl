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

{{/* Whether tokens with an audience of their own come from this cluster: always or never. Without workers for service
     accounts, which is the Go version's word, no token does. */}}
{{- define "liqo.audienceTokens" -}}
{{- $accounts := .Values.offloading.reflection.serviceaccount | default dict -}}
{{- if eq (toJson (get $accounts "workers")) "0" -}}
never
{{- else -}}
{{ .Values.apiServer.audienceTokens | default "always" }}
{{- end -}}
{{- end }}

{{/* Whether offloaded pods may get tokens: some text or nothing. */}}
{{- define "liqo.tokens" -}}
{{- if or (ne "never" (include "liqo.tokenMode" .)) (ne "never" (include "liqo.audienceTokens" .)) -}}
true
{{- end -}}
{{- end }}
