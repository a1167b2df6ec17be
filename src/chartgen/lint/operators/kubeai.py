"""KubeAI's Model: a URL, an engine, a resource profile times a count.

Fields: kubeai-project/kubeai, api/k8s/v1/model_types.go. The pod: internal/modelcontroller.
"""

from __future__ import annotations

from typing import Any, Final

from chartgen.kernel.scalars import whole_number
from chartgen.lint.manifest import Manifest, items, mapping
from chartgen.lint.operators.completion import Made, completed, variables

_ENGINES: Final = {"VLLM": "kubeai-vllm", "OLlama": "kubeai-ollama"}
_PROFILES: Final = (("nvidia-gpu-", "nvidia.com/gpu"), ("amd-gpu-", "amd.com/gpu"))
"""The profiles of KubeAI's own chart ask for one GPU each (charts/kubeai/values.yaml)."""


def made(manifest: Manifest) -> Made:
    """The pod of a Model, when its engine is one that the linter knows."""
    spec = mapping(manifest.value.get("spec"))
    engine = str(spec.get("engine"))
    if engine not in _ENGINES:
        return Made()
    model, volumes = _source(str(spec.get("url") or ""), str(spec.get("cacheProfile") or ""))
    container: dict[str, Any] = {
        "name": "server",
        "image": spec.get("image"),
        "args": items(spec.get("args")),
        "env": variables(spec.get("env")),
        "envFrom": spec.get("envFrom"),
        "resources": _resources(str(spec.get("resourceProfile") or "")),
        "volumeMounts": [{"name": volume["name"], "mountPath": _mount(volume)} for volume in volumes],
    }
    if engine == "VLLM":
        container["command"] = [
            *("python3", "-m", "vllm.entrypoints.openai.api_server"),
            f"--model={model}",
            f"--served-model-name={manifest.name}",
        ]
    pod = completed(manifest, _ENGINES[engine], container, {"volumes": volumes}, at=("spec",), role="template")
    return Made(pods=(pod,))


def _source(url: str, cache: str) -> tuple[str, list[dict[str, Any]]]:
    """The model as the engine is given it, and the volume it comes from."""
    scheme, _, rest = url.partition("://")
    name = rest.partition("?")[0]
    if scheme == "pvc":
        claim = {"claimName": name.partition("/")[0]}
        return "/model", [{"name": "model", "persistentVolumeClaim": claim}]
    claim = {"claimName": f"shared-model-cache-{cache}"}
    volumes = [{"name": "models", "persistentVolumeClaim": claim}] if cache else []
    return (name if scheme == "hf" else url), volumes


def _mount(volume: dict[str, Any]) -> str:
    """A cached model is loaded from the cache's own folder; for the linter it lies where the hub's client looks."""
    return "/model" if volume["name"] == "model" else "/root/.cache/huggingface"


def _resources(profile: str) -> dict[str, Any]:
    name, _, count = profile.partition(":")
    for prefix, resource in _PROFILES:
        if name.startswith(prefix) and whole_number(count) is not None:
            return {"limits": {resource: count}}
    return {}
