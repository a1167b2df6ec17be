"""The budget view: a disruption budget, joined to the pods it protects."""

from __future__ import annotations

from typing import Any

from chartgen.kernel.dataclass import dataclass
from chartgen.lint.manifest import Manifest, mapping
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.views.all import Views
from chartgen.lint.views.pod import pods_of


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetView:
    """A PodDisruptionBudget."""

    name: str
    """Its name."""
    selects: Maybe[int]
    """How many pod templates it selects."""
    replicas: Maybe[int]
    """The fewest replicas of what it selects."""
    allowed: Maybe[int]
    """How many pods may be evicted at once when the fewest replicas run."""
    others: int
    """Other budgets that select the same pods: with two, no eviction is possible at all."""


def budget_view(budget: Manifest, views: Views) -> BudgetView:
    """The view of one disruption budget."""
    sites = views.relations.budgeted_by(budget)
    selects: Maybe[int] = len(sites)
    if not sites and views.pods_elsewhere(budget.namespace):
        selects = Unknown(because="the pods it selects are not among the files", run="kubectl get pods -l …")
    pods = [views.pod(site) for site in sites]
    unknown = Unknown(because="the pods it selects are not among the files", run="kubectl get poddisruptionbudgets")
    replicas: Maybe[int] = sum(pod.least for pod in pods) if pods else unknown
    others = {id(other) for site in sites for other in views.relations.budgets_of(site)} - {id(budget)}
    return BudgetView(
        name=budget.name,
        selects=selects,
        replicas=replicas,
        allowed=replicas if isinstance(replicas, Unknown) else _allowed(mapping(budget.value.get("spec")), replicas),
        others=len(others),
    )


def _allowed(spec: dict[str, Any], replicas: int) -> int:
    if "maxUnavailable" in spec:
        return min(pods_of(spec["maxUnavailable"], replicas, up=True), replicas)
    return replicas - pods_of(spec.get("minAvailable", 0), replicas, up=True)
