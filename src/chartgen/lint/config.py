"""The configuration file of the linter, and the baseline of findings that were there before."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

from chartgen.kernel.structure import Record, about, structure
from chartgen.kernel.text_file import read_text
from chartgen.kernel.yaml_source import read, refusal
from chartgen.lint.allow import Allowance
from chartgen.lint.finding import Finding
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
    cloud: Annotated[str | None, about("Whose Kubernetes it is: gke, eks, aks.")] = None
    parameters: Annotated[
        dict[str, dict[str, Value]],
        about(
            "Values for the parameters of policies, by policy and name.",
            examples=[{"host-path-volume": {"paths": ["/dev/shm", "/mnt/models"]}}],  # noqa: S108 - an example
        ),
    ] = {}  # noqa: RUF012 - each record gets its own
    allow: Annotated[tuple[Allowance, ...], about("Findings that are allowed, with the reason.")] = ()


def load_config(path: Path | None) -> Config:
    """The configuration of a file; without one, of the current folder; else nothing.

    Raises:
        InputError: the file cannot be read, or is no configuration.
    """
    if path is None:
        path = Path(NAME)
        if not path.is_file():
            return Config()
    documents = [document for document in read(read_text(path), str(path)) if document.value is not None]
    if not documents:
        return Config()
    if len(documents) > 1:
        raise refusal(str(path), None, f"{len(documents)} documents", "one document")
    return structure(documents[0], Config, str(path))


def load_baseline(path: Path) -> frozenset[str]:
    """The fingerprints of a baseline file.

    Raises:
        InputError: the file cannot be read, or is no baseline.
    """
    text = read_text(path)
    try:
        data = json.loads(text)
        return frozenset(str(entry["fingerprint"]) for entry in data["findings"])
    except (ValueError, KeyError, TypeError) as error:
        raise refusal(str(path), None, f"{type(error).__name__}: {error}", "a file of --write-baseline") from error


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
