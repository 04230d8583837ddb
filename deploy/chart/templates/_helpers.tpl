{{- /* Cluster-scoped objects of releases in several namespaces must not have the same name. */ -}}
{{- define "mooring.clusterName" -}}
{{- if eq .Release.Namespace "mooring-system" }}mooring{{ else }}mooring-{{ .Release.Namespace }}{{ end }}
{{- end }}

{{- define "mooring.selector" -}}
app.kubernetes.io/name: mooring
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- /* Of the pods of a shard; without a name, of those that work on namespaces without one. */ -}}
{{- define "mooring.operatorSelector" -}}
{{- if . -}}
{{ include "mooring.selector" "shard" }}
mooring.dev/shard: {{ . | quote }}
{{- else -}}
{{ include "mooring.selector" "operator" }}
{{- end }}
{{- end }}

{{- define "mooring.operatorName" -}}
{{ if . }}mooring-shard-{{ . }}{{ else }}mooring{{ end }}
{{- end }}

{{- define "mooring.labels" -}}
app.kubernetes.io/name: mooring
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
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

{{- /* Where the platform is for Accounts that do not say it. */ -}}
{{- define "mooring.endpoints" -}}
{{- $simulator := dict }}
{{- if .Values.simulator.create }}
{{- $host := printf "http://mooring-simulator.%s" .Release.Namespace }}
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
{{- merge (deepCopy .Values.endpoints) $simulator | toYaml }}
{{- end }}

{{- define "mooring.metricsAuth" -}}
{{- if and .Values.metrics.auth (not .Values.watchNamespace) }}true{{ end }}
{{- end }}

{{- /* It reads objects of all namespaces, which a Role cannot give. */ -}}
{{- define "mooring.gateway" -}}
{{- if and .Values.gateway.create (not .Values.watchNamespace) }}true{{ end }}
{{- end }}

{{- /* As the gateway. */ -}}
{{- define "mooring.tools" -}}
{{- if and .Values.tools.create (not .Values.watchNamespace) }}true{{ end }}
{{- end }}

{{- define "mooring.metricsScheme" -}}
{{- if include "mooring.metricsAuth" . }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{- /* The Secret with the certificate of the gateway or the tools; nothing without TLS. Takes the values and the name of the component. */ -}}
{{- define "mooring.tlsSecret" -}}
{{- if (first .).tls.enabled }}{{ (first .).tlsSecret | default (printf "mooring-%s-tls" (last .)) }}{{ end }}
{{- end }}
