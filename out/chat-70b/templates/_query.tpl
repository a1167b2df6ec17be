{{- /* A PromQL query with the series of this release filled in where it says SERIES. */ -}}
{{- define "chart.query" -}}
{{- $root := index . 0 }}
{{- $labels := printf "model_name=%s,namespace=%s" (toJson $root.Values.engine.servedModelName) (toJson $root.Release.Namespace) }}
{{- index . 1 | replace "SERIES" $labels }}
{{- end }}
