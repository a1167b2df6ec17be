{{- /* A PromQL query: SERIES becomes the labels of this release's series, RELEASE and NAMESPACE the name and place of its objects. */ -}}
{{- define "chart.query" -}}
{{- $root := index . 0 }}
{{- $labels := printf "model_name=%s,namespace=%s" (toJson $root.Values.engine.servedModelName) (toJson $root.Release.Namespace) }}
{{- index . 1 | replace "SERIES" $labels | replace "RELEASE" (include "chart.name" $root) | replace "NAMESPACE" $root.Release.Namespace }}
{{- end }}
