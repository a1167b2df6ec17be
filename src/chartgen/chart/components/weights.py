"""Where the weights lie, and how they come there."""

from __future__ import annotations

from chartgen.catalog.assumptions import assumption, sentence, whole
from chartgen.chart.guards import secret_guards
from chartgen.chart.types import Component
from chartgen.kernel.decision import Decision, Json, asked, assumed
from chartgen.plan.types import HubCache, Plan


def component(plan: Plan) -> Component:
    """The volume, and the container that fills it or checks what it holds."""
    storage, wanted = plan.storage, plan.resolved.profile.weights
    cached = isinstance(storage, HubCache)
    values: dict[str, Decision[Json]] = {"mountPath": storage.mount_path}
    if isinstance(storage, HubCache):
        values |= {"revision": storage.revision, "size": storage.size, "storageClass": storage.storage_class}
    else:
        values |= {"claim": storage.claim}
    if wanted.checksum is not None:
        values["checksum"] = asked(wanted.checksum, "What the index of the weights must hash to before a start")
    token = storage.token_secret if isinstance(storage, HubCache) else None
    if token is not None:
        values["tokenSecret"] = token
    checks = cached or wanted.checksum is not None
    if checks:
        values["fetch"] = assumed(
            {"cpu": str(whole("fetch-cpus")), "memory": f"{whole('fetch-memory')}Gi"},
            f"{sentence(assumption('fetch-cpus').because)}; {assumption('fetch-memory').because}",
        )
    shared = isinstance(storage, HubCache) and storage.shared
    return Component(
        name="weights",
        templates=("persistentvolumeclaim.yaml",) if shared else (),
        files=("weights.py",) if checks else (),
        values={"weights": values},
        shape={
            "weights": "hub" if cached else "claim",
            "shared_cache": shared,
            "checksum": wanted.checksum is not None,
            "gated": token is not None,
        },
        guards=tuple(secret_guards("weights.tokenSecret")) if token else (),
    )
