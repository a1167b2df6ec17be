"""The configuration file of the linter, and the baseline of findings that were there before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputProblem, Position, UnknownName
from chartgen.kernel.structure import Record, about, structure
from chartgen.kernel.text_file import read_text
from chartgen.kernel.yaml_source import read, refusal
from chartgen.lint.allow import Allowance
from chartgen.lint.finding import Finding
from chartgen.policy.load import Source
from chartgen.policy.types import Level, Value

NAME: Final = ".chartgen-lint.yaml"
"""What the configuration is called where it is found by itself: in the current folder."""


class Config(Record, frozen=True, kw_only=True):
    """Settings that a repository keeps; options of the command line are added to them."""

    level: Annotated[Level | None, about("How much is said.")] = None
    select: Annotated[tuple[str, ...], about("Only these policies or stages.")] = ()
    ignore: Annotated[tuple[str, ...], about("All but these policies or stages.")] = ()
    policies: Annotated[tuple[str, ...], about("Folders of your own policies.")] = ()
    kubernetes: Annotated[tuple[str, ...], about("The Kubernetes minors.", examples=[["1.34", "1.37"]])] = ()
    cloud: Annotated[str | None, about("Whose Kubernetes it is: gke, eks, aks, coreweave.")] = None
    parameters: Annotated[
        dict[str, dict[str, Value]],
        about(
            "Values for the parameters of policies, by policy and name.",
            examples=[{"host-path-volume": {"paths": ["/dev/shm", "/mnt/models"]}}],  # noqa: S108 - an example
        ),
    ] = {}  # noqa: RUF012 - each record gets its own
    allow: Annotated[tuple[Allowance, ...], about("Findings that are allowed, with the reason.")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """A configuration with the places of its keys, so that a wrong name in it can be told where it stands."""

    settings: Config = field(default_factory=Config)
    """What it says."""
    source: Source | None = None
    """Where; None when there is no file, or nothing in it."""

    def unknown(self, steps: Sequence[str | int], error: UnknownName) -> InputProblem:
        """The problem of a name in it that nobody knows."""
        assert self.source is not None  # noqa: S101 - a name was read from it
        problem = self.source.problem(steps, found=error.name, expected=f"a {error.kind}")
        return replace(problem, nearest=error.nearest)


def load_config(path: Path | None) -> ConfigFile:
    """The configuration of a file; without one, of the current folder; else nothing.

    Raises:
        InputError: the file cannot be read, or is no configuration.
    """
    if path is None:
        path = Path(NAME)
        if not path.is_file():
            return ConfigFile()
    documents = [document for document in read(read_text(path), str(path)) if document.value is not None]
    if not documents:
        return ConfigFile()
    if len(documents) > 1:
        raise refusal(str(path), None, f"{len(documents)} documents", "one document")
    settings = structure(documents[0], Config, str(path))
    return ConfigFile(settings=settings, source=Source(path=path, document=documents[0]))


def load_baseline(path: Path) -> frozenset[str]:
    """The fingerprints of a baseline file.

    Raises:
        InputError: the file cannot be read, or is no baseline.
    """
    text = read_text(path)
    expected = "what --write-baseline writes"
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        place = Position(line=error.lineno, column=error.colno)
        raise refusal(str(path), place, f"no JSON ({error.msg})", expected) from error
    except (ValueError, RecursionError) as error:
        raise refusal(str(path), None, "JSON that cannot be read", expected) from error
    entries = data.get("findings") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise refusal(str(path), None, "JSON without a list of findings", expected)
    prints = [entry.get("fingerprint") if isinstance(entry, dict) else None for entry in entries]
    wrong = next((number for number, one in enumerate(prints) if not isinstance(one, str)), None)
    if wrong is not None:
        raise refusal(str(path), None, f"no fingerprint in findings[{wrong}]", expected)
    return frozenset(map(str, prints))


def baseline(findings: Iterable[Finding]) -> str:
    """A baseline that holds these findings: enough of each for a reviewer to see what is accepted."""
    entries = [
        {
            "fingerprint": finding.fingerprint,
            "policy": finding.policy.id,
            "object": f"{finding.manifest}",
            "message": finding.message,
        }
        for finding in findings
    ]
    return json.dumps({"findings": entries}, indent=2, ensure_ascii=False) + "\n"
