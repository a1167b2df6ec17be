"""A chart before it is text: components, each with its templates, its values and its guards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What the chart's own schema says of a value beyond its type: Helm itself refuses a bad --set."""

    path: str
    """The value, dotted from the root: autoscaling.minReplicas."""
    rule: Mapping[str, Any]
    """The JSON Schema that must hold."""
    because: str
    """What the user reads when it does not: "at least 2: a cold start takes 240 s"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One concern of a chart."""

    name: str
    """The concern, and the folder of its templates."""
    templates: tuple[str, ...]
    """Files under the project's `templates/<name>/`, without `.j2`."""
    values: Values
    """What these templates read."""
    files: tuple[str, ...] = ()
    """Files of the same folder that a template reads with .Files.Get; they land in the chart's `files/`."""
    shape: Mapping[str, bool | str] = field(default_factory=dict)
    """What the templates branch on. Never a number: two plans of one shape give the same templates."""
    guards: tuple[Guard, ...] = ()
    """Values that must not take some values."""
    needs_kubernetes: int = 33
    """The oldest minor on which everything it renders exists: 34 for 1.34."""
    open: tuple[str, ...] = ()
    """Paths of mappings to which a user may add keys, such as engine.flags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A whole chart, as data."""

    name: str
    """Name of chart and default release."""
    app_version: str
    """The vLLM release it runs."""
    description: str
    """One line for Chart.yaml."""
    kubernetes: str
    """The Kubernetes it is checked against: 1.34."""
    namespace: str
    """Where the release will live, for the commands of its README."""
    notes: tuple[str, ...]
    """What the reader must know or provide."""
    advice: tuple[str, ...]
    """What makes it faster, and nobody needs."""
    quota: Mapping[str, Decision[str]]
    """What a ResourceQuota must leave it, by the resource's name there."""
    limits: tuple[str, ...]
    """What else quota and limits of its namespace mean for it."""
    components: tuple[Component, ...]
    """In the order in which a reader meets them."""

    decisions: tuple[tuple[str, Decision[Any]], ...] = ()
    """Decisions that are no value of the chart but explain it, by title."""

    @property
    def oldest_kubernetes(self) -> str:
        """The oldest Kubernetes it installs on."""
        return f"1.{max(component.needs_kubernetes for component in self.components)}"
