{{- /* The volume that holds the weights. */ -}}
{{- define "chart.weightsVolume" -}}
- name: weights
  persistentVolumeClaim:
    claimName: {{ .Values.weights.claim }}
    readOnly: true
{{- end }}
