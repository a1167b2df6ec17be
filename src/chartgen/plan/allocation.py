"""Allocation: from the mode to resource names and labels, and what a mode refuses."""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.catalog.assumptions import number
from chartgen.catalog.clouds import Requirement, product_labels
from chartgen.catalog.devices import devices
from chartgen.catalog.gpus import Gpu
from chartgen.kernel.decision import Decision, Json, worked_out
from chartgen.kernel.errors import nearest_name
from chartgen.kernel.labels import is_label_value
from chartgen.kernel.units import MIB, gib
from chartgen.plan.allocation_types import DeviceClaim, MigSlice, SharedGpu, WholeGpus
from chartgen.plan.placement_types import PlacementProblem, PlacementRequest

AT = ("cluster", "allocation")
"""Where a profile states the mode."""


def problems(request: PlacementRequest) -> Iterator[PlacementProblem]:
    """What the mode cannot do with this card, this platform, this class."""
    parts = isinstance(request.allocation, MigSlice | SharedGpu)
    if parts and request.pods > 1:
        yield PlacementProblem(
            path=("nodes",),
            found=f"{request.pods} nodes for a replica on a part of one card",
            expected="1 node; or whole cards, which a replica over nodes needs",
        )
    match request.allocation:
        case MigSlice() as wanted:
            yield from _slice_problems(request, wanted)
        case SharedGpu() as wanted:
            yield from _shared_problems(request, wanted)
        case WholeGpus() | DeviceClaim():
            pass


def _slice_problems(request: PlacementRequest, wanted: MigSlice) -> Iterator[PlacementProblem]:
    gpu, cloud = request.gpu, request.cloud
    if not gpu.mig:
        yield PlacementProblem(path=AT, found=f"MIG on {gpu.title}", expected="whole cards: this card cannot be sliced")
        return
    if wanted.profile not in gpu.mig:
        yield PlacementProblem(
            path=(*AT, "profile"),
            found=f"MIG profile {wanted.profile} on {gpu.title}",
            expected=f"one of {', '.join(gpu.mig)}; a profile's name means nothing without its card",
            nearest=nearest_name(wanted.profile, gpu.mig),
        )
    if request.gpus > 1:
        yield PlacementProblem(
            path=AT,
            found=f"tensor parallel {request.gpus} over MIG slices",
            expected="one slice per replica, or whole cards: slices have no path to each other that NCCL can use",
        )
    if wanted.strategy not in cloud.mig.strategies:
        able = " or ".join(cloud.mig.strategies)
        yield PlacementProblem(
            path=(*AT, "strategy"),
            found=f"MIG strategy {wanted.strategy} on {cloud.name}",
            expected=f"strategy {able}" if able else f"whole cards: {cloud.mig.because}",
        )


def _shared_problems(request: PlacementRequest, wanted: SharedGpu) -> Iterator[PlacementProblem]:
    if request.workload != "dev":
        yield PlacementProblem(
            path=AT,
            found=f"{wanted.by} for class {request.workload}",
            expected=(
                "whole cards, or MIG where the card has it: neighbours on a shared card take each other's memory and "
                "time, and one that runs out of memory kills the other; class dev may share"
            ),
        )
    if request.gpus > 1:
        yield PlacementProblem(
            path=AT,
            found=f"{request.gpus} shares of cards shared by {wanted.by}",
            expected="1: two shares may be of the same card, and plugins and GKE refuse more than one",
        )
    if request.gpu.vendor != "nvidia":
        yield PlacementProblem(
            path=AT,
            found=f"{wanted.by} on {request.gpu.title}",
            expected="whole cards: only NVIDIA's device plugin shares cards so",
        )


def accelerators(request: PlacementRequest) -> Decision[dict[str, Json]]:
    """The extended resource and its count; empty where a claim asks instead."""
    gpu = request.gpu
    names = devices(gpu.vendor)
    match request.allocation:
        case WholeGpus():
            return worked_out(
                {names.resource: request.gpus},
                f"{request.gpus} x {gpu.title} as {names.resource}, the resource of the vendor's device plugin; an "
                "extended resource takes no overcommit, so request and limit are equal",
            )
        case MigSlice(profile=profile, strategy="mixed"):
            return worked_out(
                {names.slice_name(profile): 1},
                f"One {profile} slice of {gpu.title} ({slice_words(gpu, profile)}): in the mixed strategy each profile "
                "is a resource of its own",
            )
        case MigSlice(profile=profile):
            return worked_out(
                {names.resource: 1},
                f"One {profile} slice of {gpu.title} ({slice_words(gpu, profile)}): in the single strategy a slice is "
                f"counted as {names.resource}, and labels tell slices from whole cards",
            )
        case SharedGpu(by=by, clients=clients, renamed=renamed):
            resource = names.shared_resource if renamed and names.shared_resource else names.resource
            return worked_out({resource: 1}, f"One of {clients} shares of a {gpu.title} by {by}")
        case DeviceClaim():
            return worked_out(
                {}, "Devices come from the pod's claim; asking for the extended resource too would take them twice"
            )


def slice_words(gpu: Gpu, profile: str) -> str:
    """What a slice has: memory, share of compute, how many a card gives."""
    found = gpu.mig[profile]
    whole = max(entry.compute_units for entry in gpu.mig.values())
    compute = f"{found.compute_units} of {whole} compute units"
    return f"{gib(found.mib * MIB)} and {compute}, at most {found.count} on a card"


def slices(gpu: Gpu) -> list[str]:
    """The profiles of a card, smallest memory first; of two alike, the one with less compute."""
    return sorted(gpu.mig, key=lambda name: (gpu.mig[name].mib, gpu.mig[name].compute_units))


def labels(request: PlacementRequest) -> tuple[Requirement, ...] | None:
    """Labels that only nodes prepared for this mode have; None: the card's own labels do."""
    cloud, gpu = request.cloud, request.gpu
    match request.allocation:
        case MigSlice(profile=profile) if cloud.mig.label:
            own = cloud.card_labels.get(gpu.key, ())
            return (*own, Requirement(key=cloud.mig.label, values=(profile,)))
        case MigSlice(profile=profile, strategy="single"):
            return _suffixed(gpu, f"-MIG-{profile}")
        case SharedGpu(by=by, clients=clients) if cloud.sharing_labels:
            words = {"strategy": "time-sharing" if by == "time-slicing" else by, "clients": str(clients)}
            shared = [
                Requirement(key=key, values=(value.format(**words),)) for key, value in cloud.sharing_labels.items()
            ]
            return (*cloud.card_labels.get(gpu.key, ()), *shared)
        case SharedGpu(renamed=False):
            return _suffixed(gpu, "-SHARED")
        case WholeGpus() | MigSlice() | SharedGpu() | DeviceClaim():
            return None


def _suffixed(gpu: Gpu, suffix: str) -> tuple[Requirement, ...]:
    """The product label with the suffix that feature discovery gives slices and shares; no node has one too long."""
    return tuple(
        Requirement(key=term.key, values=tuple(filter(is_label_value, (f"{value}{suffix}" for value in term.values))))
        for term in product_labels(gpu.key)
    )


def notes(request: PlacementRequest) -> Iterator[str]:
    """What the mode needs from nodes, and what autoscalers do not know of it."""
    wanted, scaler = request.allocation, request.cloud.scaler
    if not isinstance(wanted, MigSlice):
        return
    yield f"Cards must be cut into {wanted.profile} slices before pods can run: {request.cloud.mig.because}."
    if wanted.strategy == "mixed" and scaler in {"karpenter", "cluster-autoscaler"}:
        resource = devices(request.gpu.vendor).slice_name(wanted.profile)
        yield (
            f"An autoscaler knows the whole cards of a type that has no node yet, not {resource}: keep one such node, "
            "or tell it what the pool's nodes will have."
        )


def memory_share(clients: int) -> Decision[float]:
    """The most of a shared card's memory that one of `clients` engines may take, so that all of them fit."""
    alone = number("gpu-memory-utilization")
    share = int(alone / clients * 100) / 100
    because = f"{clients} engines share one card and each may count on its share alone: {alone} / {clients}"
    return worked_out(share, because)
