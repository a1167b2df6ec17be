"""The pod view: a pod template of any workload kind, joined to what selects, scales and protects it."""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.scalars import whole_number
from chartgen.lint.accelerators import Accelerators, of_pod
from chartgen.lint.manifest import at, mapping
from chartgen.lint.numbers import number, whole
from chartgen.lint.relations import Relations, minimum_of
from chartgen.lint.views.cloud import cloud_of
from chartgen.lint.views.placement import PlacementView, placement_view
from chartgen.lint.views.references import Reference, references
from chartgen.lint.views.volumes import Volume, volumes
from chartgen.lint.workloads import PodSite, Role

_PERCENT: Final = 100
_OWNER: Final = re.compile(r"(^|[/._-])(owner|owned-by|team|squad|contact|on-?call|cost-?cent(er|re)|maintainers?)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """How an update replaces pods, in pods."""

    type: Literal["RollingUpdate", "Recreate", "OnDelete", "group"]
    """The strategy; group for a LeaderWorkerSet, which replaces whole groups."""
    surge: int
    """Pods (or groups) made before old ones go."""
    unavailable: int
    """Pods (or groups) that may be missing meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodView:
    """A pod template."""

    kind: str
    """The workload's kind."""
    name: str
    """The workload's name."""
    role: Role
    """server, leader, worker, job, or template for a pattern that another object completes."""
    operated: bool
    """Whether an operator completes it, so that missing things may come from elsewhere."""
    replicas: int | None
    """The replicas as written; null when none are."""
    least: int
    """The fewest replicas meant: an autoscaler's minimum, else the replicas, else 1."""
    group_size: int
    """Pods of one replica: the size of a LeaderWorkerSet group; 1 otherwise."""
    autoscaled: bool
    """Whether an autoscaler of the bundle targets the workload."""
    exposed: bool
    """Whether a Service, InferencePool or operator sends it requests."""
    budgeted: bool
    """Whether a PodDisruptionBudget selects it."""
    scraped: bool
    """Whether a monitor of the bundle selects it, or an annotation asks to be scraped."""
    scrape_port: int | None
    """The port that prometheus.io/port names; null when it names none."""
    rollout: Rollout
    """How an update replaces pods."""
    account_token: bool
    """Whether a token of the service account is mounted."""
    runtime_class: str | None
    """Its runtime class; null when none is named."""
    gpus: Accelerators
    """What accelerators one pod asks for."""
    volumes: tuple[Volume, ...]
    """Its volumes, claims resolved."""
    references: tuple[Reference, ...]
    """Every ConfigMap, Secret, claim and account it names."""
    progress_deadline: int
    """Seconds after which a rollout without progress is called failed: a Deployment's default is 600."""
    grace: int
    """Seconds between the signal to stop and the kill."""
    placement: PlacementView
    """Where it asks to be placed."""
    owner: bool
    """Whether a label or annotation names a team, an owner or a contact."""
    cloud: str | None
    """Whose Kubernetes its selectors speak of, or the user says: gke, eks, aks; null when nothing tells."""


def pod_view(site: PodSite, relations: Relations, cloud: str | None) -> PodView:
    """The view of one pod template."""
    spec = mapping(site.manifest.value.get("spec"))
    scalers = relations.scalers_of(site.manifest)
    replicas = spec.get("replicas") if isinstance(spec.get("replicas"), int) else None
    least = min((minimum_of(scaler) for scaler in scalers), default=1 if replicas is None else replicas)
    runtime = site.spec.get("runtimeClassName")
    deadline = spec.get("progressDeadlineSeconds")
    grace = site.spec.get("terminationGracePeriodSeconds")
    return PodView(
        kind=site.manifest.kind,
        name=site.manifest.name,
        role=site.shape.role,
        operated=site.shape.operated,
        replicas=replicas,
        least=least,
        group_size=site.group_size,
        autoscaled=bool(scalers),
        exposed=relations.exposed(site),
        budgeted=bool(relations.budgets_of(site)),
        scraped=relations.scraped(site) or site.annotations.get("prometheus.io/scrape") == "true",
        scrape_port=_number(site.annotations.get("prometheus.io/port")),
        rollout=_rollout(site.manifest.kind, spec, least),
        account_token=_account_token(site, relations),
        runtime_class=runtime if isinstance(runtime, str) else None,
        gpus=of_pod(site, relations.bundle),
        volumes=volumes(site, relations),
        references=references(site, relations),
        progress_deadline=deadline if isinstance(deadline, int) else whole("progress-deadline-seconds"),
        grace=grace if isinstance(grace, int) else whole("grace-seconds"),
        placement=placement_view(site),
        owner=_owned(site),
        cloud=cloud or cloud_of(site),
    )


def _owned(site: PodSite) -> bool:
    metadata = site.manifest.metadata
    keys = [*mapping(metadata.get("labels")), *mapping(metadata.get("annotations")), *site.labels, *site.annotations]
    return any(_OWNER.search(str(key)) for key in keys)


def _number(value: Any) -> int | None:
    return whole_number(value) if isinstance(value, str) else None


def _account_token(site: PodSite, relations: Relations) -> bool:
    """As the pod says, else as its account says, else yes."""
    own = site.spec.get("automountServiceAccountToken")
    if isinstance(own, bool):
        return own
    name = str(site.spec.get("serviceAccountName") or "default")
    account = relations.find("ServiceAccount", name, site.manifest.namespace)
    return account is None or account.value.get("automountServiceAccountToken") is not False


def _rollout(kind: str, spec: dict[str, Any], least: int) -> Rollout:
    """The strategy in pods; what is left out has Kubernetes' default."""
    if kind == "LeaderWorkerSet":
        written = mapping(at(spec, ("rolloutStrategy", "rollingUpdateConfiguration")))
        surge = pods_of(written.get("maxSurge", 0), least, up=True)
        return Rollout(
            type="group", surge=surge, unavailable=pods_of(written.get("maxUnavailable", 1), least, up=False)
        )
    if kind in {"StatefulSet", "DaemonSet"}:
        on_delete = at(spec, ("updateStrategy", "type")) == "OnDelete"
        surge = pods_of(at(spec, ("updateStrategy", "rollingUpdate", "maxSurge")) or 0, 1, up=True)
        return Rollout(type="OnDelete" if on_delete else "RollingUpdate", surge=surge, unavailable=1)
    if at(spec, ("strategy", "type")) == "Recreate" or kind in {"Pod", "Job", "CronJob"}:
        return Rollout(type="Recreate", surge=0, unavailable=least)
    written = mapping(at(spec, ("strategy", "rollingUpdate")))
    share = f"{number('rollout-share'):.0%}"
    surge = pods_of(written.get("maxSurge", share), least, up=True)
    unavailable = pods_of(written.get("maxUnavailable", share), least, up=False)
    return Rollout(type="RollingUpdate", surge=surge, unavailable=unavailable)


def pods_of(amount: Any, replicas: int, *, up: bool) -> int:
    """A count, or a share of the replicas, rounded up for a surge or a budget and down for what an update stops."""
    if isinstance(amount, int):
        return amount
    share = (whole_number(str(amount).removesuffix("%")) or 0) * replicas
    return -(-share // _PERCENT) if up else share // _PERCENT
