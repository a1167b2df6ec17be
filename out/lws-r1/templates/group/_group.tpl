{{- /* Name of the LeaderWorkerSet. Its controller makes a headless Service of this name, by which pods find their leader before it is ready, and leaves one that is there: so it is not the name of the chart's own Service. Short enough for the labels of its StatefulSets. */ -}}
{{- define "chart.groupName" -}}
{{- include "chart.name" . | trunc 43 | trimSuffix "-" -}}-group
{{- end }}

{{- /* One pod of a group: the engine's pod with the flags of its place. Takes the root, the flags, and whether it leads. */ -}}
{{- define "chart.groupPod" -}}
{{- $root := index . 0 }}
{{- $values := deepCopy $root.Values }}
{{- $_ := set $values.engine "flags" (merge (deepCopy (index . 1)) $values.engine.flags) }}
{{- if not (index . 2) }}
{{- range $values.group.leaderOnlyFlags }}
{{- $_ := unset $values.engine.flags . }}
{{- end }}
{{- $_ := set $values.drain "preStopSeconds" $values.group.workerPreStopSeconds }}
{{- end }}
{{- $_ := set $values.engine "env" (merge (deepCopy $values.group.env) $values.engine.env) }}
{{- $_ := set $values.placement "accelerators" (merge (deepCopy $values.group.network) $values.placement.accelerators) }}
{{- $context := dict "Values" $values "Chart" $root.Chart "Release" $root.Release "Files" $root.Files "Template" $root.Template }}
{{- $pod := fromYaml (include "chart.pod" $context) }}
{{- $labels := fromYaml (include "chart.selectorLabels" $root) }}
{{- $terms := list }}
{{- range $values.group.affinity }}
{{- $terms = append $terms (dict "weight" .weight "podAffinityTerm" (dict "topologyKey" .topologyKey "matchLabelKeys" .matchLabelKeys "labelSelector" (dict "matchLabels" $labels))) }}
{{- end }}
{{- $_ := set $pod.spec.affinity "podAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" $terms) }}
{{- range $pod.spec.containers }}
{{- if and (eq .name "engine") (not (index $ 2)) }}
{{- /* A worker has no HTTP server: the leader answers for the whole group. */ -}}
{{- $_ := unset . "startupProbe" }}
{{- $_ := unset . "livenessProbe" }}
{{- $_ := unset . "readinessProbe" }}
{{- $_ := unset . "ports" }}
{{- end }}
{{- end }}
{{- toYaml $pod }}
{{- end }}
