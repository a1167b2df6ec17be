"""The matrix before the linter and real API servers, by other processes; what was said in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import witness
from breadth.axes import axes, text_of
from breadth.charts import Maker
from breadth.pairs import ALSO, Covering, Row
from chartgen.kernel.structure import dotted
from chartgen.validate.embedded import check_objects
from chartgen.validate.helm import HelmError
from cluster import definitions
from cluster.api import Api
from cluster.controlplane import MINORS, ControlPlane
from cluster.errors import ClusterError
from cluster.install import documents, send

DEFINITIONS: Final = ("envoy-gateway-crds", "istio-crds")
"""What some charts need beside the usual definitions."""
UNSERVED: Final = frozenset(
    {
        "BackendConfig",
        "ClientSettingsPolicy",
        "ComputeDomain",
        "GCPBackendPolicy",
        "GCPTrafficDistributionPolicy",
        "HealthCheckPolicy",
        "KongUpstreamPolicy",
        "ProxySettingsPolicy",
        "RoutePolicy",
        "UpstreamSettingsPolicy",
    }
)
"""Kinds whose definitions are not to be had as files of a Go module; the embedded schemas know their fields."""
WARNINGS: Final = frozenset(
    {
        # GKE reads the class of an Ingress from this annotation alone, which Kubernetes would like to see go.
        """annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead""",
    }
)
"""Warnings that stand for what cannot be said in another way."""
_PROCESSES: Final = 2

Server = tuple[str, str, Path]
"""Address, token and authority of an API server: what another process needs to be its client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was said of one chart."""

    row: Row
    faults: tuple[str, ...]
    """What Helm, a schema or the server refused, and what the linter or the server warned about."""
    kinds: tuple[str, ...] = ()
    """The kinds of its objects."""


@dataclass(slots=True, kw_only=True)
class Report:
    """What became of the rows."""

    covering: Covering
    maker: Maker
    charts: list[Outcome] = field(default_factory=list)

    def faults(self, most: int = 5) -> str:
        """The first different faults, each with the profile of the first chart that has it."""
        first: dict[str, Row] = {}
        for chart in self.charts:
            for fault in chart.faults:
                first.setdefault(fault, chart.row)
        for row, why in self.maker.unclear.items():
            first.setdefault(why, row)
        shown = [f"{why}\nas in the chart of\n{text_of(row)}" for why, row in list(first.items())[:most]]
        return "\n".join([*shown, *([f"and {len(first) - most} more"] if len(first) > most else [])])

    def lines(self) -> Iterator[str]:
        """Counts for a reader."""
        kinds = Counter(kind for chart in self.charts for kind in chart.kinds)
        wrong = sum(bool(chart.faults) for chart in self.charts)
        yield f"{len(self.charts)} charts of {kinds.total()} objects, {wrong} charts at fault"
        for at, axis in enumerate(self.covering.axes):
            counts = Counter(chart.row[at] for chart in self.charts)
            yield f"{axis.name}: " + ", ".join(f"{value} {counts[value]}" for value in axis.values)
        yield _counted("objects that the servers judged", {k: n for k, n in kinds.items() if k not in UNSERVED})
        yield _counted("objects of kinds that no server here knows", {k: n for k, n in kinds.items() if k in UNSERVED})
        yield from self._impossible()
        yield f"pairs not yet held: {len(self.covering.open)}"
        yield _counted("profiles refused, by the key that the planner names", self.maker.refusals)

    def _impossible(self) -> Iterator[str]:
        names = [axis.name for axis in self.covering.axes]
        found = self.covering.impossible
        counts = Counter((i, j) for i, _, j, _ in found)
        yield f"pairs that no chart can hold: {len(found)}"
        for (i, j), count in counts.most_common():
            one, other, why = next((a, b, why) for (x, a, y, b), why in found.items() if (x, y) == (i, j))
            yield f"  {names[i]} and {names[j]} {count}, such as {one} and {other}: {why.partition(ALSO)[0]}"


def _counted(what: str, counts: dict[str, int]) -> str:
    each = ", ".join(f"{name} {count}" for name, count in Counter(counts).most_common())
    return f"{what}: {sum(counts.values())}" + (f" ({each})" if each else "")


def empty(folder: Path) -> Report:
    """A report on nothing yet, whose rows are still to be chosen."""
    maker = Maker(folder)
    return Report(covering=Covering(axes(), maker.refusal), maker=maker)


def run(plane_of: Callable[[str], ControlPlane], folder: Path, most: int | None = None) -> Report:
    """Send the charts of the first so many rows, or of all, to the API server of each row's minor."""
    report = empty(folder)
    servers = {minor: ready(plane_of(minor)) for minor in MINORS}
    context = get_context("spawn")
    with ProcessPoolExecutor(_PROCESSES, context, initializer=_start, initargs=(servers, folder)) as pool:
        waiting = [pool.submit(_judged, row) for row in islice(report.covering.rows(), most)]
        report.charts += [one.result() for one in waiting]
    return report


def ready(plane: ControlPlane) -> Server:
    """Give a server the definitions that the matrix needs."""
    definitions.install(plane.api, *DEFINITIONS)
    return plane.api.address, plane.api.token, plane.api.authority


@dataclass(slots=True, kw_only=True)
class Judge:
    """One process: renders charts and asks the servers."""

    maker: Maker
    servers: dict[str, Api]

    def judged(self, row: Row) -> Outcome:
        """A row's chart before Helm, the embedded schemas and the server of its minor."""
        try:
            text = self.maker.manifests(row)
            return self.outcome(row, text)
        except (HelmError, ClusterError) as error:
            return Outcome(row=row, faults=(str(error),))

    def outcome(self, row: Row, text: str) -> Outcome:
        """What the linter, the schemas and the server of a row's minor say: a dry run with strict fields."""
        found = list(documents(text))
        problems = check_objects([("", manifest) for manifest, _ in found], row[0])
        faults = [f"schema of {one.kind} {dotted(one.path)}: {one.message}" for one in problems]
        faults += witness.said(text, row[0])
        for manifest, raw in found:
            if manifest["kind"] not in UNSERVED:
                verdict = send(self.servers[row[0]], manifest, raw, namespace="default", dry_run=True)
                said = [verdict.message] if verdict.message else sorted({*verdict.warnings} - WARNINGS)
                faults += [f"{manifest['kind']}/{manifest['metadata']['name']}: {one}" for one in said]
        return Outcome(row=row, faults=tuple(faults), kinds=tuple(manifest["kind"] for manifest, _ in found))


def judge_of(servers: dict[str, Server], folder: Path) -> Judge:
    """A judge for servers, with a folder for its profiles."""
    return Judge(maker=Maker(folder), servers={minor: Api(*server) for minor, server in servers.items()})


_here: list[Judge] = []


def _start(servers: dict[str, Server], folder: Path) -> None:
    _here.append(judge_of(servers, folder))


def _judged(row: Row) -> Outcome:
    return _here[0].judged(row)
