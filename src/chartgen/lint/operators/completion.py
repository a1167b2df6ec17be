"""The pod that an operator or a chart makes of a user's fields: a skeleton with the user's own on top."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from typing import Any

from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build
from chartgen.kernel.yaml_source import Step
from chartgen.lint.helm_values import merge
from chartgen.lint.manifest import Manifest, items
from chartgen.lint.workloads import PodShape, PodSite, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """What an operator writes by itself."""

    source: str
    """The file that says so, with its release."""
    container: dict[str, Any] = field(default_factory=dict)
    """Its fields of the engine's container."""
    volumes: list[Any] = field(default_factory=list)
    """Its volumes."""
    workload: dict[str, Any] = field(default_factory=dict)
    """Its fields of the workload around the pod."""
    values: dict[str, Any] = field(default_factory=dict)
    """A chart's own values, which hold where the user gives none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What an operator or a chart makes of one object, as far as policies look at it."""

    objects: tuple[Manifest, ...] = ()
    """Workloads and autoscalers."""
    pods: tuple[PodSite, ...] = ()
    """Pods."""


@cache
def _skeletons() -> Mapping[str, Skeleton]:
    return build(document(catalog_data() / "operators.yaml").value, dict[str, Skeleton])


def workload_of(skeleton: str) -> dict[str, Any]:
    """What an operator or a chart writes of the workload around the pod."""
    return copy.deepcopy(_skeletons()[skeleton].workload)


def with_defaults(skeleton: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A user's values on top of the chart's own."""
    return merge(_skeletons()[skeleton].values, values)


def completed(
    manifest: Manifest,
    skeleton: str,
    container: Mapping[str, Any],
    pod: Mapping[str, Any] | None = None,
    *,
    at: tuple[Step, ...],
    args_at: tuple[Step, ...] = ("args",),
    role: Role = "server",
    group_size: int = 1,
) -> PodSite:
    """A pod of which a user writes some fields: `container` and `pod` are his, `at` is where they stand."""
    frame = _skeletons()[skeleton]
    written = {key: value for key, value in container.items() if value is not None}
    engine = {**copy.deepcopy(frame.container), **written}
    engine["volumeMounts"] = [*items(frame.container.get("volumeMounts")), *items(written.get("volumeMounts"))]
    spec = {key: value for key, value in (pod or {}).items() if value is not None}
    spec["volumes"] = [*copy.deepcopy(frame.volumes), *items(spec.get("volumes"))]
    spec["containers"] = [engine]
    return PodSite(
        manifest=manifest,
        path=at,
        shape=PodShape(spec=(), metadata=None, role=role, operated=True),
        spec=spec,
        labels={},
        annotations={},
        container_at=at,
        args_at=args_at,
        group_size=group_size,
    )


def variables(written: Any) -> list[dict[str, Any]]:
    """Environment variables that stand in a mapping, as a container lists them."""
    if not isinstance(written, dict):
        return []
    return [{"name": str(name), "value": str(value)} for name, value in written.items()]
