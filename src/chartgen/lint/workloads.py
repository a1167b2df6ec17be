"""Where each kind of workload keeps its pods, and what the kind means for a policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, Literal

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.scalars import whole_number
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, Origin, at, items, mapping, mappings

Role = Literal["server", "leader", "worker", "job", "template"]
"""What a pod is for: it answers, leads a group, works for a leader, ends by itself, or is only a pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodShape:
    """One place in a kind where a pod stands."""

    spec: tuple[str, ...]
    """The path to the pod's spec; `*` stands for every entry of a list or mapping."""
    metadata: tuple[str, ...] | None
    """The path to the pod's labels and annotations; None where the operator writes them."""
    role: Role = "server"
    """What the pod is for."""
    operated: bool = False
    """Whether an operator completes the pod: replicas, ports or resources may come from elsewhere."""


def _template(*path: str, role: Role = "server", operated: bool = False) -> PodShape:
    return PodShape(spec=(*path, "spec"), metadata=(*path, "metadata"), role=role, operated=operated)


def _bare(*path: str, role: Role = "server") -> PodShape:
    return PodShape(spec=path, metadata=None, role=role, operated=True)


SHAPES: Final[dict[str, tuple[PodShape, ...]]] = {
    "Pod": (PodShape(spec=("spec",), metadata=("metadata",)),),
    "Deployment": (_template("spec", "template"),),
    "StatefulSet": (_template("spec", "template"),),
    "DaemonSet": (_template("spec", "template"),),
    "ReplicaSet": (_template("spec", "template"),),
    "Rollout": (_template("spec", "template"),),
    "Job": (_template("spec", "template", role="job"),),
    "CronJob": (_template("spec", "jobTemplate", "spec", "template", role="job"),),
    "ScaledJob": (_template("spec", "jobTargetRef", "template", role="job"),),
    "JobSet": (_template("spec", "replicatedJobs", "*", "template", "spec", "template", role="job"),),
    "LeaderWorkerSet": (
        _template("spec", "leaderWorkerTemplate", "leaderTemplate", role="leader"),
        _template("spec", "leaderWorkerTemplate", "workerTemplate", role="worker"),
    ),
    "RayCluster": (
        _template("spec", "headGroupSpec", "template", role="leader", operated=True),
        _template("spec", "workerGroupSpecs", "*", "template", role="worker", operated=True),
    ),
    "RayService": (
        _template("spec", "rayClusterConfig", "headGroupSpec", "template", role="leader", operated=True),
        _template("spec", "rayClusterConfig", "workerGroupSpecs", "*", "template", role="worker", operated=True),
    ),
    "RayJob": (
        _template("spec", "rayClusterSpec", "headGroupSpec", "template", role="job", operated=True),
        _template("spec", "rayClusterSpec", "workerGroupSpecs", "*", "template", role="job", operated=True),
    ),
    "InferenceService": (_bare("spec", "predictor"), _bare("spec", "predictor", "workerSpec", role="worker")),
    "LLMInferenceService": (
        _bare("spec", "template"),
        _bare("spec", "worker", role="worker"),
        _bare("spec", "prefill", "template"),
    ),
    "ServingRuntime": (_bare("spec", role="template"),),
    "ClusterServingRuntime": (_bare("spec", role="template"),),
    "LLMInferenceServiceConfig": (_bare("spec", "template", role="template"),),
    "Workspace": (_template("inference", "template", operated=True),),
    "InferenceSet": (_template("spec", "template", "inference", "template", operated=True),),
}
"""Every kind that holds pods, by the path to them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodSite:
    """One pod template: the object it stands in, where, and what it is for."""

    manifest: Manifest
    """The object that holds it."""
    path: tuple[Step, ...]
    """The path to the pod's spec, from the object's root."""
    shape: PodShape
    """What the kind means."""
    spec: dict[str, Any]
    """The pod's spec, as plain data."""
    labels: dict[str, Any]
    """The labels its pods will carry, as far as the file says."""
    annotations: dict[str, Any]
    """The annotations its pods will carry."""
    container_at: tuple[Step, ...] | None = None
    """Where the engine's fields stand in a kind without a list of containers; None where there is one."""
    args_at: tuple[Step, ...] = ("args",)
    """Where the arguments stand below the container."""
    group_size: int = 1
    """Pods of one replica: the size of a group."""
    origin: Origin | None = None
    """Where its words come from, when another object holds some of them."""

    @property
    def placed(self) -> Manifest:
        """The object that findings point into: with the way to what other objects hold."""
        return self.manifest if self.origin is None else replace(self.manifest, origin=self.origin)


def pod_sites(manifest: Manifest) -> Iterator[PodSite]:
    """Every pod template of an object."""
    shapes = SHAPES.get(manifest.kind, ())
    found_leader = False
    for shape in shapes:
        for path in _matches(manifest.value, shape.spec):
            spec = at(manifest.value, path)
            if not isinstance(spec, dict) or not _holds_containers(spec, shape):
                continue
            role = shape.role
            found_leader = found_leader or role == "leader"
            if role == "worker" and manifest.kind == "LeaderWorkerSet" and not found_leader:
                # Without a leader template the worker template makes the leader too.
                shape = PodShape(spec=shape.spec, metadata=shape.metadata, role="leader")  # noqa: PLW2901
            metadata: dict[str, Any] = {}
            if shape.metadata is not None:
                metadata = mapping(at(manifest.value, (*path[:-1], "metadata")))
                if manifest.kind == "Pod":
                    metadata = manifest.metadata
            yield PodSite(
                manifest=manifest,
                path=path,
                shape=shape,
                spec=spec,
                labels={**mapping(metadata.get("labels")), **_group_labels(manifest, shape.role)},
                annotations=mapping(metadata.get("annotations")),
                group_size=pods_of_replica(at(manifest.value, ("spec", "leaderWorkerTemplate", "size"))),
            )


def pods_of_replica(written: Any) -> int:
    """How many pods make a replica, as a kind that makes groups has it written, quoted or not; else one."""
    return whole_number(str(written)) or 1


def _group_labels(manifest: Manifest, role: Role) -> dict[str, Any]:
    """The labels that LeaderWorkerSet's controller puts on pods: workers count from 1, so one stands for them."""
    if manifest.kind != "LeaderWorkerSet":
        return {}
    prefix = "leaderworkerset.sigs.k8s.io"
    return {f"{prefix}/name": manifest.name, f"{prefix}/worker-index": "0" if role == "leader" else "1"}


def _holds_containers(spec: dict[str, Any], shape: PodShape) -> bool:
    return bool(items(spec.get("containers"))) or (shape.operated and "model" in spec)


def _matches(value: Any, pattern: tuple[str, ...], path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    if not pattern:
        yield path
        return
    name, *rest = pattern
    if name != "*":
        if isinstance(value, dict) and name in value:
            yield from _matches(value[name], tuple(rest), (*path, name))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _matches(entry, tuple(rest), (*path, index))


def selector_terms(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every node selector term of a pod as key, operator and values: nodeSelector entries among them."""
    for key, value in mapping(spec.get("nodeSelector")).items():
        yield {"key": key, "operator": "In", "values": [value]}
    affinity = mapping(mapping(spec.get("affinity")).get("nodeAffinity"))
    required = mapping(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    for term in mappings(required.get("nodeSelectorTerms")):
        yield from mappings(term.get("matchExpressions"))
