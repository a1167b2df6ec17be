{{- /* The volume that holds the weights. */ -}}
{{- define "chart.weightsVolume" -}}
- name: weights
  persistentVolumeClaim:
    claimName: {{ include "chart.name" . }}-weights
{{- end }}

{{- /* Brings the weights onto the volume, or finds them there, and checks them. */ -}}
{{- define "chart.weightsContainer" -}}
- name: weights
  image: {{ include "chart.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: ["python3", "-c"]
  args:
    - |
      {{- .Files.Get "files/weights.py" | trim | nindent 6 }}
  env:
    {{- range $name, $value := .Values.engine.env }}
    - name: {{ $name }}
      value: {{ $value | quote }}
    {{- end }}
    - name: WEIGHTS
      value: {{ .Values.engine.model | quote }}
    - name: REVISION
      value: {{ .Values.weights.revision | quote }}
  resources:
    requests:
      {{- toYaml .Values.weights.fetch | nindent 6 }}
    limits:
      {{- toYaml .Values.weights.fetch | nindent 6 }}
  securityContext:
    {{- toYaml .Values.security.container | nindent 4 }}
  volumeMounts:
    - name: home
      mountPath: {{ .Values.engine.home }}
    - name: weights
      mountPath: {{ .Values.weights.mountPath }}
{{- end }}
