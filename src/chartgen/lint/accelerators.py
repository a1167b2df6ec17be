"""GPUs and their kin as pods ask for them: resource names, slices, shares and claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal

from chartgen.catalog.clouds import cloud_names, load_cloud
from chartgen.kernel.dataclass import dataclass
from chartgen.lint.bundle import Bundle
from chartgen.lint.functions import is_quantity, quantity
from chartgen.lint.manifest import at, items, mapping, mappings
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.workloads import PodSite, selector_terms

PRODUCT: Final = "nvidia.com/gpu.product"
"""The label of a node's card, which names slices and shares too."""
Cut = Literal["whole", "slice", "share"]
"""A whole card, a MIG slice or partition, or a time share that others sit on too."""

_RESOURCES: Final[tuple[tuple[re.Pattern[str], str, Cut], ...]] = (
    (re.compile(r"nvidia\.com/gpu\.shared"), "nvidia", "share"),
    (re.compile(r"nvidia\.com/mig-.+"), "nvidia", "slice"),
    (re.compile(r"nvidia\.com/(gpu|pgpu)"), "nvidia", "whole"),
    (re.compile(r"amd\.com/gpu"), "amd", "whole"),
    (re.compile(r"amd\.com/[a-z]+_nps\d+"), "amd", "slice"),
    (re.compile(r"(habana\.ai|habana\.com|intel\.com)/gaudi\d*"), "habana", "whole"),
    (re.compile(r"gpu\.intel\.com/.+"), "intel", "whole"),
    (re.compile(r"aws\.amazon\.com/neuron(core|device)?"), "aws", "whole"),
    (re.compile(r"google\.com/tpu"), "google", "whole"),
    (re.compile(r"huawei\.com/.+"), "huawei", "whole"),
    (re.compile(r"deviceclass\.resource\.kubernetes\.io/.+"), "claim", "whole"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerators:
    """What accelerators a container or pod asks for."""

    count: Maybe[int]
    """How many; 0 when it asks for none."""
    resource: str | None
    """The resource's name: nvidia.com/gpu; null for a claim or for none."""
    vendor: str | None
    """Whose they are: nvidia, amd, habana, intel, aws, google, huawei; null when not known."""
    cut: Cut | None
    """whole, slice (MIG) or share (time-sliced); null for none."""
    claimed: bool
    """Whether they come from a ResourceClaim."""
    profile: str | None = None
    """The slice's profile: 1g.10gb."""


NONE: Final = Accelerators(count=0, resource=None, vendor=None, cut=None, claimed=False)


def kind_of(resource: str) -> tuple[str, Cut] | None:
    """The vendor and cut of a resource name; None when it is no accelerator."""
    for pattern, vendor, cut in _RESOURCES:
        if pattern.fullmatch(resource):
            return vendor, cut
    return None


def of_container(container: Mapping[str, Any], site: PodSite, bundle: Bundle) -> Accelerators:
    """What one container asks for: its limits, else its claims."""
    resources = mapping(container.get("resources"))
    for part in ("limits", "requests"):
        for name, amount in mapping(resources.get(part)).items():
            kind = kind_of(name)
            if kind is not None:
                vendor, cut = kind
                profile = name.partition("/mig-")[2] or (_labelled_slice(site.spec) if cut == "whole" else None)
                return Accelerators(
                    count=_count(amount),
                    resource=name,
                    vendor=None if vendor == "claim" else vendor,
                    cut="slice" if profile else cut,
                    claimed=vendor == "claim",
                    profile=profile,
                )
    claims = mappings(resources.get("claims"))
    return _claimed(claims, site, bundle) if claims else NONE


def _labelled_slice(spec: dict[str, Any]) -> str | None:
    """The profile of the slices that a pod's nodes offer as whole cards, by their labels; None for whole cards."""
    found = set[str]()
    for term in selector_terms(spec):
        if term.get("operator", "In") == "In":
            values = {str(value) for value in items(term.get("values"))}
            if term.get("key") == PRODUCT:
                found |= {value.partition("-MIG-")[2] for value in values}
            elif term.get("key") in _slice_labels():
                found |= values
    profile = found.pop() if len(found) == 1 else ""
    return profile or None


@cache
def _slice_labels() -> frozenset[str]:
    return frozenset(label for name in cloud_names() if (label := load_cloud(name).mig.label))


def _count(amount: Any) -> Maybe[int]:
    text = str(amount)
    if is_quantity(text) and not isinstance(amount, bool):
        return int(quantity(text))
    return Unknown(because=f"the GPU count is {text}", run="render the manifest first")


def _claimed(claims: list[dict[str, Any]], site: PodSite, bundle: Bundle) -> Accelerators:
    """The devices of a container's claims, as far as their templates stand in the bundle."""
    total, vendor, slices = 0, None, False
    for claim in claims:
        found = list(_requests(claim, site, bundle))
        if not found:
            return Accelerators(
                count=Unknown(
                    because=f"the claim {claim.get('name')} is not among the files",
                    run="kubectl get resourceclaimtemplates,resourceclaims -o yaml",
                ),
                resource=None,
                vendor=None,
                cut=None,
                claimed=True,
            )
        for device_class, count in found:
            if "gpu" in device_class or "mig" in device_class:
                total += count
                slices = slices or device_class.startswith("mig.")
                vendor = device_class.split(".")[1] if device_class.count(".") > 1 else None
    cut: Cut = "slice" if slices else "whole"
    return Accelerators(count=total, resource=None, vendor=vendor, cut=cut, claimed=True)


def _requests(claim: Mapping[str, Any], site: PodSite, bundle: Bundle) -> Iterator[tuple[str, int]]:
    """Device class and count of each request; of a prioritized list, its first choice."""
    name = claim.get("name")
    declared = next((one for one in mappings(site.spec.get("resourceClaims")) if one.get("name") == name), {})
    source = mapping(declared.get("source")) or declared
    namespace = site.manifest.namespace
    template = bundle.named("ResourceClaimTemplate", str(source.get("resourceClaimTemplateName")), namespace)
    direct = bundle.named("ResourceClaim", str(source.get("resourceClaimName")), namespace)
    if template is not None:
        spec = at(template.value, ("spec", "spec"))
    elif direct is not None:
        spec = at(direct.value, ("spec",))
    else:
        return
    wanted = claim.get("request")
    for request in mappings(at(spec, ("devices", "requests"))):
        if wanted and str(wanted).split("/")[0] != request.get("name"):
            continue
        first = next(iter(mappings(request.get("firstAvailable"))), None)
        exact = mapping(request.get("exactly")) or first or request
        count = exact.get("count", 1)
        yield str(exact.get("deviceClassName", "")), count if isinstance(count, int) else 1


def of_pod(site: PodSite, bundle: Bundle) -> Accelerators:
    """What a pod asks for: the sum over its containers of the kind that the first one names."""
    found = [of_container(mapping(one), site, bundle) for one in items(site.spec.get("containers"))]
    asking = [one for one in found if one is not NONE]
    if not asking:
        return NONE
    counts = [one.count for one in asking]
    unknown = next((count for count in counts if isinstance(count, Unknown)), None)
    total: Maybe[int] = unknown or sum(count for count in counts if isinstance(count, int))
    first = asking[0]
    return Accelerators(
        count=total,
        resource=first.resource,
        vendor=first.vendor,
        cut=first.cut,
        claimed=first.claimed,
        profile=first.profile,
    )
