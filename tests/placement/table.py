"""The placement table: clouds by cards by modes, each with what a scheduler must be told.

One row is a line of `rows.txt`: cloud | card | GPUs | mode | devices | tolerations | node affinity.

The mode is a word and its argument: whole, spot, mixed:PROFILE and single:PROFILE (MIG), claim, claim-slice:PROFILE,
prefer:1xCARD,2xCARD, shared:CLIENTS. Devices are a count and a resource, or for claims a count, a class, a generation
and the least memory (or a profile); alternatives follow after "else". A row that starts with ! is refused, and ends
with what would do. A row that starts with * is one of those that a real scheduler places.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chartgen.catalog.gpus import gpu
from chartgen.plan.allocation_types import Allocation, Alternative, DeviceClaim, MigSlice, SharedGpu
from chartgen.plan.placement_types import Placement, PlacementRequest
from placement.parts import request


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    cloud: str
    card: str
    gpus: int
    mode: str
    devices: str
    """Empty for a refused row."""
    tolerations: str
    affinity: str
    refusal: str
    """The start of what would do; empty for a row that is placed."""
    scheduler: bool
    """A real scheduler is asked too."""

    @property
    def name(self) -> str:
        """What a failing test is called."""
        return f"{self.cloud}-{self.card}-{self.gpus}-{self.mode}"

    def request(self, minor: int = 34) -> PlacementRequest:
        """The request that the row stands for."""
        changes: dict[str, Any] = {"gpus": self.gpus, "region": None, "kubernetes": minor}
        return request(self.cloud, self.card, **changes, **_mode(self.mode, self.card))


def _mode(text: str, card: str) -> dict[str, Any]:
    kind, _, argument = text.partition(":")
    match kind:
        case "whole":
            return {}
        case "spot":
            return {"workload": "batch", "spot": True}
        case "shared":
            return {"workload": "dev", "allocation": SharedGpu(by="time-slicing", clients=int(argument))}
        case _:
            return {"allocation": _allocation(kind, argument, card)}


def _allocation(kind: str, argument: str, card: str) -> Allocation:
    alternatives: tuple[Alternative, ...] = ()
    match kind:
        case "mixed" | "single":
            return MigSlice(profile=argument, strategy=kind)
        case "claim":
            pass
        case "claim-slice":
            alternatives = (Alternative(gpu=gpu(card), count=1, profile=argument),)
        case "prefer":
            choices = [choice.partition("x") for choice in argument.split(",")]
            alternatives = tuple(Alternative(gpu=gpu(name), count=int(count)) for count, _, name in choices)
        case _:
            raise ValueError(kind)
    return DeviceClaim(alternatives=alternatives)


def rows() -> list[Row]:
    """The whole table."""
    text = (Path(__file__).parent / "rows.txt").read_text(encoding="utf-8")
    return [_row(line) for line in text.splitlines() if line and not line.startswith("#")]


def _row(line: str) -> Row:
    mark, rest = (line[0], line[1:]) if line[0] in "!*" else ("", line)
    cells = [cell.strip() for cell in rest.split("|")]
    cloud, card, gpus, mode, *answer = cells
    devices, tolerations, affinity = answer if mark != "!" else ("", "", "")
    return Row(
        cloud=cloud,
        card=card,
        gpus=int(gpus),
        mode=mode,
        devices=devices,
        tolerations=tolerations,
        affinity=affinity,
        refusal=answer[0] if mark == "!" else "",
        scheduler=mark == "*",
    )


def devices_of(placement: Placement) -> str:
    """What a placement asks for, in the words of the table."""
    if placement.claim is None:
        return " ".join(f"{count} {name}" for name, count in placement.accelerators.value.items())
    return claim_words(placement.claim.spec.value)


def claim_words(template: Any) -> str:
    """What the spec of a ResourceClaimTemplate asks for, in the words of the table."""
    (entry,) = template["spec"]["devices"]["requests"]
    return " else ".join(_choice(choice) for choice in entry.get("firstAvailable", [entry.get("exactly")]))


def _choice(choice: dict[str, Any]) -> str:
    selected = choice["selectors"][0]["cel"]["expression"].split(" && ")
    return " ".join([str(choice["count"]), choice["deviceClassName"], *(term.split("'")[-2] for term in selected)])


def tolerations_of(placement: Placement) -> str:
    """The tolerations, in the words of the table."""
    return toleration_words(placement.tolerations.value)


def toleration_words(found: list[Any]) -> str:
    """Tolerations of a pod, in the words of the table."""
    return " ".join(entry["key"] + (f"={entry['value']}" if "value" in entry else "") for entry in found)


def affinity_of(placement: Placement) -> str:
    """The node affinity, in the words of the table."""
    return term_words(placement.node_affinity.value)


def term_words(found: list[Any]) -> str:
    """Match expressions, in the words of the table."""
    return " & ".join(
        " ".join([term["key"], term["operator"], ",".join(term.get("values", []))]).strip() for term in found
    )
