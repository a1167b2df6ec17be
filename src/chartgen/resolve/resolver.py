"""Looking names up, and keeping what is not known until all is told at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Final, TypeVar

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem, UnknownName
from chartgen.kernel.structure import one_of
from chartgen.kernel.yaml_source import Step
from chartgen.profile import LoadedProfile

T = TypeVar("T")

LISTS: Final = {
    "model": "models",
    "GPU": "gpus",
    "vLLM release": "engines",
    "cloud": "clouds",
    "ingress controller or gateway": "gateways",
}
"""Which catalog lists the names of a kind."""


@dataclass(slots=True)
class Resolver:
    """Looks names up and collects what is not known, so that all of it is reported at once."""

    loaded: LoadedProfile
    problems: list[InputProblem] = field(default_factory=list)

    def look_up(self, path: Sequence[Step], name: str, find: Callable[[str], T], kind: str) -> T | None:
        """What `name` stands for; None, and a problem at `path`, where nothing does."""
        try:
            return find(name)
        except UnknownName as unknown:
            listed = f"see `chartgen catalog {LISTS[kind]}`" if kind in LISTS else one_of(unknown.known)
            expected = f"a known {kind}: {listed}{f'; {unknown.hint}' if unknown.hint else ''}"
            self.report(path, repr(name), expected, unknown.nearest)
        except InputError as error:
            self.problems.extend(error.problems)
        return None

    def report(self, path: Sequence[Step], found: str, expected: str, nearest: str | None = None) -> None:
        """Keep a problem with the entry at `path`."""
        self.problems.append(self.loaded.problem(path, found=found, expected=expected, nearest=nearest))
