{{/* Names have 63 characters at most. */}}
{{- define "heddle.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "heddle.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "heddle.labels" -}}
{{ include "heddle.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "heddle.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "heddle.name" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* Where links lead that sign users in; where empty, to the address by which each was asked for. */}}
{{- define "heddle.publicUrl" -}}
{{- if .Values.publicUrl -}}
{{- .Values.publicUrl -}}
{{- else if and .Values.ingress.enabled .Values.ingress.tls -}}
{{- printf "https://%s" (first .Values.ingress.hosts) -}}
{{- else if and (not .Values.ingress.enabled) (empty .Values.hosts) -}}
http://localhost:6060
{{- end -}}
{{- end -}}

{{/* All names by which requests come: those of the Ingress, of the Service, and the address of the pod, which Prometheus asks. */}}
{{- define "heddle.hosts" -}}
{{- $name := include "heddle.name" . -}}
{{- $service := list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s.svc.cluster.local" $name .Release.Namespace) -}}
{{- concat .Values.hosts .Values.ingress.hosts $service (list "$(POD_IP)") | uniq | join "," -}}
{{- end -}}
