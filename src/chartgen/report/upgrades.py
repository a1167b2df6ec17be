"""What an upgrade of vLLM changes in the chart of a profile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chartgen import api
from chartgen.catalog.engine_diff import Change
from chartgen.kernel.decision import Decision
from chartgen.report.plans import rows

_GONE = "none"


def changed_values(profile: Path, old: str, new: str) -> list[Change]:
    """Each value of the profile's chart that differs between two releases, with the reason of the later one.

    Raises:
        InputError: the profile is at fault.
        Infeasible: nothing fits on one of the releases.
    """
    before, after = (_values(profile, release) for release in (old, new))
    return [
        Change(
            name=name,
            before=_shown(before.get(name)),
            after=_shown(after.get(name)),
            note=(after.get(name) or before[name]).because,
        )
        for name in dict.fromkeys([*before, *after])
        if _shown(before.get(name)) != _shown(after.get(name))
    ]


def _values(profile: Path, release: str) -> dict[str, Decision[Any]]:
    chart = api.build(api.plan(api.load_profile(profile, [f"engine.release={release}"])))
    return dict(rows(chart))


def _shown(decision: Decision[Any] | None) -> str:
    return _GONE if decision is None else json.dumps(decision.value, ensure_ascii=False)
