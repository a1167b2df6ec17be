{{- /* The pod of one replica: metadata and spec. */ -}}
{{- define "chart.pod" -}}
metadata:
  labels:
    {{- include "chart.selectorLabels" . | nindent 4 }}
    {{- with .Values.owner.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    kubectl.kubernetes.io/default-container: engine
    {{- with .Values.placement.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "chart.name" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.drain.gracePeriodSeconds }}
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- toYaml .Values.security.pod | nindent 4 }}
  {{- include "chart.scheduling" . | nindent 2 }}
  initContainers:
    {{- include "chart.weightsContainer" . | nindent 4 }}
  containers:
    {{- include "chart.engineContainer" . | nindent 4 }}
  volumes:
    - name: home
      emptyDir:
        sizeLimit: {{ .Values.engine.homeSize }}
    {{- include "chart.weightsVolume" . | nindent 4 }}
{{- end }}
