{{- /* The image of the engine. */ -}}
{{- define "chart.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end }}

{{- /* The engine itself. */ -}}
{{- define "chart.engineContainer" -}}
- name: engine
  image: {{ include "chart.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: ["vllm", "serve"]
  args:
    {{- include "chart.engineArguments" . | nindent 4 }}
  env:
    {{- range $name, $value := .Values.engine.env }}
    - name: {{ $name }}
      value: {{ $value | quote }}
    {{- end }}
    - name: HF_HUB_OFFLINE
      value: "1"
  ports:
    - name: http
      containerPort: {{ .Values.engine.port }}
  resources:
    requests:
      {{- toYaml .Values.resources | nindent 6 }}
      {{- toYaml .Values.placement.accelerators | nindent 6 }}
    limits:
      {{- toYaml .Values.resources | nindent 6 }}
      {{- toYaml .Values.placement.accelerators | nindent 6 }}
  {{- range $probe := list "startup" "liveness" "readiness" }}
  {{- $settings := index $.Values.probes $probe }}
  {{ $probe }}Probe:
    httpGet:
      path: /health
      port: http
    periodSeconds: {{ $settings.periodSeconds }}
    failureThreshold: {{ $settings.failureThreshold }}
    timeoutSeconds: {{ $.Values.probes.timeoutSeconds }}
  {{- end }}
  lifecycle:
    preStop:
      sleep:
        seconds: {{ .Values.drain.preStopSeconds }}
  securityContext:
    {{- toYaml .Values.security.container | nindent 4 }}
  volumeMounts:
    - name: home
      mountPath: {{ .Values.engine.home }}
    - name: weights
      mountPath: {{ .Values.weights.mountPath }}
{{- end }}
