{{- /* Name of every object: the release, which is unique in its namespace. */ -}}
{{- define "chart.name" -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end }}

{{- /* Labels that select the engine's pods. They never change, so an upgrade never orphans a pod. */ -}}
{{- define "chart.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: engine
{{- end }}

{{- /* Labels of every object. */ -}}
{{- define "chart.labels" -}}
{{ include "chart.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{- with .Values.owner.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The flag mapping as arguments. Values go through toJson: Helm prints a plain 1048576 as 1.048576e+06. */ -}}
{{- define "chart.engineArguments" -}}
- {{ .Values.engine.model | quote }}
- "--served-model-name"
- {{ .Values.engine.servedModelName | quote }}
{{- range $flag, $value := .Values.engine.flags }}
{{- if kindIs "bool" $value }}
{{- if $value }}
- {{ printf "--%s" $flag | quote }}
{{- end }}
{{- else }}
- {{ printf "--%s" $flag | quote }}
{{- if kindIs "slice" $value }}
{{- range $value }}
- {{ . | toString | quote }}
{{- end }}
{{- else if kindIs "string" $value }}
- {{ $value | quote }}
{{- else }}
- {{ $value | toJson | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
