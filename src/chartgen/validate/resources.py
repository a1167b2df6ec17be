"""What the API server refuses in a container's requests and limits (validateResourceRequirements)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from chartgen.kernel.quantity import quantity
from chartgen.validate.fault import Fault, Node

_STANDARD: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_HUGE_PAGES: Final = "hugepages-"
_NATIVE: Final = "kubernetes.io/"


def resource_faults(resources: Node) -> Iterator[Fault]:
    """Every fault of one `resources` block."""
    limits, requests = resources["limits"], resources["requests"]
    for side in (limits, requests):
        for name, amount in side.fields():
            yield from _amount(name, amount)
    for name, request in requests.fields():
        yield from _request(name, request, limits)


def _amount(name: str, amount: Node) -> Iterator[Fault]:
    """ValidateContainerResourceName, ValidateResourceQuantityValue."""
    if "/" not in name and name not in _STANDARD and not name.startswith(_HUGE_PAGES):
        message = f"{name!r} is no resource of a container"
        expected = "cpu, memory, ephemeral-storage, hugepages-<size>, or a name with a domain such as nvidia.com/gpu"
        yield amount.fault("value", message, found=repr(name), expected=expected)
    value = quantity(amount.value)
    if value is None:
        return
    if value < 0:
        message = f"{name} is negative"
        yield amount.fault("value", message, found=str(amount.value), expected="0 or more")
    elif _is_device(name) and value.denominator != 1:
        message = f"{name} is counted in whole devices"
        yield amount.fault("value", message, found=str(amount.value), expected="a whole number")


def _is_device(name: str) -> bool:
    """IsExtendedResourceName: a name with a domain that is not Kubernetes' own."""
    return "/" in name and _NATIVE not in name


def _request(name: str, request: Node, limits: Node) -> Iterator[Fault]:
    """A request never exceeds its limit; devices and huge pages are not overcommitted."""
    asked, allowed = quantity(request.value), quantity(limits[name].value)
    fixed = _is_device(name) or name.startswith(_HUGE_PAGES)
    if fixed and name not in limits:
        message = f"{name} needs a limit: it cannot be overcommitted"
        yield request.fault("missing", message, found="a request alone", expected=f"the same amount in limits.{name}")
    elif asked is None or allowed is None:
        return
    elif fixed and asked != allowed:
        message = f"the request of {name} differs from its limit of {limits[name].value}"
        yield request.fault("value", message, found=str(request.value), expected=str(limits[name].value))
    elif asked > allowed:
        message = f"the request of {name} exceeds its limit of {limits[name].value}"
        yield request.fault("value", message, found=str(request.value), expected=f"at most {limits[name].value}")
