"""What a reader must know or provide, as sentences: for NOTES.txt and the chart's README."""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.catalog.devices import devices
from chartgen.plan.flags import CommandLine
from chartgen.plan.group import Group
from chartgen.plan.kueue import Queue
from chartgen.plan.placement_types import Placement
from chartgen.plan.types import Route
from chartgen.resolve import Resolved


def notes_of(
    resolved: Resolved,
    placement: Placement,
    group: Group | None,
    queue: Queue | None,
    route: Route | None,
    line: CommandLine,
) -> tuple[str, ...]:
    """All notes, the most pressing first."""
    return (
        *_before_use(resolved, route),
        *devices(resolved.gpu.vendor).notes,
        *placement.notes,
        *(group.notes if group else ()),
        *(queue.notes if queue else ()),
        *(route.settings.notes if route else ()),
        *line.unsaid,
    )


def _before_use(resolved: Resolved, route: Route | None) -> Iterator[str]:
    profile = resolved.profile
    if resolved.model.reference or resolved.hub is None:
        yield f"{resolved.model_says}."
    if resolved.model.gated and profile.weights.token_secret is None and profile.weights.from_ is None:
        yield (
            f"{resolved.model.id} is gated: create a Secret with the key token and name it in "
            "weights.token_secret, or the download is refused."
        )
    if route is not None and profile.access.api_key_secret is None:
        yield (
            f"Anybody who reaches {route.host.value} can use the model: name a Secret in access.api_key_secret, or "
            "let the gateway ask for a login."
        )
