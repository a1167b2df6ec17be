{{- /* Where the pods may run, and where they had better run. */ -}}
{{- define "chart.scheduling" -}}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
        - matchExpressions:
            {{- toYaml .Values.placement.nodeAffinity | nindent 12 }}
  {{- with .Values.placement.podAffinity }}
  podAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      {{- range . }}
      - weight: {{ .weight }}
        podAffinityTerm:
          topologyKey: {{ .topologyKey }}
          labelSelector:
            matchLabels:
              {{- include "chart.selectorLabels" $ | nindent 14 }}
      {{- end }}
  {{- end }}
{{- with .Values.placement.topologySpread }}
topologySpreadConstraints:
  {{- range . }}
  - {{ toYaml . | nindent 4 | trim }}
    labelSelector:
      matchLabels:
        {{- include "chart.selectorLabels" $ | nindent 8 }}
  {{- end }}
{{- end }}
tolerations:
  {{- toYaml .Values.placement.tolerations | nindent 2 }}
{{- with .Values.placement.priorityClass }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.placement.runtimeClass }}
runtimeClassName: {{ . }}
{{- end }}
{{- end }}
