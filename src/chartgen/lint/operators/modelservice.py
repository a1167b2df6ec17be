"""Values of llm-d's modelservice chart: a model, and pods for decode and prefill.

Read as llm-d-incubation/llm-d-modelservice, charts/llm-d-modelservice/templates/_helpers.tpl, does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from chartgen.lint.manifest import Manifest, at, items, mapping, mappings
from chartgen.lint.operators.completion import Made, with_defaults
from chartgen.lint.workloads import PodShape, PodSite

KIND: Final = "ModelServiceValues"
ROLES: Final = ("decode", "prefill")
_SELF: Final = "{{ .Values.modelArtifacts.name }}"
_RESOURCES: Final = {
    "nvidia": "nvidia.com/gpu",
    "amd": "amd.com/gpu",
    "intel-gaudi": "habana.ai/gaudi",
    "google": "google.com/tpu",
}
_SIMULATOR: Final = "llm-d-inference-sim"


def is_values(value: dict[str, Any]) -> bool:
    """Whether a document without a kind is a values file of this chart."""
    roles = any(isinstance(value.get(role), dict) for role in ROLES)
    return roles and isinstance(at(value, ("modelArtifacts", "uri")), str)


def made(manifest: Manifest) -> Made:
    """The workload and the pod of each role that is switched on."""
    objects = []
    values = with_defaults("modelservice", manifest.value)
    for role in ROLES:
        settings = mapping(values.get(role))
        if settings.get("create", True) is False or not items(settings.get("containers")):
            continue
        replicas = settings.get("replicas", 1 if role == "decode" else 0)
        spec = {"replicas": replicas, "strategy": settings.get("strategy") or {}}
        value = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": role}, "spec": spec}
        objects.append(replace(manifest, root=(*manifest.root, role), value=value))
    return Made(objects=tuple(objects), pods=tuple(_pod(values, one) for one in objects))


def _pod(values: Mapping[str, Any], workload: Manifest) -> PodSite:
    settings = mapping(values.get(workload.name))
    extra = mapping(settings.get("extraConfig"))
    spec: dict[str, Any] = {
        **extra,
        **{
            key: settings[key]
            for key in ("nodeSelector", "tolerations", "terminationGracePeriodSeconds", "enableServiceLinks")
            if key in settings
        },
        "volumes": [*items(settings.get("volumes")), *_model_volume(values)],
        "containers": [_container(values, workload.name, one) for one in mappings(settings.get("containers"))],
        "initContainers": _proxy(values) if _proxied(values, workload.name) else [],
    }
    return PodSite(
        manifest=workload,
        path=(),
        shape=PodShape(spec=(), metadata=None, role="server", operated=True),
        spec=spec,
        labels={},
        annotations={},
        group_size=_whole(at(settings, ("parallelism", "workers"))) if values.get("multinode") is True else 1,
    )


def _container(values: Mapping[str, Any], role: str, written: dict[str, Any]) -> dict[str, Any]:
    container: dict[str, Any] = {**mapping(written.get("extraConfig")), **written, "env": [*items(written.get("env"))]}
    parallel = mapping(at(values, (role, "parallelism")))
    starts = written.get("modelCommand", "custom")
    if starts != "custom" and _SIMULATOR not in str(written.get("image")):
        container["command"] = ["vllm", "serve", _model(values), *_words(values, role, parallel)]
    if written.get("mountModelVolume") is True:
        folder = str(at(values, ("modelArtifacts", "mountPath")))
        mount = {"name": "model-storage", "mountPath": folder}
        container["volumeMounts"] = [*items(written.get("volumeMounts")), mount]
        container["env"].append({"name": "HF_HOME", "value": folder})
    if at(values, ("modelArtifacts", "authSecretName")):
        container["env"].append({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {}}})
    container["resources"] = _resources(values, parallel, written)
    return container


def _proxied(values: Mapping[str, Any], role: str) -> bool:
    """Whether the routing proxy stands in front of the engine and takes the service's port."""
    return role == "decode" and at(values, ("routing", "proxy", "enabled")) is not False


def _proxy(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    ports = [{"containerPort": at(values, ("routing", "servicePort"))}]
    return [{"name": "routing-proxy", "restartPolicy": "Always", "ports": ports}]


def _uri(values: Mapping[str, Any]) -> tuple[str, str]:
    artifacts = mapping(values.get("modelArtifacts"))
    uri = str(artifacts.get("uri")).replace(_SELF, str(artifacts.get("name"))).replace('"', "")
    scheme, _, rest = uri.partition("://")
    return scheme, rest


def _model(values: Mapping[str, Any]) -> str:
    """The model as the chart's argsByProtocol writes it."""
    scheme, rest = _uri(values)
    if scheme == "hf":
        return rest
    if scheme == "pvc+hf":
        return "/".join(rest.split("/")[-2:])
    folder = at(values, ("modelArtifacts", "mountPath"))
    return f"{folder}/{rest.partition('/')[2]}"


def _words(values: Mapping[str, Any], role: str, parallel: dict[str, Any]) -> list[str]:
    port = at(values, ("routing", "proxy", "targetPort") if _proxied(values, role) else ("routing", "servicePort"))
    words = ["--port", str(port)] if isinstance(port, int) else []
    for key, flag in (("tensor", "--tensor-parallel-size"), ("dataLocal", "--data-parallel-size-local")):
        if _whole(parallel.get(key)) > 1:
            words += [flag, str(parallel[key])]
    return [*words, "--served-model-name", str(at(values, ("modelArtifacts", "name")))]


def _resources(values: Mapping[str, Any], parallel: dict[str, Any], written: dict[str, Any]) -> dict[str, Any]:
    """The container's own, with one accelerator for each local rank where it names none."""
    own = mapping(written.get("resources"))
    accelerator = mapping(values.get("accelerator"))
    kind = str(accelerator.get("type"))
    if accelerator.get("dra") is True or kind not in _RESOURCES or _SIMULATOR in str(written.get("image")):
        return own
    ranks = _whole(parallel.get("tensor")) * _whole(parallel.get("dataLocal"))
    limits = {_RESOURCES[kind]: ranks, **mapping(own.get("limits"))}
    return {**own, "limits": limits}


def _model_volume(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    scheme, rest = _uri(values)
    if scheme == "hf":
        size = at(values, ("modelArtifacts", "size"))
        return [{"name": "model-storage", "emptyDir": {"sizeLimit": size} if size else {}}]
    if scheme.startswith("pvc"):
        claim = {"claimName": rest.partition("/")[0]}
        return [{"name": "model-storage", "persistentVolumeClaim": claim}]
    return []


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 1
