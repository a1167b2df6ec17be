"""Fitted values into the data file, which is otherwise written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from io import StringIO
from math import exp
from statistics import median
from typing import Any, Final

from ruamel.yaml import YAML

from chartgen.speed.efficiencies import Rates
from speedfit.fit import margin
from speedfit.objective import Miss

DIGITS: Final = 3
"""Digits that a fitted value deserves."""
WIDTH: Final = 120
"""Columns of a line of the data file."""


def rounded(value: float) -> float:
    """A value with the digits it deserves."""
    return float(f"{value:.{DIGITS}g}")


def updated(text: str, found: Rates, left_out: Sequence[Miss]) -> str:
    """The data file with the fitted values, and with the margins and errors on models left out."""
    yaml = YAML()
    yaml.width = WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    data: Any = yaml.load(text)
    for name, value in asdict(found).items():
        data["efficiencies"][name]["value"] = rounded(value)
    logs = {
        "time_to_first_token": [miss.first for miss in left_out if miss.first is not None],
        "inter_token_latency": [miss.gap for miss in left_out if miss.gap is not None],
    }
    for name, each in logs.items():
        factor = margin(each)
        data[name]["fitted"] = rounded(factor)
        data[name]["assumed"] = rounded(factor**2)
        data["held_out"][name] = rounded(median(abs(exp(log) - 1) for log in each))
    out = StringIO()
    yaml.dump(data, out)
    return out.getvalue()
