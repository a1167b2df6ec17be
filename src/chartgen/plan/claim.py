"""Claims: devices through dynamic resource allocation, by what they can do and not by what they are called."""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.catalog.devices import Devices, devices
from chartgen.catalog.gpus import Gpu, gpus
from chartgen.kernel.decision import Decision, Json, asked, fact, worked_out
from chartgen.kernel.units import GIB
from chartgen.plan.allocation import AT
from chartgen.plan.allocation_types import Alternative, DeviceClaim, DeviceRequest
from chartgen.plan.placement_types import PlacementProblem, PlacementRequest

STABLE_SINCE = 34
"""The minor from which resource.k8s.io/v1 is served without being switched on."""
BETA = 33
"""The minor whose v1beta2 has the same shape, but is off unless an administrator switches it on."""
NAME = "gpus"
"""The claim's name inside the pod, and of its one request."""
SAME_ROOT = "resource.kubernetes.io/pcieRoot"
"""The attribute, common to all drivers, of the PCIe root that a device hangs on."""


def problems(request: PlacementRequest, wanted: DeviceClaim) -> Iterator[PlacementProblem]:
    """What a claim cannot do on this cluster or with these cards."""
    minor = request.kubernetes
    if minor < BETA or (minor == BETA and not wanted.beta):
        yield PlacementProblem(
            path=("cluster", "kubernetes"),
            found=f"a device claim on Kubernetes 1.{minor}",
            expected=(
                f"1.{STABLE_SINCE} or newer, which serves resource.k8s.io/v1; or the extended resource (allocation "
                "whole)"
            ),
        )
    if len({devices(entry.gpu.vendor).domain for entry in alternatives(request, wanted)}) > 1:
        yield PlacementProblem(
            path=(*AT, "prefer"),
            found="cards of different vendors in one claim",
            expected="cards of one vendor: the engine's image is built for one",
        )
    for entry in alternatives(request, wanted):
        largest = request.cloud.largest(entry.gpu.key)
        if not request.cloud.sells(entry.gpu.key) or (largest and entry.count > largest):
            yield PlacementProblem(
                path=(*AT, "prefer"),
                found=f"{entry.count} x {entry.gpu.title} as an alternative on {request.cloud.name}",
                expected=f"at most {largest} on one node" if largest else f"one of {', '.join(request.cloud.cards())}",
            )
        if entry.profile is not None and (entry.profile not in entry.gpu.mig or entry.count > 1):
            yield PlacementProblem(
                path=(*AT, "profile"),
                found=f"{entry.count} x MIG {entry.profile} of {entry.gpu.title}",
                expected=f"one slice of {', '.join(entry.gpu.mig) or 'a card that can be sliced'}",
            )


def alternatives(request: PlacementRequest, wanted: DeviceClaim) -> tuple[Alternative, ...]:
    """What would do, in order of preference."""
    return wanted.alternatives or (Alternative(gpu=request.gpu, count=request.gpus),)


def device_request(request: PlacementRequest, wanted: DeviceClaim) -> DeviceRequest:
    """The claim of one pod, as the spec of a ResourceClaimTemplate."""
    entries = alternatives(request, wanted)
    if len(entries) == 1:
        body: dict[str, Json] = {"name": NAME, "exactly": _devices(entries[0])}
    else:
        choices: list[Json] = [{"name": f"choice-{at}", **_devices(entry)} for at, entry in enumerate(entries, start=1)]
        body = {"name": NAME, "firstAvailable": choices}
    claim: dict[str, Json] = {"requests": [body]}
    if wanted.same_root and any(entry.count > 1 for entry in entries):
        claim["constraints"] = [{"requests": [NAME], "matchAttribute": SAME_ROOT}]
    return DeviceRequest(
        name=NAME,
        api_version=_api_version(request),
        spec=worked_out({"spec": {"devices": claim}}, _because(entries, wanted)),
        counts=tuple(entry.count for entry in entries),
    )


def _api_version(request: PlacementRequest) -> Decision[str]:
    if request.kubernetes >= STABLE_SINCE:
        return fact("resource.k8s.io/v1", f"Served by default from Kubernetes 1.{STABLE_SINCE}; betas end with 1.39")
    return asked("resource.k8s.io/v1beta2", f"Kubernetes 1.{BETA} has no v1, and the profile says that the beta is on")


def _devices(entry: Alternative) -> dict[str, Json]:
    names = devices(entry.gpu.vendor)
    sliced = entry.profile is not None
    device_class = names.slice_class if sliced and names.slice_class else names.device_class
    return {
        "deviceClassName": device_class,
        "count": entry.count,
        "selectors": [{"cel": {"expression": _selector(entry, names)}}],
    }


def _selector(entry: Alternative, names: Devices) -> str:
    """The CEL that a device must meet: the generation and at least the memory, so that a larger card will do."""
    attribute = f"device.attributes['{names.domain}']"
    if entry.profile is not None and names.profile_attribute:
        terms = [f"{attribute}.{names.profile_attribute} == '{entry.profile}'"]
    else:
        least = memory_floor(entry.gpu)
        capacity = f"device.capacity['{names.domain}'].{names.memory_capacity}"
        terms = [f"{capacity}.compareTo(quantity('{least}Gi')) >= 0"]
    generation = names.architectures.get(entry.gpu.architecture)
    if generation and names.architecture_attribute:
        terms.insert(0, f"{attribute}.{names.architecture_attribute} == '{generation}'")
    return " && ".join(terms)


def memory_floor(gpu: Gpu) -> int:
    """Whole GiB that every card of the type has to offer: drivers report a little more than a process sees."""
    return int(gpu.visible_bytes("low") // GIB)


def weaker_siblings(entry: Alternative) -> list[Gpu]:
    """Cards that meet the selector and compute less than half as fast: the selector cannot tell them apart."""
    if entry.profile is not None:
        return []
    card, floor = entry.gpu, memory_floor(entry.gpu)
    speed = card.teraflops.get("bfloat16", 0)
    return [
        other
        for other in gpus()
        if (other.vendor, other.architecture) == (card.vendor, card.architecture)
        and memory_floor(other) >= floor
        and 2 * other.teraflops.get("bfloat16", speed) < speed
    ]


def _because(entries: tuple[Alternative, ...], wanted: DeviceClaim) -> str:
    words = ", else ".join(
        f"{entry.count} x {entry.profile + ' of ' if entry.profile else ''}{entry.gpu.title}" for entry in entries
    )
    because = f"{words}; picked by generation and memory, since product names differ from driver to driver"
    if wanted.same_root:
        because += "; all on one PCIe root, because these cards talk to each other over PCIe"
    return because


def notes(request: PlacementRequest, wanted: DeviceClaim) -> Iterator[str]:
    """What the cluster needs, and what can go wrong without anybody being told."""
    names = devices(request.gpu.vendor)
    yield f"Claims need {names.needs} (read: {names.driver})."
    if request.cloud.scaler == "karpenter":
        yield (
            "Karpenter ignores device claims unless told otherwise (settings.ignoreDRARequests is true by default; "
            "from 1.15 on its feature gates switch them on): it may add a node without a GPU for a pod that only has "
            "a claim. Keep GPU nodes in a static pool, or use allocation whole."
        )
    elif request.cloud.scaler == "cluster-autoscaler":
        yield (
            "The cluster autoscaler counts device claims from 1.35 on, and scales a pool from zero for them only "
            "where the provider supplies a template of its devices: keep one node in the pool otherwise."
        )
    if len({entry.count for entry in alternatives(request, wanted)}) > 1:
        yield (
            "The alternatives differ in the number of devices, so the engine's start command counts the GPUs that the "
            "pod got and sets tensor parallel to that."
        )
    siblings = (card.title for entry in alternatives(request, wanted) for card in weaker_siblings(entry))
    if weaker := list(dict.fromkeys(siblings)):
        yield (
            f"The claim also takes {', '.join(weaker)}: the same generation with as much memory and far less compute. "
            "If the cluster has such cards, add the product's name to the claim's selector."
        )
    if wanted.same_root:
        yield (
            "One PCIe root rarely has more than two or four GPUs: if the pod stays pending with 'cannot allocate all "
            "claims', drop the constraint."
        )
