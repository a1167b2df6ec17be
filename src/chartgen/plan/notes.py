"""What a reader must know or provide, as sentences: for NOTES.txt and the chart's README."""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.catalog.devices import devices
from chartgen.plan.flags import CommandLine
from chartgen.plan.group import Group
from chartgen.plan.kueue import Queue
from chartgen.plan.placement_types import Placement
from chartgen.plan.types import Carries, HubCache, Route, Storage
from chartgen.resolve import Resolved


def notes_of(
    resolved: Resolved,
    carries: Carries,
    storage: Storage,
    placement: Placement,
    group: Group | None,
    queue: Queue | None,
    route: Route | None,
    line: CommandLine,
) -> tuple[str, ...]:
    """All notes, the most pressing first."""
    return (
        *_before_use(resolved, route),
        *([f"Expect slow answers: {carries.missed}."] if carries.missed else []),
        *_needs(resolved, storage, route),
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
    if route is not None and profile.access.api_key_secret is None:
        yield (
            f"Anybody who reaches {route.host.value} can use the model: name a Secret in access.api_key_secret, or "
            "let the gateway ask for a login."
        )


def _needs(resolved: Resolved, storage: Storage, route: Route | None) -> Iterator[str]:
    """What must be there before an install, each with how to see that it is."""
    profile = resolved.profile
    operators = ["the Prometheus operator (PodMonitor, PrometheusRule)"]
    if resolved.autoscales:
        operators.insert(0, "KEDA 2.17 or newer (ScaledObject)")
    yield f"Before an install the cluster needs {' and '.join(operators)}."
    if route is not None and resolved.gateway is not None:
        yield f"The route needs {resolved.gateway.name}, and {route.host.value} must point at it."
        if route.tls_secret is None:
            yield "No certificate is named, so keys and prompts pass in the clear unless the gateway adds TLS."
    token = storage.token_secret if isinstance(storage, HubCache) else None
    secrets = {"token": token.value if token else None, "api-key": profile.access.api_key_secret}
    for key, name in secrets.items():
        if name is not None:
            yield f"The Secret {name} with the key `{key}` must exist in the release's namespace."
    if isinstance(storage, HubCache) and storage.storage_class.value:
        yield f"The storage class {storage.storage_class.value} must exist: {storage.storage_class.because}."
    elif not isinstance(storage, HubCache):
        yield f"The claim {storage.claim.value} must exist and hold the weights at {storage.model.value}."
