"""The library's face: load, plan, build, check. No logic of its own, no printing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from chartgen.chart.compose import compose
from chartgen.chart.overrides import with_overrides
from chartgen.chart.types import Chart
from chartgen.plan.plan import make_plan
from chartgen.plan.types import Plan
from chartgen.profile import LoadedProfile, load_profile
from chartgen.render.check import Complaint, Rejected
from chartgen.render.files import chart_files
from chartgen.render.nodes import node_files
from chartgen.resolve import resolve

__all__ = ["build", "chart_files", "judge", "load_profile", "node_files", "plan", "render"]


def plan(loaded: LoadedProfile) -> Plan:
    """Work a profile out.

    Raises:
        InputError: a name is not known, or the platform cannot run what is asked.
        Infeasible: nothing fits.
    """
    return make_plan(resolve(loaded))


def build(made: Plan) -> Chart:
    """The chart of a plan, with the profile's overrides laid over it.

    Raises:
        InputError: an override names no value of the chart.
    """
    return with_overrides(compose(made), made.resolved.loaded, made.resolved.engine)


def render(path: Path, sets: Sequence[str] = ()) -> tuple[Chart, Mapping[str, str]]:
    """From a profile's file to the chart's files in memory, unchecked.

    Raises:
        InputError: the profile is at fault.
        Infeasible: nothing fits.
    """
    chart = build(plan(load_profile(path, sets)))
    return chart, chart_files(chart)


def judge(chart: Chart, manifests: Mapping[str, str]) -> None:
    """Let the policies judge rendered manifests: the witness, who has never seen the plan.

    Raises:
        Rejected: with everything that a policy calls an error.
    """
    from chartgen.lint.documents import read_manifests  # noqa: PLC0415 - the CEL library is 50 MB
    from chartgen.lint.manifest import Inputs, Manifest  # noqa: PLC0415
    from chartgen.lint.run import Request, lint  # noqa: PLC0415
    from chartgen.lint.select import Selection  # noqa: PLC0415
    from chartgen.lint.subjects import Surroundings  # noqa: PLC0415
    from chartgen.policy.load import load  # noqa: PLC0415

    read = (
        one for source, text in manifests.items() for one in read_manifests(text, source, chart.name, rendered=True)
    )
    said = lint(
        Request(
            inputs=Inputs(manifests=tuple(one for one in read if isinstance(one, Manifest))),
            policies=load(),
            selection=Selection(level="minimum"),
            surroundings=Surroundings(minors=(chart.kubernetes,)),
        )
    )
    complaints = tuple(
        Complaint(by=f"lint[{one.policy.id}]", where=f"{one.manifest.kind}/{one.manifest.name}", says=one.message)
        for one in said.findings
        if one.policy.severity == "error"
    )
    if complaints:
        raise Rejected(chart.name, complaints)
