{{- define "mooring.name" -}}
{{- .Values.nameOverride | default "mooring" }}
{{- end }}

{{- define "mooring.fullname" -}}
{{- .Values.fullnameOverride | default (include "mooring.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* Cluster-scoped objects of several releases must have different names. */ -}}
{{- define "mooring.clusterName" -}}
{{- include "mooring.fullname" . }}{{ if ne .Release.Namespace "mooring-system" }}-{{ .Release.Namespace }}{{ end }}
{{- end }}

{{- /* The name of a component; for the operator, the full name. Takes the root and the component. */ -}}
{{- define "mooring.component" -}}
{{- $component := last . }}
{{- include "mooring.fullname" (first .) }}{{ if ne $component "operator" }}-{{ $component }}{{ end }}
{{- end }}

{{- /* The values of a component. Those of the operator are at the top level. */ -}}
{{- define "mooring.account" -}}
{{- $component := last . }}
{{- $values := (first .).Values }}
{{- if ne $component "operator" }}{{ $values = get $values $component }}{{ end }}
{{- $values.serviceAccount.name | default (include "mooring.component" .) }}
{{- end }}

{{- /* Takes the root and the component. */ -}}
{{- define "mooring.selector" -}}
app.kubernetes.io/name: {{ include "mooring.name" (first .) }}
app.kubernetes.io/component: {{ last . }}
{{- end }}

{{- /* Labels of a shard's pods; without a name, of the pods for namespaces without a shard. Takes the root and the shard. */ -}}
{{- define "mooring.operatorSelector" -}}
{{- if last . -}}
{{ include "mooring.selector" (list (first .) "shard") }}
mooring.dev/shard: {{ last . | quote }}
{{- else -}}
{{ include "mooring.selector" (list (first .) "operator") }}
{{- end }}
{{- end }}

{{- define "mooring.operatorName" -}}
{{ include "mooring.fullname" (first .) }}{{ if last . }}-shard-{{ last . }}{{ end }}
{{- end }}

{{- define "mooring.labels" -}}
app.kubernetes.io/name: {{ include "mooring.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* There is no default platform. */ -}}
{{- define "mooring.check" -}}
{{- if not (or .Values.platform (include "mooring.endpoints" . | fromYaml) .Values.allowEndpoints) }}
{{- fail "no platform is set: set platform=ionos, or endpoints.api for a platform with the same interface; with allowEndpoints alone, Accounts name their endpoints themselves; simulator.create=true needs no platform" }}
{{- end }}
{{- if and .Values.shards .Values.watchNamespace }}
{{- fail "shards: cannot be combined with watchNamespace: an operator of one namespace works on all of it" }}
{{- end }}
{{- range list "gateway" "tools" }}
{{- if and (get $.Values .).create $.Values.watchNamespace }}
{{- fail (printf "%s.create: cannot be combined with watchNamespace: the %s read objects of all namespaces, which a Role cannot give; install them with a release without watchNamespace" . .) }}
{{- end }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.create .Values.metrics.podMonitor.create }}
{{- fail "metrics.podMonitor.create: cannot be combined with metrics.serviceMonitor.create: everything would be scraped twice" }}
{{- end }}
{{- if and .Values.metrics.podMonitor.create (include "mooring.metricsAuth" .) (not .Values.metrics.podMonitor.bearerTokenSecret) }}
{{- fail "metrics.podMonitor.bearerTokenSecret: set it: with metrics.auth a scraper needs a token, and a PodMonitor cannot name a file" }}
{{- end }}
{{- end }}

{{- define "mooring.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "mooring.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "mooring.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end }}

{{- /* The endpoints for Accounts that set none. */ -}}
{{- define "mooring.endpoints" -}}
{{- $simulator := dict }}
{{- if .Values.simulator.create }}
{{- $host := printf "http://%s.%s" (include "mooring.component" (list . "simulator")) .Release.Namespace }}
{{- $_ := set $simulator "api" (printf "%s:8080" $host) }}
{{- $_ := set $simulator "objectStorage" (printf "%s:9000" $host) }}
{{- $_ := set $simulator "inference" (printf "%s:8080/inference" $host) }}
{{- $_ := set $simulator "dns" (printf "%s:8080/dns" $host) }}
{{- $_ := set $simulator "certificates" (printf "%s:8080/certificate-manager" $host) }}
{{- $_ := set $simulator "objectStorageManagement" (printf "%s:8080/object-storage-management" $host) }}
{{- range list "monitoring" "logging" "streaming" }}
{{- $_ := set $simulator . (printf "%s:8080/%s/{region}" $host .) }}
{{- end }}
{{- end }}
{{- range $name, $url := .Values.endpoints }}
{{- if $url }}{{ $_ := set $simulator $name $url }}{{ end }}
{{- end }}
{{- toYaml $simulator }}
{{- end }}

{{- define "mooring.metricsAuth" -}}
{{- if and .Values.metrics.auth (not .Values.watchNamespace) }}true{{ end }}
{{- end }}

{{- define "mooring.gateway" -}}
{{- if .Values.gateway.create }}true{{ end }}
{{- end }}

{{- define "mooring.tools" -}}
{{- if .Values.tools.create }}true{{ end }}
{{- end }}

{{- define "mooring.metricsScheme" -}}
{{- if include "mooring.metricsAuth" . }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{- /* The Secret with the certificate of the gateway or the tools; nothing without TLS. Takes the root and the component. */ -}}
{{- define "mooring.tlsSecret" -}}
{{- $values := get (first .).Values (last .) }}
{{- if $values.tls.enabled }}{{ $values.tlsSecret | default (printf "%s-tls" (include "mooring.component" .)) }}{{ end }}
{{- end }}
