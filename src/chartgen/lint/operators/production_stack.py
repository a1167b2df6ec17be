"""Values of vLLM's production-stack chart: a list of models, and settings that they share.

Read as vllm-project/production-stack, helm/templates/deployment-vllm-multi.yaml, does; a model with raySpec as
ray-cluster.yaml beside it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, at, items, mapping
from chartgen.lint.operators.completion import Made, completed, with_defaults, workload_of
from chartgen.lint.workloads import PodSite

KIND: Final = "ProductionStackValues"
_FLAGS: Final = {
    "maxModelLen": "--max-model-len",
    "dtype": "--dtype",
    "tensorParallelSize": "--tensor-parallel-size",
    "pipelineParallelSize": "--pipeline-parallel-size",
    "maxNumSeqs": "--max-num-seqs",
    "gpuMemoryUtilization": "--gpu-memory-utilization",
    "maxLoras": "--max-loras",
    "runner": "--runner",
    "convert": "--convert",
}
_OF_RAY: Final = frozenset({"pipelineParallelSize"})
_NOT_OF_RAY: Final = frozenset({"runner", "convert"})
"""What only one of the two templates makes an option of."""
_ARGS: Final = ("vllmConfig", "extraArgs")
_AMOUNTS: Final = (
    ("requests", "requestCPU", "cpu"),
    ("requests", "requestMemory", "memory"),
    ("limits", "limitCPU", "cpu"),
    ("limits", "limitMemory", "memory"),
)


def is_values(value: dict[str, Any]) -> bool:
    """Whether a document without a kind is a values file of this chart."""
    return isinstance(at(value, ("servingEngineSpec", "modelSpec")), list)


def made(manifest: Manifest) -> Made:
    """The workload, its pod and the scaler that the chart makes of each model."""
    found = list(_made(manifest))
    return Made(
        objects=tuple(one for one in found if isinstance(one, Manifest)),
        pods=tuple(one for one in found if isinstance(one, PodSite)),
    )


def _made(manifest: Manifest) -> Iterator[Manifest | PodSite]:
    engines = mapping(with_defaults("production-stack", manifest.value).get("servingEngineSpec"))
    for index, model in enumerate(items(engines.get("modelSpec"))):
        if not isinstance(model, dict) or model.get("enabled") is False:
            continue
        where = (*manifest.root, "servingEngineSpec", "modelSpec", index)
        name = str(model.get("name"))
        if at(model, ("raySpec", "enabled")) is True:
            cluster = _object(manifest, where, "ray.io/v1", "RayCluster", f"{name}-raycluster", {})
            yield from (cluster, _head(cluster, engines, model), _worker(cluster, engines, model))
            continue
        keda = {} if "raySpec" in model else mapping(model.get("keda"))  # its template asks for no more than the key
        spec = workload_of("production-stack")
        if engines.get("strategy"):
            spec["strategy"] = engines["strategy"]
        if keda.get("enabled") is not True:
            spec["replicas"] = model.get("replicaCount")
        workload = _object(manifest, where, "apps/v1", "Deployment", name, spec)
        yield workload
        yield _pod(workload, engines, model)
        if keda.get("enabled") is True:
            scaled = {**keda, "scaleTargetRef": {"kind": "Deployment", "name": name}}
            scaled.setdefault("triggers", [_default_trigger(name)])
            scaler = _object(manifest, where, "keda.sh/v1alpha1", "ScaledObject", name, scaled)
            yield replace(scaler, spec_at=(*where, "keda"))


def _object(
    manifest: Manifest, root: tuple[Step, ...], api_version: str, kind: str, name: str, spec: dict[str, Any]
) -> Manifest:
    value = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}
    return replace(manifest, root=root, value=value)


def _default_trigger(name: str) -> dict[str, Any]:
    """What helm/templates/scaledobject-vllm.yaml writes where a model names no trigger."""
    metadata = {
        "serverAddress": "http://prometheus-operated.monitoring.svc:9090",
        "query": f'vllm:num_requests_waiting{{model="{name}"}}',
        "threshold": "5",
    }
    return {"type": "prometheus", "metadata": metadata}


def _pod(workload: Manifest, engines: Mapping[str, Any], model: dict[str, Any]) -> PodSite:
    container = {
        **_container(engines, model, _words(model, without=_OF_RAY)),
        "env": [*_variables(model), *items(engines.get("env")), *items(model.get("env"))],
        **{key: engines[key] for key in ("startupProbe", "livenessProbe", "readinessProbe") if key in engines},
        "securityContext": engines.get("containerSecurityContext"),
    }
    pod = _spec(engines, model)
    pod["affinity"] = model.get("affinity") or pod["affinity"]
    return completed(workload, "production-stack", container, pod, at=(), args_at=_ARGS)


def _head(cluster: Manifest, engines: Mapping[str, Any], model: dict[str, Any]) -> PodSite:
    """The pod that runs the engine, over its own GPUs and those of the workers."""
    words = [*("--distributed-executor-backend", "ray"), *_words(model, without=_NOT_OF_RAY)]
    head = mapping(at(model, ("raySpec", "headNode")))
    container = _container(engines, model, words)
    container |= {"name": "vllm-ray-head", "resources": head.get("resources") or _resources(head)}
    pod = _spec(engines, model)
    return completed(cluster, "production-stack-ray", container, pod, at=(), args_at=_ARGS, role="leader")


def _worker(cluster: Manifest, engines: Mapping[str, Any], model: dict[str, Any]) -> PodSite:
    """A pod that only joins the head."""
    container = _container(engines, model, []) | {"name": "vllm-ray-worker", "command": None, "args": None}
    return completed(cluster, "production-stack-ray", container, _spec(engines, model), at=(), role="worker")


def _container(engines: Mapping[str, Any], model: dict[str, Any], words: list[str]) -> dict[str, Any]:
    options = mapping(model.get("vllmConfig"))
    port = str(engines.get("containerPort"))
    return {
        "name": "vllm",
        "image": f"{model.get('repository')}:{model.get('tag')}",
        "command": ["vllm", "serve", str(model.get("modelURL")), "--port", port, *words],
        "args": [str(word) for word in items(options.get("extraArgs"))],
        "env": [*_variables(model), *items(model.get("env"))],
        "resources": model.get("resources") or _resources(model),
        "volumeMounts": _mounts(model, options),
    }


def _spec(engines: Mapping[str, Any], model: dict[str, Any]) -> dict[str, Any]:
    return {
        "securityContext": engines.get("securityContext"),
        "tolerations": [*items(engines.get("tolerations")), *items(model.get("tolerations"))],
        "runtimeClassName": model.get("runtimeClassName", engines.get("runtimeClassName")),
        "nodeName": model.get("nodeName") or None,
        "affinity": _affinity(model.get("nodeSelectorTerms")),
        "volumes": _volumes(model, mapping(model.get("vllmConfig"))),
    }


def _words(model: dict[str, Any], *, without: frozenset[str]) -> list[str]:
    """The flags that the chart writes of its own keys."""
    options = mapping(model.get("vllmConfig"))
    words = ["--enable-lora"] if model.get("enableLoRA") else []
    words += ["--enable-auto-tool-choice"] if model.get("enableTool") else []
    if model.get("toolCallParser"):
        words += ["--tool-call-parser", str(model["toolCallParser"])]
    if "enableChunkedPrefill" in options:
        words.append("--enable-chunked-prefill" if options["enableChunkedPrefill"] else "--no-enable-chunked-prefill")
    if options.get("enablePrefixCaching"):
        words.append("--enable-prefix-caching")
    for key, flag in _FLAGS.items():
        if key in options and key not in without:
            words += [flag, str(options[key])]
    if model.get("modelRevision"):
        words += ["--revision", str(model["modelRevision"])]
    return words


def _variables(model: dict[str, Any]) -> list[dict[str, Any]]:
    home = "/data" if "pvcStorage" in model else "/tmp"  # noqa: S108 - the folder inside the container
    found: list[dict[str, Any]] = [{"name": "HF_HOME", "value": home}]
    if model.get("hf_token"):
        found.append({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {}}})
    return found


def _resources(model: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {}
    for part, key, name in _AMOUNTS:
        if key in model:
            found.setdefault(part, {})[name] = model[key]
    if model.get("requestGPU"):
        name = str(model.get("requestGPUType") or "nvidia.com/gpu")
        for part in ("requests", "limits"):
            found.setdefault(part, {})[name] = model["requestGPU"]
    return found


def _mounts(model: dict[str, Any], options: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    if "pvcStorage" in model:
        found.append({"name": "storage", "mountPath": "/data"})
    if "tensorParallelSize" in options:
        found.append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108 - the folder inside the container
    return [*found, *items(model.get("extraVolumeMounts"))]


def _volumes(model: dict[str, Any], options: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    storage = model.get("pvcStorage")
    if storage is not None:
        empty = mapping(storage).get("emptyDir")
        claim = {"claimName": str(model.get("pvcExistingClaimName") or f"{model.get('name')}-storage-claim")}
        source = {"emptyDir": empty} if isinstance(empty, dict) else {"persistentVolumeClaim": claim}
        found.append({"name": "storage", **source})
    if "tensorParallelSize" in options:
        found.append({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": model.get("shmSize") or "20Gi"}})
    return [*found, *items(model.get("extraVolumes"))]


def _affinity(terms: Any) -> dict[str, Any] | None:
    if not items(terms):
        return None
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
