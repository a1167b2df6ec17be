"""Where the weights lie."""

from __future__ import annotations

import math

from chartgen.catalog.assumptions import assumption, number, whole
from chartgen.catalog.clouds import Cloud
from chartgen.kernel.decision import Decision, asked, assumed, fact, worked_out
from chartgen.kernel.units import GIB, Bytes, gib
from chartgen.plan.types import ExistingClaim, HubCache, Storage
from chartgen.profile.types import Weights


def plan_storage(*, wanted: Weights, repository: str, weights: Bytes, cloud: Cloud, gated: bool) -> Storage:
    """A claim that the profile names, or a cache of the hub: shared where a ReadWriteMany class is known."""
    path = fact("/weights", "Where the volume appears in the pod")
    if wanted.from_ is not None and wanted.from_ != "hub":
        claim, _, inner = wanted.from_.removeprefix("pvc:").partition("/")
        return ExistingClaim(
            model=asked(f"{path.value}/{inner}".rstrip("/"), f"The weights lie on the claim {claim}"),
            mount_path=path,
            claim=asked(claim, "The profile names the claim that holds the weights"),
        )
    room = number("volume-head-room")
    size = math.ceil(weights / GIB * room)
    kind, shared = _class(wanted, cloud, weights)
    return HubCache(
        model=fact(repository, "The model's name on the hub"),
        mount_path=path,
        revision=asked(wanted.revision, "The revision that the profile pins")
        if wanted.revision
        else assumed(
            "main", "No revision is pinned: set weights.revision to a commit to serve the same bytes for ever"
        ),
        size=worked_out(
            f"{size}Gi",
            f"{gib(weights)} of weights and {room - 1:.0%} more: {assumption('volume-head-room').because}",
        ),
        storage_class=kind,
        token_secret=_token(wanted, repository, gated=gated),
        shared=shared,
    )


def _token(wanted: Weights, repository: str, *, gated: bool) -> Decision[str] | None:
    if wanted.token_secret is not None:
        return asked(wanted.token_secret, "The Secret that the profile names; its key `token` opens the hub")
    if gated:
        return assumed("hub-token", f"{repository} is gated, so its download needs the key `token` of a Secret")
    return None


def _class(wanted: Weights, cloud: Cloud, weights: Bytes) -> tuple[Decision[str], bool]:
    if wanted.storage_class is not None:
        return asked(wanted.storage_class, "The ReadWriteMany class that the profile names"), True
    shared = cloud.storage.shared
    if shared.name:
        return fact(shared.name, f"One copy that all replicas read; on {cloud.name}: {shared.because}"), True
    seconds = math.ceil(weights / GIB * whole("download-seconds-per-gib"))
    because = (
        f"No ReadWriteMany class is known on {cloud.name}, so each replica downloads its own {gib(weights)}, about "
        f"{seconds} s; name one in weights.storage_class to download once"
    )
    return worked_out("", because), False
