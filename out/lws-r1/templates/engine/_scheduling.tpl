{{- /* Where the pods may run, and where they had better run. */ -}}
{{- define "chart.scheduling" -}}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
        - matchExpressions:
            {{- toYaml .Values.placement.nodeAffinity | nindent 12 }}
tolerations:
  {{- toYaml .Values.placement.tolerations | nindent 2 }}
{{- with .Values.placement.priorityClass }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.placement.runtimeClass }}
runtimeClassName: {{ . }}
{{- end }}
{{- end }}
