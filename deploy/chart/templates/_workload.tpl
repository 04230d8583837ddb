{{- /*
Shared parts of the Deployments of the operator, the gateway and the tools. Each takes a dict: root, component, values (of
the component), selector (labels of its pods) and name.
*/ -}}

{{- define "mooring.serviceAccount" -}}
{{- with .values.serviceAccount }}
{{- if .create }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "mooring.account" (list $.root $.component) }}
  namespace: {{ $.root.Release.Namespace }}
  labels:
    {{- include "mooring.labels" $.root | nindent 4 }}
    app.kubernetes.io/component: {{ $.component }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "mooring.deployment" -}}
revisionHistoryLimit: {{ .values.revisionHistoryLimit }}
{{- with .values.strategy }}
strategy:
  {{- toYaml . | nindent 2 }}
{{- end }}
selector:
  matchLabels:
    {{- .selector | nindent 4 }}
{{- end }}

{{- define "mooring.podMetadata" -}}
labels:
  {{- .selector | nindent 2 }}
  {{- with .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
annotations:
  kubectl.kubernetes.io/default-container: {{ .component }}
  {{- with .root.Values.ca }}
  checksum/ca: {{ sha256sum . }}
  {{- end }}
  {{- with .values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "mooring.pod" -}}
serviceAccountName: {{ include "mooring.account" (list .root .component) }}
terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds }}
securityContext:
  {{- include "mooring.podSecurity" .root | nindent 2 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- if .values.topologySpreadConstraints }}
  {{- toYaml .values.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- $.selector | nindent 8 }}
  {{- end }}
  {{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "hostAliases" "dnsConfig" }}
{{- with get $.values $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- range $field := list "priorityClassName" "dnsPolicy" }}
{{- with get $.values $field }}
{{ $field }}: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Also takes port and scheme. */ -}}
{{- define "mooring.probes" -}}
{{- range $probe, $path := dict "livenessProbe" "/healthz" "readinessProbe" "/readyz" }}
{{- $get := dict "path" $path "port" $.port "scheme" $.scheme }}
{{- $usual := dict "httpGet" $get "periodSeconds" (ternary 20 5 (eq $probe "livenessProbe")) "timeoutSeconds" 5 "failureThreshold" 3 }}
{{ $probe }}:
  {{- mergeOverwrite $usual (deepCopy (get $.values $probe)) | toYaml | nindent 2 }}
{{- end }}
{{- end }}

{{- define "mooring.proxyEnv" -}}
{{- range $name, $value := dict "HTTPS_PROXY" .httpsProxy "HTTP_PROXY" .httpProxy "NO_PROXY" .noProxy }}
{{- with $value }}
- name: {{ $name }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "mooring.disruption" -}}
{{- with .values.podDisruptionBudget }}
{{- if .create }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $.name }}
  namespace: {{ $.root.Release.Namespace }}
  labels:
    {{- include "mooring.labels" $.root | nindent 4 }}
spec:
  maxUnavailable: {{ .maxUnavailable }}
  selector:
    matchLabels:
      {{- $.selector | nindent 6 }}
{{- end }}
{{- end }}
{{- end }}
