"""A row of the matrix through the front door: a profile in, a chart's manifests or a refusal in plain words out."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from breadth.axes import profile
from breadth.pairs import Row
from chartgen import api
from chartgen.kernel.errors import Infeasible, InputError
from chartgen.profile import LoadedProfile, load_profile
from chartgen.validate.helm import engine


@dataclass(slots=True)
class Maker:
    """Plans and renders rows, and keeps count of what the planner refused."""

    folder: Path
    """Where the profile of the row at hand is written."""
    refusals: Counter[str] = field(default_factory=Counter)
    """Refused rows by the key of the profile that the planner names, or by what it is short of."""
    unclear: dict[Row, str] = field(default_factory=dict)
    """Rows that ended in something else than a chart or a refusal that says what is wrong where."""

    def refusal(self, row: Row) -> str | None:
        """What the planner says of a row that it refuses; None when it has a plan."""
        try:
            api.plan(self._loaded(row))
        except InputError as error:
            problem = error.problems[0]
            if problem.position is None or not problem.path or not problem.expected:
                self.unclear[row] = f"not clear: {problem}"
            self.refusals[problem.path.partition("[")[0]] += 1
            return f"{problem.path}: {problem.found}, not {problem.expected}"
        except Infeasible as error:
            self.refusals["memory of the cards"] += 1
            return error.missing
        except Exception as error:  # noqa: BLE001 - a fault of the planner is what is looked for
            self.unclear[row] = repr(error)
            return repr(error)
        return None

    def manifests(self, row: Row) -> str:
        """The manifests of a row's chart, as Helm renders them.

        Raises:
            HelmError: Helm cannot.
        """
        chart = api.build(api.plan(self._loaded(row)))
        rendered = engine().template(
            api.chart_files(chart), release=chart.name, namespace=chart.namespace, kubernetes=chart.kubernetes
        )
        return "\n---\n".join(rendered.values())

    def _loaded(self, row: Row) -> LoadedProfile:
        path = self.folder / f"{os.getpid()}.yaml"
        path.write_text(json.dumps(profile(row), indent=1), encoding="utf-8")  # YAML too, and made in no time
        return load_profile(path)
